import { readFileSync, statSync } from "node:fs";
import { CliError, codeOf, fileProblem } from "../../errors.ts";
import { checkPrivate } from "../file/files.ts";
import { expandPath, type Machine } from "../find/folders.ts";
import type { Layer, Merged } from "./layers.ts";
import { secretMembers, type SecretMember } from "./members.ts";
import type { Secret } from "./schema.ts";
import { parseBaseUrl } from "./url.ts";

/** Where a key is set, and how to set another there. */
export interface KeyOrigin {
  /** `KNOWCTL_API_KEY`, `the variable TEAM_KEY (config.json:3)`, `config.json:3`. */
  name: string;
  remedy: string;
}

/** A key, or why it is missing. A missing key is no error if the other key is set. */
type Checked = { key: string } | { missing: string };
type Resolved = Checked & { origin: KeyOrigin };

export interface SecretRequest {
  merged: Merged;
  machine: Machine;
  warn: (message: string) => void;
  /** The command that stores another key where this one would be. */
  login?: string | undefined;
}

type SecretPath =
  | readonly [SecretMember]
  | readonly ["headers", string]
  | readonly ["state", "shared", "url"]
  | readonly ["notify", number, "url"];

// A password manager may first ask for a fingerprint.
const commandMs = 60_000;
const maxBytes = 64 * 1024;

// The scheme of the Authorization header, copied along with the key.
const scheme = /^(?:authorization:\s*)?bearer\s+/i;

/** The key after `Bearer `; undefined if the text has no such prefix. */
export function keyWithoutScheme(key: string): string | undefined {
  return scheme.test(key) ? key.replace(scheme, "") : undefined;
}

const unsafe = (message: string, hint?: string): CliError =>
  new CliError("not-configured", message, { hints: hint === undefined ? [] : [hint] });

/** The key in a text. `what` names where it comes from: the error of the HTTP layer would quote the key. */
function checkKey(
  kind: SecretPath[0],
  text: string | undefined,
  what: string,
  login: string,
): Checked {
  // A passphrase may hold any character: no header carries it.
  const isPassphrase = kind === "clientKeyPassphrase";
  const key = isPassphrase ? text?.replace(/[\r\n]+$/, "") : text?.trim();
  if (!key) return { missing: text === undefined ? `${what} is not set` : `${what} is empty` };
  if (isPassphrase || kind === "state" || kind === "notify") return { key };
  // A header may hold spaces and a scheme.
  if (kind === "headers") {
    if (/^[\t\u0020-\u007e]+$/.test(key)) return { key };
    const problem = "holds characters that a header cannot have (line breaks, …)";
    throw unsafe(`${what} ${problem}`, "write printable ASCII on one line");
  }
  if (keyWithoutScheme(key) !== undefined) {
    const problem = 'begins with "Bearer ", which is not part of the key';
    throw unsafe(`${what} ${problem}`, "store only the key; the tool adds the prefix");
  }
  if (/^[\u0021-\u007e]+$/.test(key)) return { key };
  const problem = "holds characters that a key cannot have (spaces, line breaks, …)";
  throw unsafe(`${what} ${problem}`, `store it again: ${login}`);
}

function readKeyFile(path: string, where: string, { machine, warn }: SecretRequest): string {
  try {
    checkPrivate(path, { uid: machine.uid, holdsKey: true, rootToo: true, warn });
    const stats = statSync(path);
    if (stats.isFile() && stats.size <= maxBytes) return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof CliError) throw error;
    const message = `cannot read the key file ${path}: ${fileProblem(codeOf(error))}`;
    throw unsafe(message, `it is named at ${where}`);
  }
  throw unsafe(`${path} is not a key file: it must be a regular file of at most 64 KiB`);
}

async function runCommand(
  command: readonly string[],
  where: string,
  { folder }: Layer,
  { env }: Machine,
): Promise<string> {
  const [program = "", ...args] = command;
  const { execFile } = await import("node:child_process");
  return new Promise((resolve, reject) => {
    const limits = { timeout: commandMs, maxBuffer: maxBytes, windowsHide: true };
    const child = execFile(program, args, { cwd: folder, env, ...limits }, (error, stdout) => {
      if (!error) return resolve(stdout);
      const why = error.killed
        ? `timeout after ${commandMs / 1000} s`
        : fileProblem(String(error.code ?? "unknown failure"));
      // The message omits output and arguments: both may hold the key.
      const message = `${where}: the command "${program}" that should print the key failed (${why})`;
      reject(unsafe(message, "run it by hand to see its output"));
    });
    child.stdin?.end();
  });
}

