import type { IngestOptions } from "../ingest-options.ts";
import { relative, resolve, sep } from "node:path";
import type { Config } from "../../../config/load.ts";
import { isGlob, mayBeGlob } from "../../../documents/find/patterns.ts";
import { exists } from "../../../documents/find/real-place.ts";
import { parseColumnMap } from "../../../documents/read/row-keys.ts";
import { CliError } from "../../../errors.ts";
import { parseMetadata } from "./settings.ts";

/** Members of `ingest` in a configuration file. */
export type SavedOptions = Record<string, unknown>;

function refuse(flag: string, hint: string): CliError {
  return new CliError("usage", `--save-options cannot keep ${flag}`, { hints: [hint] });
}

const eachTime = "give it each time";

/** Flags that a project file cannot hold, with what to do instead. */
const unsavable = [
  ["include", "--include", "name a glob as path: knowctl ingest 'docs/**/*.md' --save-options"],
  ["format", "--format", eachTime],
  ["dropAccess", "--drop-access", eachTime],
  ["allowSync", "--allow-sync", eachTime],
  [
    "allowSecrets",
    "--allow-secrets",
    "give it each time, or name the documents in ingest.allowSecrets",
  ],
  ["state", "--state or --no-state", eachTime],
  ["config", "--config", "the options go into the project file in the root"],
] as const satisfies [keyof IngestOptions, string, string][];

/** A flag of the command line that a project file cannot hold, with what to do instead. */
export function unsavableFlag(options: IngestOptions): { flag: string; hint: string } | undefined {
  const found = unsavable.find(
    ([name]) => options[name] !== undefined && options.flagSources?.[name] !== "env",
  );
  return found && { flag: found[1], hint: found[2] };
}

/** Throws CliError `usage` for what plain `knowctl ingest` could not repeat. */
export function checkSavable(paths: readonly string[], options: IngestOptions): void {
  if (!options.saveOptions) {
    if (!options.yes || options.flagSources?.["yes"] === "env") return;
    throw new CliError("usage", "--yes goes with --save-options", {
      hints: ["add --save-options, or leave --yes out: nothing is asked"],
    });
  }
  if (options.dryRun) {
    throw new CliError("usage", "--save-options goes with an upload, not --dry-run", {
      hints: ["leave one of them out"],
    });
  }
  if (paths.includes("-")) throw refuse("stdin", "name files or folders");
  const found = unsavableFlag(options);
  if (found) throw refuse(found.flag, found.hint);
}

/** A path or glob of the command line as a pattern below the root. */
function patternOf(path: string, cwd: string, root: string): string {
  const absolute = resolve(cwd, path);
  const below = relative(root, absolute).split(sep).join("/");
  if (exists(absolute) && isGlob(below) && mayBeGlob(below)) {
    throw refuse(path, "its name would be taken for a glob; name its folder");
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

/** The options of a command line as they are written into a configuration file. */
export function savedOptions(
  paths: readonly string[],
  options: IngestOptions,
  { cwd, root, configured }: SavedPlace,
): SavedOptions {
  const given = <Key extends keyof IngestOptions>(name: Key): IngestOptions[Key] | undefined =>
    options.flagSources?.[name] === "env" ? undefined : options[name];
  const map = given("map");
  const metadata = given("metadata");
  const exclude = given("exclude");
  const tags = given("tag");
  // Patterns that the configured `include` leaves out are left out of named paths too.
  const leftOut = configured.include?.filter(isExclusion) ?? [];
  const all: SavedOptions = {
    include:
      paths.length > 0
        ? [...paths.map((path) => patternOf(path, cwd, root)), ...leftOut]
        : undefined,
    exclude: exclude && united(configured.exclude, exclude),
    ignore: given("ignore") === false ? false : undefined,
    idPrefix: given("idPrefix"),
    source: given("source"),
    sections: given("sections"),
    anchors: given("anchors"),
    maxSectionChars: given("maxSectionChars"),
    link: given("link"),
    linkBase: given("linkBase"),
    metadata: metadata && { ...configured.metadata, ...parseMetadata(metadata) },
    tags: tags && united(configured.tags, tags),
    updatedAt: given("updatedAt"),
    owners: given("owners"),
    metaCommit: given("metaCommit"),
    images: given("images"),
    map: map && parseColumnMap(map.join(",")),
    drafts: given("drafts"),
    ccPairId: given("ccPairId"),
    connector: given("connector"),
    requireAccess: given("requireAccess"),
    concurrency: given("concurrency"),
    rate: given("rate"),
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}
