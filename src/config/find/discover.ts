import { accessSync, constants, existsSync, realpathSync, statSync, type Stats } from "node:fs";
import { basename, extname, join, resolve } from "node:path";
import { CliError, codeOf, fileProblem } from "../../errors.ts";
import { refuseSpecial } from "../file/files.ts";
import { isInside, userFolder, type Machine } from "./folders.ts";
import { projectPlaces, userPlaces, type FoundFile } from "./places.ts";
import { holdsConfiguration } from "./project-mark.ts";
import { upwardFrom, type UpwardRules } from "./upward.ts";

function statOf(path: string, read: (path: string) => Stats): Stats | undefined {
  try {
    return read(path);
  } catch {
    return undefined;
  }
}

const trustAllHint =
  "to use it anyway, set KNOWCTL_TRUST_PROJECT=1, or name your own file with --config";

/** The error for a file that may not be used, found before reading it. The caller may throw it. */
export function refusal(path: string, rules: UpwardRules, boundary: string): CliError | undefined {
  const { machine, trustAll } = rules;
  if (trustAll || machine.uid < 0) return undefined;
  const stats = statOf(path, statSync);
  if (!stats?.isFile()) return undefined;
  if (stats.uid !== machine.uid) {
    return new CliError(
      "not-configured",
      `${path} belongs to another user (uid ${stats.uid}): not read`,
      {
        hints: [trustAllHint],
      },
    );
  }
  if (!isInside(realpathSync(boundary), realpathSync(path))) {
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
  refuseSpecial(path);
  if (!statOf(path, statSync)?.isFile()) return;
  try {
    accessSync(path, constants.R_OK);
  } catch (error) {
    throw new CliError("not-configured", `${path} cannot be read: ${fileProblem(codeOf(error))}`, {
      hints: [`make it readable: chmod u+r ${path}`],
    });
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
    // Most folders hold no configuration; only the others load the search library.
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
    const file = (await import("./search.ts")).createSearch(projectPlaces)(folder);
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
  return (await import("./search.ts")).createSearch(userPlaces)(folder);
}

const dataExtensions = new Set([".json", ".yaml", ".yml", ""]);

/** Reads the file of `--config`. Throws CliError `not-configured` when that is impossible. */
export async function readNamed(path: string, cwd: string): Promise<FoundFile> {
  const full = resolve(cwd, path);
  const fail = (why: string): CliError =>
    new CliError("not-configured", `cannot read the configuration ${full}: ${why}`, {
      hints: ["check the path, or --config (KNOWCTL_CONFIG)"],
    });
  const isCode = [".js", ".cjs", ".mjs", ".ts"].includes(extname(full));
  if (!isCode && !dataExtensions.has(extname(basename(full))))
    throw fail("expected .json, .yaml or .yml");
  refuseSpecial(full);
  try {
    const found = (await import("./search.ts")).openNamed(full);
    if (!found) throw fail('it has no "cliconfig" member');
    return found;
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw fail(fileProblem(codeOf(error)));
  }
}