function valueAt({ values }: Merged, path: SecretPath): Secret | undefined {
  if (path[0] === "headers") return values.headers?.[path[1]];
  if (path[0] === "state") return values.state?.shared?.url;
  if (path[0] !== "notify") return values[path[0]];
  const entry = values.notify?.[path[1]];
  return entry && "url" in entry ? entry.url : undefined;
}

/** The secret at a path of the profile, and the layer that sets it. */
function secretAt(merged: Merged, path: SecretPath): { secret: Secret; layer: Layer } | undefined {
  const layer = merged.winners.get(path[0]);
  const secret = valueAt(merged, path);
  return layer && secret !== undefined ? { secret, layer } : undefined;
}

/**
 * Resolves the secret at a path of the profile; undefined where none is set. Throws CliError
 * `not-configured` for a broken reference; an unset one is `missing`.
 */
export async function resolveSecret(
  request: SecretRequest,
  path: SecretPath,
): Promise<Resolved | undefined> {
  const found = secretAt(request.merged, path);
  if (!found) return undefined;
  const { secret, layer } = found;
  const { machine, login = "knowctl login" } = request;
  const where = layer.where([...path]);
  const check = (text: string | undefined, what: string, origin: KeyOrigin): Resolved => ({
    ...checkKey(path[0], text, what, login),
    origin,
  });
  if (typeof secret === "string") {
    const isVariable = layer.source === "env";
    const remedy = isVariable
      ? `set ${where} to another, or unset it to use a stored one (\`${login}\`)`
      : `store another with \`${login}\``;
    return check(secret, isVariable ? where : `${path.join(".")} (${where})`, {
      name: where,
      remedy,
    });
  }
  if ("env" in secret) {
    const name = `the variable ${secret.env} (${where})`;
    return check(machine.env[secret.env], name, { name, remedy: `set ${secret.env} to another` });
  }
  if ("file" in secret) {
    const file = expandPath(secret.file, layer.folder, machine.home);
    const name = `the key file ${secret.file} (${where})`;
    const remedy = "write another into this file";
    return check(readKeyFile(file, where, request), name, { name, remedy });
  }
  if (layer.source !== "user") {
    throw unsafe(
      `${where}: a command that prints a key is allowed in the user file only`,
      "move the profile to your user file: knowctl config path shows its path",
    );
  }
  const output = await runCommand(secret.command, where, layer, machine);
  const name = `the program "${secret.command[0]}" (${where})`;
  const remedy = "run this program by hand to see which key it prints";
  return check(output, `the output of "${secret.command[0]}"`, { name, remedy });
}

/** The keys of a profile that could be read. */
export interface ReadableKeys {
  keys: string[];
  /** Secrets that were not read: `apiKey`. */
  unread: string[];
}

/**
 * Reads the keys of a profile, for commands that send none: from variables, files and literals,
 * without running a program. Skips an unset key. Never throws for a key that cannot be read.
 */
export async function readKeys(request: Omit<SecretRequest, "warn">): Promise<ReadableKeys> {
  const found: ReadableKeys = { keys: [], unread: [] };
  for (const member of secretMembers) {
    const secret = request.merged.values[member];
    if (typeof secret === "object" && "command" in secret) {
      found.unread.push(member);
      continue;
    }
    try {
      const resolved = await resolveSecret({ ...request, warn: () => {} }, [member]);
      if (resolved && "key" in resolved) found.keys.push(resolved.key);
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      found.unread.push(member);
    }
  }
  return found;
}

export interface KeyRequest extends SecretRequest {
  profile: string;
  /** Origin of the requests that carry the keys. */
  origin: string;
}

function ownOrigin({ values }: Layer): string | undefined {
  try {
    return values.baseUrl === undefined ? undefined : parseBaseUrl(values.baseUrl).origin;
  } catch {
    return undefined;
  }
}

/**
 * The error for a stored key that may not go to this origin, or undefined.
 *
 * | the key is            | goes to                                              |
 * |-----------------------|------------------------------------------------------|
 * | in the environment, or `{env}` | any base URL in effect                      |
 * | literal in a file     | the origin of the baseUrl beside it, nowhere else    |
 * | `{file}`, `{command}` | the same; without a baseUrl beside it, anywhere      |
 */
function misdirected(request: KeyRequest, path: SecretPath): CliError | undefined {
  const { secret, layer } = secretAt(request.merged, path) ?? {};
  if (!layer?.file || secret === undefined) return undefined;
  if (typeof secret === "object" && "env" in secret) return undefined;
  const home = ownOrigin(layer);
  if (home === request.origin || (home === undefined && typeof secret === "object"))
    return undefined;
  const belongs = home === undefined ? "has no baseUrl beside it" : `belongs to ${home}`;
  return new CliError(
    "not-configured",
    `the stored ${path.join(".")} of profile "${request.profile}" (${layer.where([...path])}) ${belongs}; it is not sent to ${request.origin}`,
    {
      hints: [
        "use the profile of that service: --profile NAME",
        `or store a key for this address, in a profile of its own: knowctl login --profile NAME --base-url ${request.origin}`,
        "a key in KNOWCTL_API_KEY goes to any base URL that you set",
      ],
    },
  );
}

