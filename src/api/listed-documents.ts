import * as z from "zod/mini";
import { ApiError, CliError } from "../errors.ts";
import { nestsTooDeep } from "./answers/redaction.ts";
import type { Client } from "./client.ts";

/** Splits the text of one JSON array into the texts of its elements. */
interface ElementSplitter {
  /** Returns the elements that `text` completes. Throws SyntaxError if the text is no array. */
  push(text: string): string[];
  /** Call it after the last text. Throws SyntaxError if the array has no end. */
  end(): void;
}

/** Maximum of characters of one element: a text without an end must not fill the memory. */
const maxElementChars = 1024 * 1024;

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const opening: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const closing: ReadonlySet<number> = new Set([0x5d, 0x7d]);

type Mark = "begin" | "next" | "end" | undefined;

/** Returns a function that takes the text character by character and finds the marks of the array. */
function createScan(): (code: number) => Mark {
  let depth = 0;
  let inString = false;
  let isEscaped = false;
  return (code) => {
    if (isEscaped) isEscaped = false;
    else if (inString) {
      if (code === backslash) isEscaped = true;
      else if (code === quote) inString = false;
    } else if (code === quote) inString = true;
    else if (code === comma && depth <= 1) return "next";
    else if (opening.has(code)) return depth++ === 0 ? "begin" : undefined;
    else if (closing.has(code)) return --depth <= 0 ? "end" : undefined;
    return undefined;
  };
}

const isBlank = (text: string): boolean => /^[ \t\r\n]*$/.test(text);

/** Creates a splitter. It does not check the elements themselves: the caller parses each one. */
function createElementSplitter(): ElementSplitter {
  const scan = createScan();
  let phase: "before" | "inside" | "after" = "before";
  let count = 0;
  let pending = "";
  const refuse = (): never => {
    throw new SyntaxError("not one JSON array");
  };
  /** Returns the element that ends at the mark; undefined for none. */
  const elementAt = (mark: Mark, character: string | undefined, text: string) => {
    if (mark === "begin") {
      if (phase !== "before" || character !== "[" || !isBlank(text)) refuse();
      phase = "inside";
      return undefined;
    }
    if (phase !== "inside") refuse();
    if (mark === "end") {
      if (character !== "]") refuse();
      phase = "after";
      if (count === 0 && isBlank(text)) return undefined;
    }
    count++;
    return text;
  };
  return {
    push(text) {
      const elements: string[] = [];
      let from = 0;
      for (let index = 0; index < text.length; index++) {
        const mark = scan(text.charCodeAt(index));
        if (mark === undefined) continue;
        const element = elementAt(mark, text[index], pending + text.slice(from, index));
        if (element !== undefined) elements.push(element);
        pending = "";
        from = index + 1;
      }
      pending += text.slice(from);
      if (pending.length > maxElementChars) refuse();
      return elements;
    },
    end() {
      if (phase !== "after" || !isBlank(pending)) refuse();
    },
  };
}

const Listed = z.looseObject({ document_id: z.string() });

function damaged(client: Client, path: string, reason: string, cause?: unknown): ApiError {
  const url = client.url(path);
  return new ApiError(
    "server-error",
    `list documents: GET ${url}: unexpected response (${reason})`,
    {
      method: "GET",
      url,
      hints: ["the list of documents is damaged or incomplete: run the command again"],
      cause,
    },
  );
}

function storedIdIn(element: string): string | undefined {
  const value: unknown = JSON.parse(element);
  if (nestsTooDeep(value, element)) return undefined;
  const listed = Listed.safeParse(value);
  return listed.success ? listed.data.document_id : undefined;
}

function pathOf({ dialect }: Client, ccPairId: number | undefined): string {
  const { ingestedDocuments, pairDocuments } = dialect.paths;
  const path = ccPairId === undefined ? ingestedDocuments : pairDocuments?.(ccPairId);
  if (path !== undefined) return path;
  const whose = ccPairId === undefined ? "documents" : "the documents of a pair";
  throw new CliError("not-found", `the ${dialect.name} dialect cannot list ${whose}`);
}

/**
 * The ids under which the service stores the documents of a pair, or without a pair all documents
 * that were ingested, redacted, in batches. The response is not paged and may be long, so it is
 * never in memory as a whole. An error may follow ids: the list counts only after its end. Throws
 * ApiError (`auth` also for an unknown pair, `server-error` for a list that is cut or damaged), and
 * CliError `not-found` if the dialect cannot list.
 */
export async function* listDocuments(
  client: Client,
  ccPairId: number | undefined,
): AsyncGenerator<string[], void> {
  const path = pathOf(client, ccPairId);
  const { status, body } = await client.raw({
    what: "list documents",
    policy: "longList",
    method: "GET",
    path,
    key: "apiKey",
  });
  const splitter = createElementSplitter();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const readIds = (read: () => readonly string[]): string[] => {
    try {
      return read().map((element) => {
        const id = storedIdIn(element);
        if (id === undefined) throw new TypeError("an element without document_id");
        return client.secrets.redact(id);
      });
    } catch (error) {
      throw damaged(client, path, "not a JSON list of documents", error);
    }
  };
  try {
    for await (const chunk of body) {
      // 206 is a part of the list: its absent documents are not gone.
      if (status !== 200) throw damaged(client, path, `status ${status}`);
      const ids = readIds(() => splitter.push(decoder.decode(chunk, { stream: true })));
      if (ids.length > 0) yield ids;
    }
  } catch (error) {
    if (error instanceof ApiError && error.exit === "unreachable") {
      throw damaged(client, path, `cut: ${error.message}`, error);
    }
    throw error;
  }
  readIds(() => {
    decoder.decode();
    splitter.end();
    return [];
  });
}
