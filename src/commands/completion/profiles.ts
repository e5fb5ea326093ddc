import { readFileSync, realpathSync, statSync } from "node:fs";
import { extname, join, resolve } from "node:path";
import { refusal } from "../../config/find/discover.ts";
import { createMachine, userFolder, type Machine } from "../../config/find/folders.ts";
import { isOn } from "../../config/values/given.ts";
import {
  hasMember,
  prefixOf,
  projectPlaces,
  userPlaces,
  upwardFrom,
} from "../../config/find/places.ts";
import { parseBaseUrl } from "../../config/values/url.ts";

/** The environment of a completion. */
export interface Place {
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  uid: number;
  /** Milliseconds since the epoch. */
  now: number;
}

/** Global flags on the line that select the service. */
export interface Chosen {
  profile?: string;
  config?: string;
  baseUrl?: string;
}

interface Content {
  defaultProfile?: string;
  /** Base URL of each profile; undefined without one. */
  profiles: Map<string, string | undefined>;
}

const emptyContent: Content = { profiles: new Map() };
const maxFileBytes = 1024 * 1024;
const profileName = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/;

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

async function parse(path: string, text: string): Promise<unknown> {
  if (extname(path) === ".json" || /^\s*\{/.test(text)) return JSON.parse(text);
  return (await import("../../config/file/yaml.ts")).parseYaml(text).value;
}

function readContent(value: unknown): Content {
  if (!isObject(value)) return emptyContent;
  const all = isObject(value["profiles"]) ? Object.entries(value["profiles"]) : [];
  const profiles = all.flatMap(([name, profile]): [string, string | undefined][] => {
    if (!profileName.test(name)) return [];
    const baseUrl = isObject(profile) ? profile["baseUrl"] : undefined;
    return [[name, typeof baseUrl === "string" ? baseUrl : undefined]];
  });
  const { defaultProfile } = value;
  return {
    ...(typeof defaultProfile === "string" && { defaultProfile }),
    profiles: new Map(profiles),
  };
}

/** Reads only the names and base URLs of profiles; empty if the file cannot be read. */
async function readFile(path: string): Promise<Content> {
  try {
    const stats = statSync(path);
    if (!stats.isFile() || stats.size > maxFileBytes) return emptyContent;
    const text = readFileSync(path, "utf8").replace(/^\uFEFF/, "");
    const value = await parse(path, text);
    const [member] = prefixOf(path);
    return readContent(member === undefined ? value : (value as Record<string, unknown>)[member]);
  } catch {
    // The next command reports the error.
    return emptyContent;
  }
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

// Skips files that the tool itself refuses. Needs no trust: only names of the file are shown, and
// nothing is sent.
function projectFile(place: Place): string | undefined {
  const machine = createMachine(place);
  const rules = { machine, trustAll: isOn(place.env, "KNOWCTL_TRUST_PROJECT") };
  const { folders, gitRoot } = upwardFrom(realpathSync(place.cwd), rules);
  for (const folder of folders) {
    const path = projectPlaces
      .map((name) => join(folder, name))
      .find((each) => {
        if (!isThere(each)) return false;
        return prefixOf(each).length === 0 || hasMember(readFileSync(each, "utf8"));
      });
    if (path === undefined) continue;
    return refusal(path, rules, gitRoot ?? folder) ? undefined : path;
  }
  return undefined;
}

async function readProject(place: Place, chosen: Chosen): Promise<Content> {
  const named = chosen.config ?? (place.env["KNOWCTL_CONFIG"] || undefined);
  if (named !== undefined) return await readFile(resolve(place.cwd, named));
  try {
    const path = projectFile(place);
    return path === undefined ? emptyContent : await readFile(path);
  } catch {
    return emptyContent;
  }
}

async function readUser(machine: Machine): Promise<Content> {
  const folder = userFolder(machine);
  const path = userPlaces.map((name) => join(folder, name)).find(isThere);
  return path === undefined ? emptyContent : await readFile(path);
}

function normalise(baseUrl: string | undefined): string | undefined {
  try {
    return baseUrl ? parseBaseUrl(baseUrl).baseUrl : undefined;
  } catch {
    return undefined;
  }
}

/** Profiles of the configuration files, and the profile in effect with its base URL. */
export interface Profiles {
  names: string[];
  profile: string;
  /** Undefined if unknown. */
  baseUrl: string | undefined;
}

/**
 * Reads the profiles and selects one as loadConfig() does. Needs no trust, resolves no
 * secret, and reports no problem.
 */
export async function readProfiles(place: Place, chosen: Chosen): Promise<Profiles> {
  const machine = createMachine({ env: place.env, uid: place.uid });
  const [project, user] = [await readProject(place, chosen), await readUser(machine)];
  const names = [...new Set([...project.profiles.keys(), ...user.profiles.keys()])];
  const profile =
    chosen.profile ??
    (place.env["KNOWCTL_PROFILE"] || undefined) ??
    project.defaultProfile ??
    user.defaultProfile ??
    (names.length === 1 ? names[0] : undefined) ??
    "default";
  const given = chosen.baseUrl ?? (place.env["KNOWCTL_BASE_URL"]?.trim() || undefined);
  const baseUrl = given ?? project.profiles.get(profile) ?? user.profiles.get(profile);
  return { names, profile, baseUrl: normalise(baseUrl) };
}
