import { draftQuestion } from "../../../checks/eval/draft/question.ts";
import type { DraftCase } from "../../../checks/eval/draft/draft-suite.ts";
import { chooseSample } from "../../../checks/verify/sample.ts";
import type { IngestionRequest } from "../../../api/schemas.ts";
import { listFiles } from "../../../documents/find/find.ts";
import type { ListedFile } from "../../../documents/find/source-file.ts";
import type { ReadyDocument } from "../../../documents/inspect/inspection.ts";
import { formatOf } from "../../../documents/read/readers.ts";
import type { Folder } from "../open-folder.ts";

export interface Drafts {
  cases: DraftCase[];
  /** Files that a case could be drafted from. */
  files: number;
}

interface Candidate {
  id: string;
  path: string;
  isSuspect: boolean;
  absolutePath: string | undefined;
}

/** The files with one document each. */
function candidatesOf({ source }: Folder): Candidate[] {
  const { settings, inputs, find } = source;
  return [...listFiles(inputs, find)]
    .filter((each): each is ListedFile => each.kind === "file")
    .filter(({ path }) => formatOf(path, settings.format)?.gives !== "rows")
    .map(({ path, absolutePath }) => ({ id: path, path, isSuspect: false, absolutePath }));
}

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

async function draftBatch(
  { source, inspector }: Folder,
  batch: readonly Candidate[],
): Promise<(DraftCase | undefined)[]> {
  const looked = await inspector.look(
    batch.map(({ path, absolutePath }) => ({
      path,
      absolutePath,
      stamp: undefined,
      content: undefined,
      facts: source.factsOf?.(path),
    })),
  );
  return looked.map((each) => (each.kind === "document" ? draftOf(each) : undefined));
}

/**
 * Drafts a case for each of up to `limit` documents, spread over the folders. The choice is the same
 * for the same files. Reads only the chosen files.
 */
export async function draftFromFiles(folder: Folder, limit: number): Promise<Drafts> {
  let candidates = candidatesOf(folder);
  const drafts = new Map<string, DraftCase>();
  for (;;) {
    const chosen = chooseSample(candidates, limit);
    const unread = chosen.filter(({ path }) => !drafts.has(path)).slice(0, batchSize);
    if (unread.length === 0) {
      const cases = chosen.flatMap(({ path }) => drafts.get(path) ?? []);
      const inOrder = cases.toSorted((a, b) => (a.name < b.name ? -1 : 1));
      return { cases: inOrder, files: candidates.length };
    }
    const bad = new Set<string>();
    for (const [index, draft] of (await draftBatch(folder, unread)).entries()) {
      const path = unread[index]?.path ?? "";
      if (draft) drafts.set(path, draft);
      else bad.add(path);
    }
    // A file without document, for example a draft, makes room for another one.
    candidates = candidates.filter(({ path }) => !bad.has(path));
  }
}
