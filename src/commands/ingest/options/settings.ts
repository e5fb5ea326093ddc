import { statSync } from "node:fs";
import { resolve, basename, dirname, join } from "node:path";
import { dialects } from "../../../api/dialects.ts";
import type { Config } from "../../../config/load.ts";
import type { Context } from "../../../context.ts";
import type { Listed } from "../../../documents/files/source-file.ts";
import type { FormatName } from "../../../documents/formats/format.ts";
import type { FindOptions } from "../../../documents/find/scope.ts";
import { realPath, type ProjectRoot, relativeTo } from "../../../documents/files/root.ts";
import { creationFields, parseColumnMap } from "../../../documents/formats/rows.ts";
import {
  compileSettings,
  usesPatterns,
  type DocumentSettings,
  type MappingOptions,
  type RawSettings,
} from "../../../documents/map/settings.ts";
import { loadGlobs, mayBeGlob } from "../../../documents/files/patterns.ts";
import { mappingVersion, mappingKey } from "../../../documents/map/effective.ts";
import { CliError } from "../../../errors.ts";
import { neutraliseLine } from "../../../output/terminal/neutralise.ts";
import type { Output } from "../../../output/terminal/output.ts";
import { type RecordedOptions, optionsJson, differenceOf } from "../../../sync/state/options.ts";
import type { LintSetup } from "../../../checks/lint/examine.ts";
import { loadSettings } from "../../connect.ts";
import { pathsFrom } from "../../../output/paths.ts";
import { findProjectRoot, refuseOtherProject, textOfUnmarked } from "../../project-root.ts";
import type { OutcomePlace } from "../../outcome/follow.ts";
import { optionsOf, type MappingFlags } from "./mapping-flags.ts";
import { readGitFacts, type GitFacts } from "../git-facts.ts";
import type { LintConfig } from "../../../checks/lint/levels.ts";
import { stateName } from "../../../config/find/places.ts";
import type { InspectSetup } from "../../../documents/inspect/inspection.ts";
import { namedStateFolder } from "../../../sync/state/file/state-folder.ts";
import type { Targets } from "../../../sync/state/target.ts";
import type { RunOptions } from "../../../sync/plan/merge.ts";
import type { State } from "../../../sync/state/state.ts";

const namesRules = ({ rules = {}, overrides = [] }: LintConfig): boolean =>
  Object.keys(rules).length > 0 || overrides.length > 0;

/**
 * The checks of documents that are about to be sent: rules of level error, and with --no-lint only
 * those for secrets. Undefined for a command that sends none of what it reads. Throws CliError
 * `not-configured` for an unknown rule in the configuration.
 */
async function uploadChecks(
  { lint: config }: Pick<Config, "lint">,
  { idsOnly, lint }: Pick<MappingFlags, "idsOnly" | "lint">,
): Promise<Omit<LintSetup, "keys"> | undefined> {
  if (idsOnly) return undefined;
  if (namesRules(config)) {
    const [{ refuseUnknownRules }, { rules }] = await Promise.all([
      import("../../../checks/lint/levels.ts"),
      import("../../../checks/lint/rules.ts"),
    ]);
    refuseUnknownRules(config, rules);
  }
  return { config, refuses: lint === false ? "secrets" : "all" };
}

export interface DocumentSource extends GitFacts {
  config: Config;
  settings: DocumentSettings;
  /** The settings before compilation: plain data, for worker threads. */
  raw: RawSettings;
  /** Paths and globs to search, relative to `cwd`; empty means the configured `include`. */
  inputs: string[];
  cwd: string;
  /** The options that are recorded with each document. */
  options: Omit<RecordedOptions, "pairFromFlag">;
  /** Options for listing files: `cwd`, `settings`, and which folders belong to another root. */
  find: FindOptions;
  /** What marks the project root; undefined for an unmarked root. */
  mark: ProjectRoot["mark"];
  /** Formats a root-relative path for messages: relative to `cwd`. */
  shown(path: string): string;
  /** The checks of documents that are about to be sent; see uploadChecks(). */
  checks: Omit<LintSetup, "keys"> | undefined;
  /** Hash of everything except the file's bytes that shapes its payload. */
  mappingKey(path: string): string;
  /** Lists the files, where not all have the same settings; see judgeByRecord(). */
  list?: () => Generator<Listed>;
  /** Format of a file, where not all have the same settings. */
  formatFor?: (path: string) => FormatName | undefined;
  /** Whether no path was named, although there are inputs: those of the record. */
  isWhole?: boolean;
}

function isFolder(path: string, cwd: string): boolean {
  const real = realPath(resolve(cwd, path));
  return real !== undefined && statSync(real).isDirectory();
}

/** Refuses --format for folders: their files have formats of their own. */
function checkFormat(paths: readonly string[], { format }: MappingFlags, cwd: string): void {
  if (format === undefined || paths.includes("-")) return;
  const folder = paths.find((path) => isFolder(path, cwd));
  if (folder === undefined && paths.length > 0) return;
  const problem = folder === undefined ? "no file is named" : `${folder} is a folder`;
  throw new CliError("usage", `--format ${format} needs named files: ${problem}`, {
    hints: ["name files or a glob, for example `knowctl ingest 'notes/*' --format markdown`"],
  });
}

