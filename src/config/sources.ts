import { dirname, resolve } from "node:path";
import { statSync } from "node:fs";
import { findProject, findUserFile, readNamed } from "./find/discover.ts";
import { checkPrivate } from "./file/files.ts";
import type { GlobalFlags } from "./global-flags.ts";
import type { Environment, Machine } from "./find/folders.ts";
import { environmentLayer, givenWord, isOn } from "./values/given.ts";
import type { ConfigFile } from "./values/layers.ts";
import { secretsOf } from "./values/members.ts";
import { parseFound } from "./file/parse.ts";
import type { ConfigContent } from "./values/schema.ts";
import type { FoundFile } from "./find/places.ts";
import {
  checkPatterns,
  claimsOf,
  isTrusted,
  notGiven,
  rememberTrust,
  restrictContent,
  withoutTrusted,
} from "./trust.ts";
import { isLoopback, parseBaseUrl } from "./values/url.ts";

/** Inputs for loading the configuration files. */
export interface SourceRequest {
  cwd: string;
  env: Environment;
  flags: GlobalFlags;
  /** False for commands that send no request: they use a project file without trust. */
  sends: boolean;
  /** Ignore project files, for commands about the user file. */
  userOnly?: boolean | undefined;
  /** Where the upward search starts instead of `cwd` (the path argument of ingest). */
  root?: string | undefined;
  /** Asks on a terminal whether a project file may be trusted. */
  askTrust?: ((question: string) => Promise<boolean>) | undefined;
  /** Called while loading, and again while connection() runs. */
  warn: (message: string) => void;
}

async function toFile(
  found: FoundFile,
  layer: ConfigFile["layer"],
  named: boolean,
): Promise<ConfigFile> {
  const parsed = await parseFound(found);
  return { ...parsed, layer, named, trusted: named || layer === "user" };
}

// The public key of a sandbox on this machine is no secret.
function holdsKey(content: ConfigContent): boolean {
  return Object.values(content.profiles ?? {}).some((profile) => {
    if (secretsOf(profile).every(({ secret }) => typeof secret !== "string")) return false;
    try {
      return !isLoopback(parseBaseUrl(profile.baseUrl ?? "").hostname);
    } catch {
      return true;
    }
  });
}

/** Loads the user file after checking that no other user could have written it. */
export async function loadUser(
  machine: Machine,
  warn: SourceRequest["warn"],
): Promise<ConfigFile | undefined> {
  const found = await findUserFile(machine);
  if (!found) return undefined;
  // Check before parsing: a file that others could have written is never parsed.
  checkPrivate(found.path, { uid: machine.uid, holdsKey: false, warn });
  const file = await toFile(found, "user", false);
  checkPrivate(found.path, { uid: machine.uid, holdsKey: holdsKey(file.content), warn });
  return file;
}

function startFolder(request: SourceRequest): string {
  const start = resolve(request.cwd, request.root ?? ".");
  const stats = statSync(start, { throwIfNoEntry: false });
  // A path argument may be a file or missing; the command reports that better.
  if (stats?.isDirectory()) return start;
  return stats ? dirname(start) : request.cwd;
}

export interface Project {
  /** Folder of the discovered file, even with `--config`. */
  folder?: string;
  file?: ConfigFile;
}

/** The file of `--config`, else the discovered project file with its trust. */
export async function loadProject(request: SourceRequest, machine: Machine): Promise<Project> {
  if (request.userOnly) return {};
  const trustAll = isOn(request.env, "KNOWCTL_TRUST_PROJECT");
  const found = await findProject(startFolder(request), { machine, trustAll });
  const folder = found.folder ?? (found.file && dirname(found.file.path));
  const named = givenWord(request.flags, request.env, "config");
  if (named) {
    const file = await toFile(await readNamed(named.word, request.cwd), "project", true);
    if (holdsKey(file.content)) {
      checkPrivate(file.path, {
        uid: machine.uid,
        holdsKey: true,
        rootToo: true,
        isNamed: true,
        warn: request.warn,
      });
    }
    return { ...(folder && { folder }), file };
  }
  if (found.refused) {
    if (request.sends) throw found.refused;
    request.warn(found.refused.message);
  }
  if (!found.file) return folder ? { folder } : {};
  const file = await toFile(found.file, "project", false);
  file.trusted = trustAll || (await isTrusted(file, machine));
  return { ...(folder && { folder }), file };
}

/** The values of flags and variables. */
export function givenValues({ flags, env, cwd }: SourceRequest): Record<string, unknown> {
  const { values } = environmentLayer(env, cwd);
  const profile = givenWord(flags, env, "profile")?.word;
  return { ...values, ...flags, ...(profile !== undefined && { profile }) };
}

function trustQuestion(file: ConfigFile): string {
  const claims = claimsOf(file.content).map(({ key, text }) => `  ${key}: ${text}`);
  return [`${file.path} is not trusted yet. It sets:`, ...claims, "Trust it?"].join("\n");
}

function ignored(file: ConfigFile, keys: readonly string[]): string {
  return `${file.path} is not trusted, so these settings are ignored: ${keys.join(", ")}; trust it once: knowctl config trust`;
}

/** Settings of the project file that apply to a command that sends nothing. */
export function localContent(file: ConfigFile, request: SourceRequest): ConfigContent {
  if (file.trusted) return file.content;
  const { content, dropped } = withoutTrusted(file.content);
  const keys = notGiven(dropped, givenValues(request));
  if (keys.length > 0) request.warn(ignored(file, keys));
  return content;
}

/** Settings of the project file that apply to requests. Asks for trust, warns or throws if needed. */
export async function effectiveContent(
  file: ConfigFile,
  request: SourceRequest,
  machine: Machine,
): Promise<ConfigContent> {
  const { content, dropped } = restrictContent(file.content);
  if (file.trusted || !request.sends) return file.trusted ? file.content : content;
  const given = givenValues(request);
  const stops = notGiven(claimsOf(file.content), given).length > 0;
  // What a flag or variable gives anyway needs no question.
  const asks = stops || claimsOf(file.content).length === 0;
  if (
    asks &&
    dropped.length > 0 &&
    request.askTrust &&
    (await request.askTrust(trustQuestion(file)))
  ) {
    await rememberTrust(file, machine);
    file.trusted = true;
    return file.content;
  }
  checkPatterns(file);
  // If claims count, connection() throws and names them.
  const keys = notGiven(dropped, given);
  if (!stops && keys.length > 0) request.warn(ignored(file, keys));
  return content;
}
