import { statSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "../../api/client.ts";
import { storedIdsOf } from "../../api/dialects.ts";
import { findChunk, findDocumentSize } from "../../api/evidence.ts";
import type { IngestionDocument } from "../../api/schemas.ts";
import { CliError } from "../../errors.ts";
import { neutralise } from "../../output/terminal/neutralise.ts";
import { withConnection } from "../connect.ts";
import { filesInState } from "../files-in-state.ts";
import { allFiles, checkExit, selection, type Answer, type Toolbox } from "./toolbox.ts";

/** Characters of one answer. */
const pageChars = 30_000;

interface Request {
  path?: string | undefined;
  id?: string | undefined;
  offset?: number | undefined;
}

interface Text {
  from: "folder" | "index";
  path: string | null;
  id: string | null;
  title: string | null;
  text: string;
  /** Whether more follows after `text`, which was not read. */
  isCut: boolean;
}

/** The documents of a file as an upload would send them; undefined where an upload finds no such file. */
async function fromFolder(path: string, box: Toolbox): Promise<Text | undefined> {
  const chosen = selection([path]);
  const isFolder = statSync(join(box.root, path), { throwIfNoEntry: false })?.isDirectory();
  if (chosen.length === 0 || isFolder) return undefined;
  const result = await box.run(["convert", ...chosen, ...(await allFiles(box))]);
  if (result.exit === "usage" && result.text === "") return undefined;
  checkExit(result);
  const documents = result.text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as IngestionDocument);
  const [first] = documents;
  if (!first) return undefined;
  const text = documents
    .flatMap(({ sections }) => sections.map((section) => section.text ?? ""))
    .join("\n\n");
  const title = first.title ?? first.semantic_identifier;
  return { from: "folder", path, id: first.id, title, text, isCut: false };
}

/** Reads chunks until there is enough text. Undefined where the index shows no such document. */
async function fromIndex(client: Client, id: string, enough: number): Promise<Text | undefined> {
  for (const stored of storedIdsOf(client.dialect.name, id)) {
    const size = await findDocumentSize(client, stored);
    if (!size) continue;
    const chunks: string[] = [];
    let chars = 0;
    let number = 0;
    for (; number < size.num_chunks && chars < enough; number++) {
      const chunk = await findChunk(client, stored, number);
      if (!chunk) break;
      chunks.push(chunk.content);
      chars += chunk.content.length + 1;
    }
    const isCut = number < size.num_chunks;
    return { from: "index", path: null, id: stored, title: null, text: chunks.join("\n"), isCut };
  }
  return undefined;
}

/** By its id: from the folder if the record of uploads names its file, else from the index. */
async function byId(id: string, enough: number, box: Toolbox): Promise<Text | undefined> {
  const { context, flags, root } = box;
  return await withConnection(
    context,
    flags,
    async (connected) => {
      const files = await filesInState(context, { root }, connected, [id]);
      const path = files.get(id);
      const local = path === undefined ? undefined : await fromFolder(path, box);
      return local ?? (await fromIndex(connected.client, id, enough));
    },
    { root },
  );
}

/**
 * The text of a document, a page of it. Throws CliError `usage` without path and id, `not-found` for
 * an unknown document, and ApiError.
 */
export async function readDocument(
  { path, id, offset = 0 }: Request,
  box: Toolbox,
): Promise<Answer> {
  if (path === undefined && id === undefined) {
    throw new CliError("usage", "name the document: path, or id");
  }
  const local = path === undefined ? undefined : await fromFolder(path, box);
  const found = local ?? (id === undefined ? undefined : await byId(id, offset + pageChars, box));
  if (!found) {
    throw new CliError("not-found", `no document ${path ?? id}`, {
      hints: ["`search` gives path and id; hidden and ignored files are no documents"],
    });
  }
  const { text: whole, isCut, title, ...rest } = found;
  const text = whole.slice(offset, offset + pageChars);
  const next = offset + text.length;
  const hasMore = isCut || next < whole.length;
  const shown = neutralise(text);
  return {
    structured: {
      ...rest,
      title: title === null ? null : neutralise(title),
      text: shown,
      offset,
      total_characters: isCut ? null : whole.length,
      next_offset: hasMore ? next : null,
    },
    text: shown,
  };
}
