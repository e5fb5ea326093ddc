import {
  accessSync,
  constants,
  existsSync,
  readFileSync,
  realpathSync,
  statSync,
  type Stats,
} from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import { CliError, codeOf } from "../errors.ts";
import { isInside, userFolder, type Machine } from "./folders.ts";
import { hasMember, projectPlaces, userPlaces, type FoundFile } from "./places.ts";

/** The folder with `.git` (a folder, or a file in worktrees) at or above `start`, or undefined. */
function findGitRoot(start: string): string | undefined {
  for (let folder = start; ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git"))) return folder;
    if (dirname(folder) === folder) return undefined;
  }
}

/** From `start` upward to the git root; without one, `start` alone (faults.md S11). */
export function searchedFolders(start: string): string[] {
  const last = findGitRoot(start) ?? start;
  const folders = [start];
  for (let folder = start; folder !== last; folder = dirname(folder)) folders.push(dirname(folder));
  return folders;
}

function statOf(path: string, read: (path: string) => Stats): Stats | undefined {
  try {
    return read(path);
  } catch {
    return undefined;
  }
}

export interface ProjectRules {
  uid: number;
  /** KNOWCTL_TRUST_PROJECT: also take a file of another owner. */
  trustAll: boolean;
}

const trustAllHint =
  "to use it anyway, set KNOWCTL_TRUST_PROJECT=1, or name a file of yours with --config";

/** Why a file may not be used, before anything of it is read; who asks decides what happens then. */
export function refusal(
  path: string,
  rules: ProjectRules,
  lastFolder: string,
): CliError | undefined {
  if (rules.trustAll || rules.uid < 0) return undefined;
  const stats = statOf(path, statSync);
  if (!stats?.isFile()) return undefined;
  if (stats.uid !== rules.uid) {
    return new CliError(
      "not-configured",
      `${path} belongs to another user (uid ${stats.uid}): not read`,
      {
        hints: [trustAllHint],
      },
    );
  }
  if (!isInside(realpathSync(lastFolder), realpathSync(path))) {
    return new CliError(
      "not-configured",
      `${path} is a link to a file outside the project: not read`,
      {
        hints: [trustAllHint],
      },
    );
  }
  return undefined;
}

function checkReadable(path: string): void {
  if (!statOf(path, statSync)?.isFile()) return;
  try {
    accessSync(path, constants.R_OK);
  } catch (error) {
    throw new CliError(
      "not-configured",
      `${path} cannot be read: ${codeOf(error) ?? "unknown failure"}`,
      {
        hints: [`make it readable: chmod u+r ${path}`],
      },
    );
  }
}

export interface ProjectSearch {
  /** Where a project file is, read or refused. */
  folder?: string;
  file?: FoundFile;
  /** Why a file that is there was not read. */
  refused?: CliError;
}

// Most folders have nothing for us: only one that may is searched, and pays for the library.
function mayHoldProject(folder: string): boolean {
  const present = projectPlaces.filter((place) => existsSync(join(folder, place)));
  if (present.length === 0) return false;
  if (present.some((place) => place !== "package.json")) return true;
  try {
    return hasMember(readFileSync(join(folder, "package.json"), "utf8"));
  } catch {
    // The search says what is wrong with it.
    return true;
  }
}

/** Finds the project file at or above `start` (an absolute folder), no further than its git root. */
export async function findProject(start: string, rules: ProjectRules): Promise<ProjectSearch> {
  const real = realpathSync(start);
  const folders = searchedFolders(real);
  const lastFolder = folders.at(-1) ?? real;
  for (const folder of folders) {
    if (!mayHoldProject(folder)) continue;
    for (const place of projectPlaces) {
      const path = join(folder, place);
      // A package.json is everywhere and mostly says nothing about us: it is judged after the search.
      if (place === "package.json" || !existsSync(path)) continue;
      const refused = refusal(path, rules, lastFolder);
      if (refused) return { folder, refused };
      checkReadable(path);
    }
    const file = (await import("./search.ts")).createSearch(projectPlaces)(folder);
    if (!file) continue;
    const refused = refusal(file.path, rules, lastFolder);
    return refused ? { folder, refused } : { folder, file };
  }
  return {};
}

/** Reads the user file, or undefined when there is none. */
export async function findUserFile(machine: Machine): Promise<FoundFile | undefined> {
  const folder = userFolder(machine);
  const paths = userPlaces.map((place) => join(folder, place)).filter((path) => existsSync(path));
  if (paths.length === 0) return undefined;
  paths.forEach(checkReadable);
  return (await import("./search.ts")).createSearch(userPlaces)(folder);
}

const readable = new Set([".json", ".yaml", ".yml", ""]);

/** Reads the file of `--config`. Throws CliError `not-configured` when that is impossible. */
export async function readNamed(path: string, cwd: string): Promise<FoundFile> {
  const full = resolve(cwd, path);
  const fail = (why: string): CliError =>
    new CliError("not-configured", `cannot read the configuration ${full}: ${why}`, {
      hints: ["check --config (KNOWCTL_CONFIG)"],
    });
  const code = [".js", ".cjs", ".mjs", ".ts"].includes(extname(full));
  if (!code && !readable.has(extname(basename(full)))) throw fail("expected .json, .yaml or .yml");
  try {
    const found = (await import("./search.ts")).openNamed(full);
    if (!found) throw fail('it has no "cliconfig" member');
    return found;
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw fail(codeOf(error) ?? "unknown failure");
  }
}
