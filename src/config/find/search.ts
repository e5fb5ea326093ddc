import { cosmiconfigSync, type PublicExplorerSync } from "cosmiconfig";
import { basename, extname } from "node:path";
import { CliError } from "../../errors.ts";
import { inOwnDirectory } from "./in-own-directory.ts";
import { hasMember, member, type FoundFile } from "./places.ts";

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
  throw new CliError(
    "not-configured",
    `${path}: a configuration is data, program code is never run`,
    {
      hints: ["write it as .cliconfig.json or .cliconfig.yaml"],
    },
  );
}

const loaders = {
  ".json": loadJsonText,
  ".yaml": loadText,
  ".yml": loadText,
  noExt: loadText,
  ".js": refuseCode,
  ".cjs": refuseCode,
  ".mjs": refuseCode,
  ".ts": refuseCode,
};

function createExplorer(searchPlaces: string[]): PublicExplorerSync {
  return inOwnDirectory(() =>
    cosmiconfigSync(member, {
      searchPlaces,
      // Search only the given folder: cosmiconfig's upward search would not stop at the git
      // root, and ends in a folder of the home directory that we do not document.
      searchStrategy: "none",
      ignoreEmptySearchPlaces: false,
      cache: false,
      loaders,
    }),
  );
}

function toFile(result: ReturnType<PublicExplorerSync["search"]>): FoundFile | undefined {
  if (!result) return undefined;
  const { config, filepath } = result as { config?: { text: string }; filepath: string };
  // An empty package.json is no configuration; any other empty file is an empty one.
  if (!config && basename(filepath) === "package.json") return undefined;
  return { path: filepath, text: config?.text ?? "" };
}

/** Creates a function that finds the first of `places` in one folder. */
export function createSearch(places: string[]): (folder: string) => FoundFile | undefined {
  const explorer = createExplorer(places);
  return (folder) => toFile(explorer.search(folder));
}

/** Reads the file of `--config`; undefined for a package.json without our member. */
export function openNamed(path: string): FoundFile | undefined {
  return toFile(createExplorer([]).load(path));
}