/** Refuses --anchors without sections by heading: only headings have anchors. */
function checkAnchors(flags: MappingFlags, { sections, rules = [] }: Config["ingest"]): void {
  if (flags.anchors === undefined) return;
  const modes = [sections, ...rules.map((rule) => rule.sections)];
  if ((flags.sections === undefined ? modes : [flags.sections]).includes("headings")) return;
  throw new CliError("usage", "--anchors has no effect without --sections headings", {
    hints: ["add --sections headings, or omit --anchors"],
  });
}

// Their configuration may name the address (`site_url`, `html_baseurl`); where it does not, each
// document without a link is counted.
const namesBase: ReadonlySet<string> = new Set(["mkdocs", "sphinx"]);

/** Refuses a link style without a base: its links are relative, so that no document had one. */
function checkLinkBase({ flags, configured, linkBase }: DocumentSettings): void {
  const style = flags.linkStyle ?? configured.linkStyle;
  if (style === undefined || linkBase !== undefined || namesBase.has(style)) return;
  const name = flags.linkStyle === undefined ? "ingest.linkStyle" : `--link-style ${style}`;
  throw new CliError("usage", `${name} needs the address of the site`, {
    hints: ["add --link-base https://docs.example.com, or ingest.linkBase in the configuration"],
  });
}

/** Refuses --map with a field that the dialect lacks: its column would silently become metadata. */
function checkCreation({ columns }: MappingOptions, { dialect }: Config): void {
  if (dialects[dialect].storesCreation) return;
  const field = creationFields.find((each) => columns?.[each] !== undefined);
  if (field === undefined) return;
  throw new CliError("usage", `--map ${field}: the ${dialect} dialect has no doc_created_at`, {
    hints: ["omit it: the column becomes metadata, or name the metadata with metadata.NAME=COLUMN"],
  });
}

/** Converts configuration and flags to the settings for the mapping. */
function rawSettings(
  config: Config,
  flags: MappingFlags,
): Omit<RawSettings, "root" | "format"> & { flags: MappingOptions } {
  const {
    ccPairId: _pair,
    connector: _name,
    concurrency: _most,
    rate: _rate,
    requireAccess: _access,
    ignore,
    map,
    ...mapping
  } = config.ingest;
  return {
    ...mapping,
    ...(flags.allowSecrets === true ? { allowSecrets: true } : {}),
    columns:
      map &&
      parseColumnMap(
        Object.entries(map)
          .map(([field, column]) => `${field}=${column}`)
          .join(","),
      ),
    useIgnoreFiles: ignore,
    // A permission: what is recorded, or came with a report or a state, gives none.
    dropAccess: flags.dropAccess,
    storesCreation: dialects[config.dialect].storesCreation,
    flags: flags.recorded?.settings.flags ?? optionsOf(flags),
  };
}

/**
 * Compiles the settings for finding and mapping files at a place whose configuration is loaded.
 * Throws CliError `usage` for settings that do not fit each other, and when there are no inputs.
 */
async function compileSource(
  context: Context,
  { config, root, cwd, mark }: Pick<DocumentSource, "config" | "cwd" | "mark"> & { root: string },
  inputs: string[],
  flags: MappingFlags,
  output: Output | undefined,
): Promise<DocumentSource> {
  const { recorded, mayBeRemoved } = flags;
  const readsStdin = inputs.includes("-");
  // The format of stdin shapes no file.
  const flagFormat = inputs.every((path) => path === "-") ? undefined : flags.format;
  const format = recorded ? recorded.settings.format : flagFormat;
  const mapping = { ...rawSettings(config, flags), format };
  checkCreation(mapping.flags, config);
  const withRoot = { ...mapping, root };
  if (usesPatterns(withRoot)) await loadGlobs();
  const settings = compileSettings(withRoot);
  checkLinkBase(settings);
  // The settings stay as they are, so that unchanged files need not be read.
  const raw = flags.idsOnly
    ? { ...withRoot, allowSecrets: true as const, dropAccess: true }
    : withRoot;
  const hasNoInput = inputs.length === 0 && settings.include.length === 0;
  if (hasNoInput && flags.wholeRoot !== true) {
    throw new CliError("usage", "nothing to ingest: no path given and no `include` configured", {
      hints: ["name a folder, for example `knowctl ingest docs --cc-pair-id 2`"],
    });
  }
  const shown = pathsFrom(cwd, root);
  const find = { cwd, settings, mayBeRemoved, refuseFolder: refuseOtherProject(shown) };
  const { since, wantsCommits } = flags;
  const facts: GitFacts = readsStdin
    ? { since: undefined, factsOf: undefined }
    : await readGitFacts(context, { find, inputs, since, wantsCommits }, output);
  // allowSecrets does not shape documents, and each run sets it anew.
  const { allowSecrets: _, storesCreation: _ofTarget, ...shaping } = mapping;
  const byInclude = recorded?.byInclude ?? (inputs.length === 0 && !hasNoInput);
  const options = { byInclude, mapping: mappingVersion, settings: shaping };
  const checks = await uploadChecks(config, flags);
  const source = { config, settings, raw, inputs, cwd, find, mark, shown, checks, options };
  const key = (path: string): string => mappingKey(path, settings, facts.factsOf?.(path));
  return { ...source, mappingKey: key, ...facts };
}

