import { TextDecoder } from "node:util";
import { pageFromHtml } from "../../page/page.ts";
import type { LeftOut } from "../../text/left-out.ts";
import type { Page, Parsed } from "../format.ts";
import { unpack, ZipError, type Archive } from "../office/archive.ts";
import { readPacked, type Packed } from "../office/package.ts";
import { cleanText, frontMatterOf } from "../properties.ts";
import { chaptersHtml } from "./chapters.ts";
import { readBook } from "./package.ts";

/** The text of a chapter: UTF-8, UTF-16 with a byte order mark, or what its first line names. */
function decode(bytes: Uint8Array): string {
  const start = Buffer.from(bytes.subarray(0, 200)).toString("latin1");
  const label = start.startsWith("\xFF\xFE")
    ? "utf-16le"
    : start.startsWith("\xFE\xFF")
      ? "utf-16be"
      : /^(?:\xEF\xBB\xBF)?\s*<\?xml[^>]*\sencoding=["']([\w-]+)/.exec(start)?.[1];
  try {
    return new TextDecoder(label ?? "utf-8").decode(bytes);
  } catch {
    return new TextDecoder("utf-8").decode(bytes);
  }
}

function textsOf(archive: Archive, names: readonly string[], missing: string[]) {
  const found = names.flatMap((name) => {
    const bytes = unpack(archive, name);
    if (!bytes) missing.push(`${name}: no such file`);
    return bytes ? [{ name, text: decode(bytes) }] : [];
  });
  const [first] = names;
  if (first === undefined || found.length > 0) return found;
  throw new ZipError(`it contains none of its chapters (first: ${cleanText(first)})`);
}

function warningOf(path: string, missing: readonly string[]): string {
  const more = missing.length > 3 ? `; and ${missing.length - 3} more` : "";
  return cleanText(`${path}: chapters are left out: ${missing.slice(0, 3).join("; ")}${more}`);
}

function readChapters({ archive, warnings }: Packed, path: string): Parsed {
  const { properties, chapters, missing } = readBook(archive);
  const { html, pictures } = chaptersHtml(textsOf(archive, chapters, missing), path);
  const pages = html.map((each) => pageFromHtml(each, { path }));
  const leftOut: LeftOut[] = [
    ...missing.map((what) => ({ kind: "include" as const, what, line: undefined })),
    ...pictures.map((address) => ({
      kind: "embedded" as const,
      what: address.slice(0, 60),
      line: undefined,
    })),
    ...pages.flatMap((page) => page.leftOut),
  ];
  const headings = pages.flatMap((page) => page.headings);
  const texts = pages.map(({ body }) => body).filter((body) => body !== "");
  const title = headings[0]?.text;
  return {
    frontMatter: frontMatterOf(properties),
    body: texts.join("\n"),
    bodyLine: 1,
    isMarkdown: true,
    headings,
    ids: pages.flatMap(({ ids }) => ids),
    pages: texts.map((text): Page => ({ text, label: "", fragment: "" })),
    warnings: missing.length === 0 ? warnings : [...warnings, warningOf(path, missing)],
    emptyReason: "empty: no text",
    ...(leftOut.length > 0 ? { leftOut } : {}),
    ...(title === undefined ? {} : { title }),
  };
}

/**
 * Reads a book (EPUB 2 and 3) as Markdown: its chapters in reading order, without cover and contents,
 * with the notes at the end of the chapter that refers to them, and links between chapters as links
 * within the document. Pictures are counted: only their words are text. The properties of the book become front matter. Throws CliError `usage` with
 * `path`, also for a book that is protected.
 */
export const readEpub = (bytes: Uint8Array, path: string): Promise<Parsed> =>
  readPacked(bytes, path, { noun: "EPUB", extension: "epub" }, (packed) =>
    readChapters(packed, path),
  );
