import { accessSync, constants, existsSync, realpathSync, statSync, type Stats } from "node:fs";
import { basename, extname, join, resolve } from "node:path";

// oxlint-disable-next-line no-restricted-imports -- cosmiconfig reads the process's directory, which no argument replaces
import { chdir, cwd } from "node:process";
import type { PublicExplorerSync } from "cosmiconfig";
import { CliError, codeOf, fileProblem } from "../../errors.ts";
import { refuseSpecial } from "../file/files.ts";
import { isInside, userFolder, type Machine } from "./folders.ts";
import {
  hasMember,
  holdsConfiguration,
  member,
  projectPlaces,
  upwardFrom,
  userPlaces,
  type FoundFile,
  type UpwardRules,
} from "./places.ts";

function unusable(message: string, ...hints: string[]): CliError {
  return new CliError("not-configured", message, { hints });
}

// Wraps the text so that cosmiconfig never follows a `$import` in it. For a file named
// package.*, cosmiconfig reads the `cliconfig` member of the loader's result.
function loadText(path: string, text: string): unknown {
  const isPackage = basename(path, extname(path)) === "package";
  return isPackage ? { [member]: { text } } : { text };
}

function loadJsonText(path: string, text: string): unknown {
  return basename(path) === "package.json" && !hasMember(text) ? {} : loadText(path, text);
}

function refuseCode(path: string): never {
  throw unusable(
    `${path}: a configuration is data, program code is never run`,
    "write it as .cliconfig.json or .cliconfig.yaml",
  );
}

const codeExtensions = [".js", ".cjs", ".mjs", ".ts"];
const loaders = {
  ".json": loadJsonText,
  ".yaml": loadText,
  ".yml": loadText,
  noExt: loadText,
  ...Object.fromEntries(codeExtensions.map((extension) => [extension, refuseCode])),
};

/**
 * Creates what finds and reads files with these names. On construction, cosmiconfig searches the
 * working directory for its own settings and *executes* `./.config/config.js` (also .ts, .cjs, .mjs)
 * there. No option prevents this: the working directory is the folder of this program meanwhile, which
 * holds no such file. Only this function changes it, and only during this synchronous call. Throws if
 * it cannot. The library is loaded on demand: most commands find no file.
 */
async function createExplorer(searchPlaces: string[]): Promise<PublicExplorerSync> {
  const { cosmiconfigSync } = await import("cosmiconfig");
  const before = cwd();
  chdir(import.meta.dirname);
  try {
    return cosmiconfigSync(member, {
      searchPlaces,
      // Search only the given folder: cosmiconfig's upward search would not stop at the git
      // root, and ends in a folder of the home directory that we do not document.
      searchStrategy: "none",
      ignoreEmptySearchPlaces: false,
      cache: false,
      loaders,
    });
  } finally {
    chdir(before);
  }
}

function toFile(result: ReturnType<PublicExplorerSync["search"]>): FoundFile | undefined {
  if (!result) return undefined;
  const { config, filepath } = result as { config?: { text: string }; filepath: string };
  // An empty package.json is no configuration; any other empty file is an empty one.
  if (!config && basename(filepath) === "package.json") return undefined;
  return { path: filepath, text: config?.text ?? "" };
}

/** The first of `places` in one folder. */
async function findIn(folder: string, places: string[]): Promise<FoundFile | undefined> {
  return toFile((await createExplorer(places)).search(folder));
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** The error for a file that may not be used, found before reading it. The caller may throw it. */
function refusal(path: string, rules: UpwardRules, boundary: string): CliError | undefined {
  const { machine, trustAll } = rules;
  if (trustAll || machine.uid < 0) return undefined;
  const stats = statOf(path);
  if (!stats?.isFile()) return undefined;
  const isForeign = stats.uid !== machine.uid;
  if (!isForeign && isInside(realpathSync(boundary), realpathSync(path))) return undefined;
  const why = isForeign
    ? `belongs to another user (uid ${stats.uid})`
    : "is a link to a file outside the project";
  return unusable(
    `${path} ${why}: not read`,
    "to use it anyway, set KNOWCTL_TRUST_PROJECT=1, or name your own file with --config",
  );
}

function checkReadable(path: string): void {
  refuseSpecial(path);
  if (!statOf(path)?.isFile()) return;
  try {
    accessSync(path, constants.R_OK);
  } catch (error) {
    const message = `${path} cannot be read: ${fileProblem(codeOf(error))}`;
    throw unusable(message, `make it readable: chmod u+r ${path}`);
  }
}

export interface ProjectSearch {
  /** Folder of the project file, read or refused. */
  folder?: string;
  file?: FoundFile;
  /** Why an existing file was not read. */
  refused?: CliError;
}

/** Finds the project file in `start` (an absolute folder) or above, within upwardFrom(). */
export async function findProject(start: string, rules: UpwardRules): Promise<ProjectSearch> {
  const real = realpathSync(start);
  const { folders, gitRoot } = upwardFrom(real, rules);
  for (const folder of folders) {
    if (!holdsConfiguration(folder)) continue;
    const boundary = gitRoot ?? folder;
    for (const place of projectPlaces) {
      const path = join(folder, place);
      refuseSpecial(path);
      // Most package.json files hold no configuration: check them after the search.
      if (place === "package.json" || !existsSync(path)) continue;
      const refused = refusal(path, rules, boundary);
      if (refused) return { folder, refused };
      checkReadable(path);
    }
    const file = await findIn(folder, projectPlaces);
    if (!file) continue;
    const refused = refusal(file.path, rules, boundary);
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
  return await findIn(folder, userPlaces);
}

/** Reads the file of `--config`. Throws CliError `not-configured` when that is impossible. */
export async function readNamed(path: string, folder: string): Promise<FoundFile> {
  const full = resolve(folder, path);
  const fail = (why: string): CliError =>
    unusable(
      `cannot read the configuration ${full}: ${why}`,
      "check the path, or --config (KNOWCTL_CONFIG)",
    );
  if (![".json", ".yaml", ".yml", "", ...codeExtensions].includes(extname(full)))
    throw fail("expected .json, .yaml or .yml");
  refuseSpecial(full);
  try {
    const found = toFile((await createExplorer([])).load(full));
    if (found) return found;
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw fail(fileProblem(codeOf(error)));
  }
  throw fail('it has no "cliconfig" member');
}
