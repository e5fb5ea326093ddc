import { statSync } from "node:fs";
import { join } from "node:path";
import { storedIdsOf, type DialectName } from "../../api/dialects.ts";
import type { DocumentNames } from "../../checks/eval/documents.ts";
import { checkSuite, namedPaths, type FolderFacts } from "../../checks/eval/suite/check-suite.ts";
import type { Suite } from "../../checks/eval/suite/suite.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Config } from "../../config/load.ts";
import type { Context } from "../../context.ts";
import { listFiles } from "../../documents/find/find.ts";
import { createRealPlaces, exists } from "../../documents/files/real-place.ts";
import type { PlanInspector, Prepared } from "../../documents/inspect/inspection.ts";
import { openInspector } from "../../documents/inspect/open-inspector.ts";
import { formatOf } from "../../documents/formats/formats.ts";
import { CliError } from "../../errors.ts";
import type { Output } from "../../output/terminal/output.ts";
import { inspectSetup, openSource, type DocumentSource } from "../ingest/options/settings.ts";
import { findProjectRoot } from "../project-root.ts";
import { brokenSuite } from "./load-suite.ts";

/** Called once the project of a run is known, before its suites are checked. */
export type BeginEval = (source: DocumentSource) => Promise<void>;

/** The project's files, to read; without a service and without a state. */
export interface Folder {
  source: DocumentSource;
  inspector: PlanInspector;
  close(): Promise<void>;
}

/**
 * Opens the files of `paths`, or of the whole project. `sends`: its configuration is also used for
 * requests. The caller closes it. Throws CliError.
 */
export async function openFolder(
  context: Context,
  output: Output,
  paths: readonly string[],
  options: GlobalFlags,
  sends = false,
): Promise<Folder> {
  // Drafts of `eval` are cases, those of an upload are documents.
  const { drafts: _cases, ...others }: GlobalFlags & { drafts?: boolean } = options;
  const flags = { ...others, idsOnly: true as const, wholeRoot: true, needsProfile: sends };
  const source = await openSource(context, paths, flags, output, sends);
  const targets = { baseUrl: "", pair: { ccPairId: undefined, fromFlag: false } };
  const setup = inspectSetup(source, targets, []);
  const inspector = await openInspector(setup, context.workerScript, 0);
  return { source, inspector, close: () => inspector.close() };
}

const isRows = ({ settings }: DocumentSource, path: string): boolean =>
  formatOf(path, settings.format)?.gives === "rows";

/** The files of the project as an upload takes them. */
interface Files {
  /** Absolute places by path. */
  uploaded: Map<string, string | undefined>;
  /** Why a file is left out, by path. */
  leftOut: Map<string, string>;
}

function listProject({ find, settings }: DocumentSource): Files {
  const files: Files = { uploaded: new Map(), leftOut: new Map() };
  // An upload names its folders; a project of its own beside them is no mistake of a suite.
  const projects: string[] = [];
  const refuseFolder: typeof find.refuseFolder = (folder, names) => {
    if (find.refuseFolder?.(folder, names)) projects.push(folder.path);
    return undefined;
  };
  for (const each of listFiles([], { ...find, cwd: settings.root, refuseFolder })) {
    const project = projects.find((folder) => each.path.startsWith(`${folder}/`));
    if (project !== undefined)
      files.leftOut.set(each.path, `${project} is a project root of its own`);
    else if (each.kind === "file") files.uploaded.set(each.path, each.absolutePath);
    else files.leftOut.set(each.path, each.reason);
  }
  return files;
}

/** Why an upload of the project does not list a file that exists. */
function whyUnlisted(path: string, { settings }: DocumentSource): string {
  if (statSync(join(settings.root, path)).isDirectory()) return "it is a folder, name a file";
  if (settings.exclude?.matches(path)) return "`exclude` of the configuration names it";
  return "it is hidden, ignored, or not in `include` of the configuration";
}

/** Sorts the named files: those to read stay, those without document are noted in `files`. */
function readableOf(paths: Iterable<string>, source: DocumentSource, files: Files): string[] {
  const realPlaceOf = createRealPlaces(source.settings.root);
  return [...new Set(paths)].filter((path) => {
    if (files.uploaded.has(path)) return true;
    // Every path of a suite is below the root; checkSuite() names the others.
    if (path.startsWith("..") || path.startsWith("/") || !exists(realPlaceOf(path))) return false;
    // An upload takes files of rows only by name, and nobody knows here which ones it names.
    if (isRows(source, path) && files.leftOut.delete(path)) {
      files.uploaded.set(path, undefined);
      return true;
    }
    if (!files.leftOut.has(path)) files.leftOut.set(path, whyUnlisted(path, source));
    return false;
  });
}

/** A file that cannot be read. */
export interface Failure {
  path: string;
  reason: string;
}

/** What an upload finds in the folder; files of rows are apart, for each of their rows is a document. */
export function listFolder({ source }: Pick<Folder, "source">) {
  const files: { path: string; absolutePath: string | undefined }[] = [];
  const rowFiles: string[] = [];
  const failures: Failure[] = [];
  for (const listed of listFiles(source.inputs, source.find)) {
    if (listed.kind === "failed") failures.push(listed);
    if (listed.kind !== "file") continue;
    if (isRows(source, listed.path)) rowFiles.push(listed.path);
    else files.push({ path: listed.path, absolutePath: listed.absolutePath });
  }
  return { files, rowFiles, failures };
}

