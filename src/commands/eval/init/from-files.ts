import { draftQuestion } from "../../../checks/eval/draft/question.ts";
import type { DraftCase } from "../../../checks/eval/draft/draft-suite.ts";
import { chooseSample } from "../../../checks/verify/sample.ts";
import type { IngestionRequest } from "../../../api/schemas.ts";
import { listFiles } from "../../../documents/find/find.ts";
import type { ReadyDocument } from "../../../documents/inspect/inspection.ts";
import { formatOf } from "../../../documents/read/readers.ts";
import type { Folder } from "../open-folder.ts";

export interface Drafts {
  cases: DraftCase[];
  /** Files that a case could be drafted from. */
  files: number;
  /** Paths of files of rows: no case is drafted from a row. */
  rowFiles: readonly string[];
  /** Why files could not be read, one reason each. */
  failures: readonly string[];
}

interface Candidate {
  id: string;
  path: string;
  isSuspect: boolean;
  absolutePath: string | undefined;
}

/** The files with one document each, and the others. */
function listCandidates({ source }: Folder) {
  const { settings, inputs, find } = source;
  const candidates: Candidate[] = [];
  const rowFiles: string[] = [];
  const failures: string[] = [];
  for (const listed of listFiles(inputs, find)) {
    const { kind, path } = listed;
    if (kind === "failed") failures.push(failureText(path, listed.reason));
    if (kind !== "file") continue;
    const { absolutePath } = listed;
    if (formatOf(path, settings.format)?.gives === "rows") rowFiles.push(path);
    else candidates.push({ id: path, path, isSuspect: false, absolutePath });
  }
  return { candidates, rowFiles, failures };
}

const failureText = (path: string, reason: string): string =>
  reason.startsWith(path) ? reason : `${path}: ${reason}`;

function draftOf({ path, body }: ReadyDocument): DraftCase {
  const { document } = JSON.parse(Buffer.from(body).toString()) as IngestionRequest;
  const texts = document.sections.map(({ text = "" }) => text);
  const title = document.title || document.semantic_identifier;
  return {
    name: path.replace(/\.[^./]+$/, ""),
    group: path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : undefined,
    question: draftQuestion({ title, texts }),
    mustRetrieve: [{ path }],
  };
}

const batchSize = 64;

/** For each file its case, why it cannot be read, or undefined if it has no document. */
async function draftBatch(
  { source, inspector }: Folder,
  batch: readonly Candidate[],
): Promise<(DraftCase | string | undefined)[]> {
  const looked = await inspector.look(
    batch.map(({ path, absolutePath }) => ({
      path,
      absolutePath,
      stamp: undefined,
      content: undefined,
      facts: source.factsOf?.(path),
    })),
  );
  return looked.map((each) => {
    if (each.kind === "document") return draftOf(each);
    return each.kind === "failed" ? failureText(each.path, each.reason) : undefined;
  });
}

/**
 * Drafts a case for each of up to `limit` documents, spread over the folders. The choice is the same
 * for the same files. Reads only the chosen files.
 */
export async function draftFromFiles(folder: Folder, limit: number): Promise<Drafts> {
  const listed = listCandidates(folder);
  const { rowFiles, failures } = listed;
  let { candidates } = listed;
  const drafts = new Map<string, DraftCase>();
  for (;;) {
    const chosen = chooseSample(candidates, limit);
    const unread = chosen.filter(({ path }) => !drafts.has(path)).slice(0, batchSize);
    if (unread.length === 0) {
      const cases = chosen.flatMap(({ path }) => drafts.get(path) ?? []);
      const inOrder = cases.toSorted((a, b) => (a.name < b.name ? -1 : 1));
      return { cases: inOrder, files: candidates.length, rowFiles, failures };
    }
    const bad = new Set<string>();
    for (const [index, draft] of (await draftBatch(folder, unread)).entries()) {
      const path = unread[index]?.path ?? "";
      if (typeof draft === "object") drafts.set(path, draft);
      else bad.add(path);
      if (typeof draft === "string") failures.push(draft);
    }
    // A file without document, for example a draft, makes room for another one.
    candidates = candidates.filter(({ path }) => !bad.has(path));
  }
}