function noKey(request: KeyRequest, missing: readonly string[]): CliError {
  const empty = ["KNOWCTL_ACCESS_TOKEN", "KNOWCTL_API_KEY"].filter(
    (name) => request.machine.env[name]?.trim() === "",
  );
  const reasons = [...missing, ...empty.map((name) => `${name} is empty`)];
  const why = reasons.length > 0 ? reasons.join(", ") : `profile "${request.profile}" has none`;
  const { login = "knowctl login" } = request;
  return new CliError("not-configured", `no key for ${request.origin}: ${why}`, {
    hints: [
      missing.length > 0 ? `set it, or store a key: ${login}` : `store one: ${login}`,
      "or set KNOWCTL_API_KEY (KNOWCTL_ACCESS_TOKEN for a separate chat and admin token)",
    ],
  });
}

type KeyMember = "accessToken" | "apiKey";

/** Both keys of requests, and where each is set. */
export interface Keys extends Record<KeyMember, string> {
  keyOrigins: Record<KeyMember, KeyOrigin>;
}

/**
 * The two keys of a request; a single key serves as both. Throws CliError
 * `not-configured` when there is no key, or when a stored key belongs to another
 * origin and the environment sets no key.
 */
export async function resolveKeys(request: KeyRequest): Promise<Keys> {
  const found: { [Member in KeyMember]?: { key: string; origin: KeyOrigin } } = {};
  const missing: string[] = [];
  let refused: CliError | undefined;
  let fromEnvironment = false;
  for (const member of ["accessToken", "apiKey"] as const) {
    const problem = misdirected(request, [member]);
    refused ??= problem;
    const resolved = problem ? undefined : await resolveSecret(request, [member]);
    if (resolved && "missing" in resolved) missing.push(resolved.missing);
    if (!resolved || "missing" in resolved) continue;
    found[member] = resolved;
    fromEnvironment ||= request.merged.winners.get(member)?.source === "env";
  }
  // The user set an environment key for this address: it may replace a stored key of another origin.
  if (refused && !fromEnvironment) throw refused;
  const accessToken = found.accessToken ?? found.apiKey;
  const apiKey = found.apiKey ?? found.accessToken;
  if (!accessToken || !apiKey) throw noKey(request, missing);
  return {
    accessToken: accessToken.key,
    apiKey: apiKey.key,
    keyOrigins: { accessToken: accessToken.origin, apiKey: apiKey.origin },
  };
}

/** Headers that frame or route the message, carry the key, or belong to the proxy. */
const reserved =
  /^(?:accept-encoding|authorization|connection|content-.*|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/;

/** Why no request can carry these headers, by name: one that is reserved, or given twice. */
export function headerProblems(names: readonly string[]): { name: string; message: string }[] {
  const seen = new Set<string>();
  return names.flatMap((name) => {
    const lower = name.toLowerCase();
    if (reserved.test(lower)) return [{ name, message: `knowctl sets the header ${name} itself` }];
    if (seen.has(lower)) return [{ name, message: `the header ${name} is given twice` }];
    seen.add(lower);
    return [];
  });
}

/**
 * The headers that the profile adds to every request, by lower-case name. A stored value goes
 * where a stored key goes. Throws CliError `not-configured` for a reserved name, one that is
 * given twice, a missing value, or one that belongs to another origin.
 */
export async function resolveHeaders(request: KeyRequest): Promise<Record<string, string>> {
  const names = Object.keys(request.merged.values.headers ?? {});
  const [problem] = headerProblems(names);
  if (problem) {
    const where = request.merged.winners.get("headers")?.where(["headers", problem.name]);
    throw unsafe(
      `${where}: ${problem.message}`,
      "leave it out; keys are accessToken and apiKey, and case makes no difference",
    );
  }
  const headers: Record<string, string> = {};
  for (const name of names) {
    const refused = misdirected(request, ["headers", name]);
    if (refused) throw refused;
    const resolved = await resolveSecret(request, ["headers", name]);
    if (!resolved || "missing" in resolved) {
      throw unsafe(
        `the header ${name}: ${resolved?.missing}`,
        "set its value, or remove it from the profile: knowctl config path",
      );
    }
    headers[name.toLowerCase()] = resolved.key;
  }
  return headers;
}