export const batchSize = 64;

/** Looks at files, a batch at once. Yields what each of them is, in their order. */
export async function* lookAt(
  { source, inspector }: Folder,
  files: readonly { path: string; absolutePath: string | undefined }[],
) {
  for (let at = 0; at < files.length; at += batchSize) {
    const batch = files.slice(at, at + batchSize).map(({ path, absolutePath }) => {
      const facts = source.factsOf?.(path);
      return { path, absolutePath, stamp: undefined, content: undefined, facts };
    });
    yield* await inspector.look(batch);
  }
}

/** The documents of files. */
async function* readDocuments(
  paths: readonly string[],
  folder: Folder,
  files: Files,
): AsyncGenerator<Prepared> {
  const { source, inspector } = folder;
  const itemOf = (path: string) => ({
    path,
    absolutePath: files.uploaded.get(path),
    facts: source.factsOf?.(path),
  });
  const single = paths.filter((path) => !isRows(source, path)).map(itemOf);
  for await (const looked of lookAt(folder, single)) if (looked.kind !== "same") yield looked;
  for (const path of paths) if (isRows(source, path)) yield* inspector.readRows(itemOf(path));
}

/** What the folder knows of the files that suites name. */
type SuiteFolder = FolderFacts & Pick<DocumentNames, "idsOfPath">;

/**
 * Looks up the files that suites name: lists the project as an upload would, and reads only the named
 * files, for the ids of their documents. Throws CliError `usage` as listFiles().
 */
export async function readSuiteFolder(
  folder: Folder,
  paths: readonly string[],
  storedIds: DocumentNames["storedIds"],
): Promise<SuiteFolder> {
  const files = listProject(folder.source);
  const ids = new Map<string, string[]>();
  const reasons = new Map<string, string>();
  const readable = readableOf(paths, folder.source, files);
  for await (const each of readDocuments(readable, folder, files)) {
    if (each.kind === "document") {
      ids.set(each.path, [...(ids.get(each.path) ?? []), ...storedIds(each.id)]);
    } else if (!reasons.has(each.path)) reasons.set(each.path, each.reason);
  }
  for (const [path, reason] of reasons) if (!ids.has(path)) files.leftOut.set(path, reason);
  return {
    paths: [...files.uploaded.keys()],
    leftOut: (path) => files.leftOut.get(path),
    idsOfPath: (path) => ids.get(path) ?? [],
  };
}

/**
 * The suite files whose project is that of the documents, by the search of `ingest` for named paths:
 * a suite names the same files from every working directory. None if no suite is in a marked
 * project: then it is the project of the working directory. Throws CliError `usage` for suites of
 * different projects.
 */
function placesOf(context: Context, { root }: GlobalFlags, suites: readonly Suite[]): string[] {
  const roots = new Map<string, string>();
  for (const { file } of suites) {
    const { folder, mark } = findProjectRoot(context, [file], {});
    if (mark !== undefined && !roots.has(folder)) roots.set(folder, file);
  }
  if (roots.size < 2) return [...roots.values()];
  if (root !== undefined) return [];
  throw new CliError("usage", "the suites have different project roots", {
    details: [...roots].map(([folder, file]) => `${file}: ${folder}`),
    hints: ["run the suites of each project separately, or name the root: --root DIR"],
  });
}

/** The project as the suites name it. */
export interface Project {
  config: Config;
  /** Absolute. */
  root: string;
  names: DocumentNames;
  /** Files of documents that the suites name, by the id that the service stores. */
  known: ReadonlyMap<string, string>;
}

/**
 * Looks up the files that suites name, and checks the suites against the folder. `replayed` is the
 * dialect of a recording; undefined if the service is asked. Calls `begin` with the source first. Throws CliError `usage` with every problem of a suite: a path that does not exist,
 * an expectation that cannot hold.
 */
export async function openProject(
  context: Context,
  flags: GlobalFlags & { drafts?: boolean },
  output: Output,
  suites: readonly Suite[],
  { replayed, begin }: { replayed?: DialectName; begin: BeginEval },
): Promise<Project> {
  const places = placesOf(context, flags, suites);
  const folder = await openFolder(context, output, places, flags, replayed === undefined);
  try {
    const { config, settings } = folder.source;
    const { root } = settings;
    await begin(folder.source);
    const dialect = replayed ?? config.dialect;
    const storedIds = (id: string): string[] => storedIdsOf(dialect, id);
    const paths = suites.flatMap((suite) =>
      namedPaths(suite, flags.drafts).map(({ path }) => path),
    );
    const facts = await readSuiteFolder(folder, paths, storedIds);
    const problems = suites.flatMap((suite) => checkSuite(suite, facts, flags.drafts));
    if (problems.length > 0) {
      const hint = `paths count from the project root ${root}; --root names another`;
      const isAboutPath = problems.some(({ message }) => message.includes("does not exist"));
      throw brokenSuite(problems, isAboutPath ? [hint] : []);
    }
    const { idsOfPath } = facts;
    const known = paths.flatMap((path) =>
      idsOfPath(path).map((id): [string, string] => [id, path]),
    );
    return { config, root, names: { idsOfPath, storedIds }, known: new Map(known) };
  } finally {
    await folder.close();
  }
}
