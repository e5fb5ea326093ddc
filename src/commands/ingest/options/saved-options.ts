import type { IngestOptions } from "../ingest-options.ts";
import { relative, resolve, sep } from "node:path";
import type { Config } from "../../../config/load.ts";
import { isGlob, mayBeGlob } from "../../../documents/find/patterns.ts";
import { exists } from "../../../documents/find/place/real-place.ts";
import { parseColumnMap } from "../../../documents/read/rows/row-keys.ts";
import { CliError } from "../../../errors.ts";
import { parseMetadata, shapingFlags } from "./mapping-flags.ts";

/** Keys of `ingest` in a configuration file. */
export type SavedOptions = Record<string, unknown>;

function refuse(flag: string, hint: string): CliError {
  return new CliError("usage", `--save-options cannot save ${flag}`, { hints: [hint] });
}

const useInEachRun = "use it in each run";

/** Flags that a project file cannot store, with a hint. */
const unsavable = [
  ["include", "--include", "name a glob as a path: knowctl ingest 'docs/**/*.md' --save-options"],
  ["format", "--format", useInEachRun],
  ["dropAccess", "--drop-access", useInEachRun],
  ["allowSync", "--allow-sync", useInEachRun],
  [
    "allowSecrets",
    "--allow-secrets",
    "use it in each run, or name the documents in ingest.allowSecrets",
  ],
  ["lint", "--no-lint", "use it in each run, or give the rules another severity in lint.rules"],
  ["state", "--state or --no-state", useInEachRun],
  ["config", "--config", "omit it: the options are saved in the project file in the root"],
] as const satisfies [keyof IngestOptions, string, string][];

/** Finds a flag of the command line that a project file cannot store, with a hint. */
export function unsavableFlag(options: IngestOptions): { flag: string; hint: string } | undefined {
  const found = unsavable.find(
    ([name]) => options[name] !== undefined && options.flagSources?.[name] !== "env",
  );
  return found && { flag: found[1], hint: found[2] };
}

/** Throws CliError `usage` for options that plain `knowctl ingest` could not repeat. */
export function checkSavable(paths: readonly string[], options: IngestOptions): void {
  if (!options.saveOptions) {
    if (!options.yes || options.flagSources?.["yes"] === "env") return;
    throw new CliError("usage", "--yes needs --save-options", {
      hints: ["add --save-options, or omit --yes: the command asks nothing"],
    });
  }
  if (options.dryRun) {
    throw new CliError(
      "usage",
      "--save-options needs an upload and cannot be combined with --dry-run",
      {
        hints: ["omit one of them"],
      },
    );
  }
  if (paths.includes("-")) throw refuse("stdin", "name files or folders");
  const found = unsavableFlag(options);
  if (found) throw refuse(found.flag, found.hint);
}

/** Converts a path or glob of the command line to a pattern relative to the root. */
function patternOf(path: string, cwd: string, root: string): string {
  const absolute = resolve(cwd, path);
  const below = relative(root, absolute).split(sep).join("/");
  if (exists(absolute) && isGlob(below) && mayBeGlob(below)) {
    throw refuse(path, "its name would be read as a glob; name its folder");
  }
  if (below === "") return "**";
  // A bare name would count at any depth.
  return below.includes("/") ? below : `./${below}`;
}

/** The values of the configuration and those that a flag adds to them. */
function united(configured: readonly string[] = [], added: readonly string[]): string[] {
  return [...new Set([...configured, ...added])];
}

const isExclusion = (pattern: string): boolean =>
  pattern.startsWith("!") && !pattern.startsWith("!(");

interface SavedPlace {
  cwd: string;
  root: string;
  /** What the configuration says: of some options the flags add to it. */
  configured: Config["ingest"];
}

/** A project file makes links in one way: a template or a style. */
function refuseSecondLink(options: IngestOptions, configured: Config["ingest"]): void {
  const [flag, key] =
    options.linkStyle !== undefined && configured.link !== undefined
      ? ["--link-style", "ingest.link"]
      : ["--link", options.link !== undefined && configured.linkStyle && "ingest.linkStyle"];
  if (key) throw refuse(flag, `remove ${key} from the project file`);
}

/** Converts the options of a command line to keys of a configuration file. */
export function savedOptions(
  paths: readonly string[],
  options: IngestOptions,
  { cwd, root, configured }: SavedPlace,
): SavedOptions {
  const optionOf = <Key extends keyof IngestOptions>(name: Key): IngestOptions[Key] | undefined =>
    options.flagSources?.[name] === "env" ? undefined : options[name];
  refuseSecondLink(options, configured);
  const map = optionOf("map");
  const metadata = optionOf("metadata");
  const exclude = optionOf("exclude");
  const tags = optionOf("tag");
  // The `!` patterns of the configured `include` apply to named paths too.
  const leftOut = configured.include?.filter(isExclusion) ?? [];
  const all: SavedOptions = {
    include:
      paths.length > 0
        ? [...paths.map((path) => patternOf(path, cwd, root)), ...leftOut]
        : undefined,
    exclude: exclude && united(configured.exclude, exclude),
    ignore: optionOf("ignore") === false ? false : undefined,
    ...Object.fromEntries(
      shapingFlags.map((flag) => [flag === "tag" ? "tags" : flag, optionOf(flag)]),
    ),
    metadata: metadata && { ...configured.metadata, ...parseMetadata(metadata) },
    tags: tags && united(configured.tags, tags),
    map: map && parseColumnMap(map.join(",")),
    ccPairId: optionOf("ccPairId"),
    connector: optionOf("connector"),
    requireAccess: optionOf("requireAccess"),
    concurrency: optionOf("concurrency"),
    rate: optionOf("rate"),
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}
