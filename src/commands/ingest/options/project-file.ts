import { join, relative, resolve, sep } from "node:path";
import { changeDraft, openDraft, readDraft } from "../../../config/file/edit.ts";
import { parseConfig } from "../../../config/file/parse.ts";
import { createMachine } from "../../../config/find/folders.ts";
import type { Config } from "../../../config/load.ts";
import type { Context } from "../../../context.ts";
import { isGlob, mayBeGlob } from "../../../documents/files/patterns.ts";
import { exists } from "../../../documents/files/real-place.ts";
import { CliError } from "../../../errors.ts";
import type { Output } from "../../../output/terminal/output.ts";
import type { IngestOptions } from "../ingest-options.ts";
import { plannedBaseUrl } from "../session.ts";
import { optionsOf, shapingFlags } from "./mapping-flags.ts";
import type { DocumentSource } from "./settings.ts";

const newName = ".cliconfig.json";

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
  ["sharedState", "--shared-state", "name it in state.shared of the file"],
  ["stateProject", "--state-project", "name it in state.shared of the file"],
  ["offlineState", "--offline-state", useInEachRun],
  ["config", "--config", "omit it: what is printed is a project file"],
] as const satisfies [keyof IngestOptions, string, string][];

/** Whether a project file can hold all flags of the command line. */
export function fitsFile(options: IngestOptions): boolean {
  return outsideFile.every(([name]) => options[name] === undefined);
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
function united(
  configured: readonly string[] = [],
  added: readonly string[] | undefined,
): string[] | undefined {
  return added && [...new Set([...configured, ...added])];
}

const isExclusion = (pattern: string): boolean =>
  pattern.startsWith("!") && !pattern.startsWith("!(");

/** A project file makes links in one way: a template or a style. */
function refuseSecondLink({ link, linkStyle }: IngestOptions, configured: Config["ingest"]): void {
  if (linkStyle !== undefined && configured.link !== undefined) {
    throw refuse("--link-style", "remove ingest.link from the project file");
  }
  if (link !== undefined && configured.linkStyle) {
    throw refuse("--link", "remove ingest.linkStyle from the project file");
  }
}

/** The keys of `ingest` in a configuration file that repeat a command line. */
function ingestKeys(
  { inputs, cwd, settings: { root }, config: { ingest: configured } }: DocumentSource,
  options: IngestOptions,
): [string, unknown][] {
  refuseSecondLink(options, configured);
  const given = optionsOf(options);
  // The `!` patterns of the configured `include` apply to named paths too.
  const leftOut = configured.include?.filter(isExclusion) ?? [];
  const patterns = inputs.map((path) => patternOf(path, cwd, root));
  const all: Record<string, unknown> = {
    include: patterns.length > 0 ? [...patterns, ...leftOut] : undefined,
    exclude: united(configured.exclude, given.exclude),
    ignore: given.useIgnoreFiles,
    ...Object.fromEntries(
      shapingFlags.map((flag) => [flag === "tag" ? "tags" : flag, options[flag]]),
    ),
    metadata: given.metadata && { ...configured.metadata, ...given.metadata },
    tags: united(configured.tags, given.tags),
    map: given.columns,
  };
  const { ccPairId, connector, requireAccess, concurrency, rate } = options;
  const others = { ccPairId, connector, requireAccess, concurrency, rate };
  return Object.entries({ ...all, ...others }).filter(([, value]) => value !== undefined);
}

// One of them replaces the other.
const otherTarget: Readonly<Record<string, string>> = {
  ccPairId: "connector",
  connector: "ccPairId",
};

/**
 * `ingest --print-config`: prints the project file with which plain `knowctl ingest` repeats this
 * command line: profile and address, target, paths and options. Sends nothing, writes no file.
 * Throws CliError `usage` for a flag that a project file cannot hold.
 */
export async function printConfig(
  context: Context,
  output: Output,
  source: DocumentSource,
  options: IngestOptions,
): Promise<void> {
  const { settings, config, inputs } = source;
  if (inputs.includes("-")) throw refuse("stdin", "name files or folders");
  const outside = outsideFile.find(([name]) => options[name] !== undefined);
  if (outside) throw refuse(outside[1], outside[2]);
  const { profile, values } = config;
  const found = config.files.find(({ layer, named }) => layer === "project" && !named);
  const target = join(settings.root, newName);
  let draft = await openDraft(found?.path ?? target, false, createMachine(context));
  const set = (place: string[], value: unknown): void => {
    draft = changeDraft(draft, place, value);
  };
  // In the profile if it is set there, else for all profiles.
  const placeOf = (key: string): string[] => {
    const own = ["profiles", profile, "ingest", key];
    return readDraft(draft, own) === undefined ? ["ingest", key] : own;
  };
  set(["defaultProfile"], profile);
  const baseUrl = plannedBaseUrl(config);
  if (baseUrl !== "") set(["profiles", profile, "baseUrl"], baseUrl);
  if (values.dialect !== "standard") set(["profiles", profile, "dialect"], values.dialect);
  for (const [key, value] of ingestKeys(source, options)) {
    const other = otherTarget[key];
    if (other !== undefined) set(placeOf(other), undefined);
    set(placeOf(key), value);
  }
  const text = `${JSON.stringify(readDraft(draft, []), null, 2)}\n`;
  await parseConfig(target, text);
  await output.json(text);
  await output.note(
    `save this as ${target}, then \`knowctl config trust\`: plain \`knowctl ingest\` repeats the command`,
  );
}
