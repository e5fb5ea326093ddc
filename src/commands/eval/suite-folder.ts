import { statSync } from "node:fs";
import { join } from "node:path";
import type { FolderFacts } from "../../checks/eval/suite/check-suite.ts";
import { listFiles } from "../../documents/find/find.ts";
import { createRealPlaces, exists } from "../../documents/files/real-place.ts";
import type { ListedFile } from "../../documents/files/source-file.ts";
import type { PlanInspector, Prepared } from "../../documents/inspect/inspection.ts";
import { formatOf } from "../../documents/formats/formats.ts";
import type { DocumentSource } from "../ingest/options/settings.ts";

/** What the folder knows of the files that suites name. */
export interface SuiteFolder extends FolderFacts {
  /** Ids of the documents of a named file, as the service may store them; empty if there are none. */
  idsOfPath(path: string): readonly string[];
}

interface FolderRequest {
  source: DocumentSource;
  inspector: PlanInspector;
  /** The ids under which the service may store a document, see storedIdsOf(). */
  storedIds: (id: string) => readonly string[];
}

interface Files {
  uploaded: Map<string, ListedFile>;
  leftOut: Map<string, string>;
}

function listProject({ find, settings }: DocumentSource): Files {
  const files: Files = { uploaded: new Map(), leftOut: new Map() };
  for (const each of listFiles([], { ...find, cwd: settings.root })) {
    if (each.kind === "file") files.uploaded.set(each.path, each);
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

const batchSize = 64;

/** The documents of files, in the order of the files. */
async function* readDocuments(
  paths: readonly string[],
  { source, inspector }: FolderRequest,
  files: Files,
): AsyncGenerator<Prepared> {
  const itemOf = (path: string) => ({
    path,
    absolutePath: files.uploaded.get(path)?.absolutePath,
    facts: source.factsOf?.(path),
  });
  const isRows = (path: string): boolean =>
    formatOf(path, source.settings.format)?.gives === "rows";
  const single = paths.filter((path) => !isRows(path));
  for (let at = 0; at < single.length; at += batchSize) {
    const batch = single.slice(at, at + batchSize);
    const items = batch.map((path) => ({ ...itemOf(path), stamp: undefined, content: undefined }));
    for (const looked of await inspector.look(items)) if (looked.kind !== "same") yield looked;
  }
  for (const path of paths.filter(isRows)) yield* inspector.readRows(itemOf(path));
}

/** Sorts the named files: those to read stay, those without document are noted in `files`. */
function readableOf(paths: Iterable<string>, { source }: FolderRequest, files: Files): string[] {
  const { settings } = source;
  const realPlaceOf = createRealPlaces(settings.root);
  return [...new Set(paths)].filter((path) => {
    if (files.uploaded.has(path)) return true;
    // Every path of a suite is below the root; checkSuite() names the others.
    if (path.startsWith("..") || path.startsWith("/") || !exists(realPlaceOf(path))) return false;
    // An upload takes files of rows only by name, and nobody knows here which ones it names.
    const isRows = formatOf(path, settings.format)?.gives === "rows";
    if (isRows && files.leftOut.has(path)) {
      files.leftOut.delete(path);
      files.uploaded.set(path, { kind: "file", path, absolutePath: undefined });
      return true;
    }
    if (!files.leftOut.has(path)) files.leftOut.set(path, whyUnlisted(path, source));
    return false;
  });
}

/**
 * Looks up the files that suites name (see namedPaths()): lists the project as an upload would, and
 * reads only the named files, for the ids of their documents. Throws CliError `usage` as listFiles().
 */
export async function readSuiteFolder(
  request: FolderRequest,
  paths: Iterable<string>,
): Promise<SuiteFolder> {
  const { storedIds } = request;
  const files = listProject(request.source);
  const readable = readableOf(paths, request, files);
  const ids = new Map<string, string[]>();
  const reasons = new Map<string, string>();
  for await (const each of readDocuments(readable, request, files)) {
    if (each.kind === "document") {
      const known = ids.get(each.path) ?? [];
      known.push(...storedIds(each.id));
      ids.set(each.path, known);
    } else if (!reasons.has(each.path)) reasons.set(each.path, each.reason);
  }
  for (const [path, reason] of reasons) if (!ids.has(path)) files.leftOut.set(path, reason);
  return {
    paths: [...files.uploaded.keys()],
    leftOut: (path) => files.leftOut.get(path),
    idsOfPath: (path) => ids.get(path) ?? [],
  };
}
