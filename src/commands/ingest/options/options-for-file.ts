import type { IngestOptions } from "../ingest-options.ts";
import { relative, resolve, sep } from "node:path";
import type { Config } from "../../../config/load.ts";
import { isGlob, mayBeGlob } from "../../../documents/files/patterns.ts";
import { exists } from "../../../documents/files/real-place.ts";
import { parseColumnMap } from "../../../documents/formats/rows.ts";
import { CliError } from "../../../errors.ts";
import { parseMetadata, shapingFlags } from "./mapping-flags.ts";

/** Keys of `ingest` in a configuration file. */
type FileOptions = Record<string, unknown>;

function refuse(flag: string, hint: string): CliError {
  return new CliError(
    "usage",
    `--print-config cannot print ${flag}: a project file does not hold it`,
    { hints: [hint] },
  );
}

const useInEachRun = "use it in each run";

/** Flags that a project file cannot hold, with a hint. */
const outsideFile = [
  ["include", "--include", "name a glob as a path: knowctl ingest 'docs/**/*.md' --print-config"],
  ["format", "--format", useInEachRun],
  ["dropAccess", "--drop-access", useInEachRun],
  ["allowSync", "--allow-sync", useInEachRun],
  ["allowPruned", "--allow-pruned", useInEachRun],
  ["allowIdChange", "--allow-id-change", useInEachRun],
  [
    "allowSecrets",
    "--allow-secrets",
    "use it in each run, or name the documents in ingest.allowSecrets",
  ],
  ["lint", "--no-lint", "use it in each run, or give the rules another severity in lint.rules"],
  ["state", "--state or --no-state", useInEachRun],
  ["config", "--config", "omit it: what is printed is a project file"],
] as const satisfies [keyof IngestOptions, string, string][];

/** Finds a flag of the command line that a project file cannot hold, with a hint. */
export function flagOutsideFile(
  options: IngestOptions,
): { flag: string; hint: string } | undefined {
  const found = outsideFile.find(([name]) => options[name] !== undefined);
  return found && { flag: found[1], hint: found[2] };
}

/** Throws CliError `usage` for options that plain `knowctl ingest` could not repeat. */
export function checkInFile(paths: readonly string[], options: IngestOptions): void {
  if (paths.includes("-")) throw refuse("stdin", "name files or folders");
  const found = flagOutsideFile(options);
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

interface Place {
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
export function optionsForFile(
  paths: readonly string[],
  options: IngestOptions,
  { cwd, root, configured }: Place,
): FileOptions {
  refuseSecondLink(options, configured);
  const { map, metadata, exclude, tag: tags } = options;
  // The `!` patterns of the configured `include` apply to named paths too.
  const leftOut = configured.include?.filter(isExclusion) ?? [];
  const all: FileOptions = {
    include:
      paths.length > 0
        ? [...paths.map((path) => patternOf(path, cwd, root)), ...leftOut]
        : undefined,
    exclude: exclude && united(configured.exclude, exclude),
    ignore: options.ignore === false ? false : undefined,
    ...Object.fromEntries(
      shapingFlags.map((flag) => [flag === "tag" ? "tags" : flag, options[flag]]),
    ),
    metadata: metadata && { ...configured.metadata, ...parseMetadata(metadata) },
    tags: tags && united(configured.tags, tags),
    map: map && parseColumnMap(map.join(",")),
    ccPairId: options.ccPairId,
    connector: options.connector,
    requireAccess: options.requireAccess,
    concurrency: options.concurrency,
    rate: options.rate,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}