/**
 * Loads the configuration for the paths and compiles the settings for finding and mapping
 * files. `sends` is false for read-only commands, which work without trust or a key.
 * Throws CliError `usage` when there are no inputs, `not-configured` when a command that sends
 * needs trust.
 */
export async function openSource(
  context: Context,
  paths: readonly string[],
  flags: MappingFlags,
  output: Output,
  sends: boolean,
): Promise<DocumentSource> {
  const { cwd } = context;
  if (paths.some(mayBeGlob)) await loadGlobs();
  checkFormat(paths, flags, cwd);
  // Documents from stdin belong to the project of the working directory.
  const namedPaths = paths.filter((path) => path !== "-");
  const projectRoot = findProjectRoot(context, namedPaths, flags);
  const { folder: root, start, mark } = projectRoot;
  const { needsProfile } = flags;
  const config = await loadSettings(context, flags, output, { sends, needsProfile, root: start });
  // Before checks by dialect and settings: those of an untrusted file are not in effect.
  if (sends && config.refused) throw config.refused;
  checkAnchors(flags, config.ingest);
  const source = await compileSource(
    context,
    { config, root, cwd, mark },
    [...paths],
    flags,
    output,
  );
  const unmarked = textOfUnmarked(context, projectRoot);
  if (unmarked !== undefined) await output.note(neutraliseLine(unmarked));
  return source;
}

/**
 * The project of `today` with recorded options: their flags over the configuration of today. `flags`
 * are those of the command. Prints nothing: messages were printed for the command itself.
 */
export async function recordedSource(
  context: Context,
  today: DocumentSource,
  recorded: RecordedOptions,
  flags: MappingFlags,
): Promise<DocumentSource> {
  const { root } = today.settings;
  return await compileSource(
    context,
    { ...today, root },
    [root],
    { ...flags, recorded },
    undefined,
  );
}

/**
 * Folder of the state; undefined with `--no-state`. Throws CliError `usage` for a folder that
 * would change the project root of the same files.
 */
export function stateFolder(source: DocumentSource, flags: MappingFlags): string | undefined {
  if (flags.state === false) return undefined;
  if (typeof flags.state !== "string") return join(source.settings.root, stateName);
  const folder = namedStateFolder(source.cwd, flags.state);
  refuseOtherMark(folder, source);
  return folder;
}

/** Where a run over `source` takes place. */
export function placeOf(source: DocumentSource, flags: MappingFlags): OutcomePlace {
  const { config, settings } = source;
  return { config, root: settings.root, folder: stateFolder(source, flags) };
}

/** Setup for inspecting the files of `source`, here or in a worker thread; `keys` from ownKeys(). */
export function inspectSetup(
  source: DocumentSource,
  targets: Targets,
  keys: readonly string[],
): InspectSetup {
  const { raw, checks } = source;
  const { pair } = targets;
  return { settings: raw, pair, checks: checks && { ...checks, keys } };
}

/** Throws when a folder named `.knowctl` would mark another folder as the root of the next run. */
function refuseOtherMark(folder: string, { settings: { root }, mark }: DocumentSource): void {
  const marked = realPath(dirname(folder)) ?? dirname(folder);
  if (basename(folder) !== stateName || marked === root) return;
  const isAbove = relativeTo(marked, root) !== undefined;
  if (isAbove ? mark === "flag" : relativeTo(root, marked) === undefined) return;
  throw new CliError("usage", `--state ${folder} would make ${marked} a project root`, {
    details: [`the root of this run is ${root}`],
    hints: [
      `use another name than ${stateName} for the state folder, or omit --state`,
      `or make that folder the root: --root ${marked}`,
    ],
  });
}

/** The options of a session, and their relation to recorded options. */
export interface Shaping extends RunOptions {
  recorded: RecordedOptions;
}

/** Opens the options of a session. The first access to `number` stores them, except in a dry run. */
export function openShaping(
  { options }: DocumentSource,
  pairFromFlag: boolean,
  state: State,
  dryRun: boolean,
): Shaping {
  const recorded = { ...options, pairFromFlag };
  const json = optionsJson(recorded);
  let number: number | undefined;
  const differences = new Map<number, string>();
  return {
    recorded,
    get number() {
      number ??= dryRun ? state.options.find(json) : state.options.store(json);
      return number;
    },
    differenceFrom(earlier) {
      let difference = differences.get(earlier);
      if (difference === undefined) {
        const before = state.options.get(earlier);
        difference = before ? differenceOf(before, recorded) : "";
        differences.set(earlier, difference);
      }
      return difference;
    },
  };
}
