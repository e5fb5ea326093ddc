import type { Page, Parsed } from "../../reader.ts";
import { getDocument, type Pdf, type PdfPage, type PdfPiece, type PdfTask } from "unpdf/pdfjs";
import { CliError } from "../../../../errors.ts";
import { checkStreams } from "./pdf-streams.ts";
import { pageText } from "./pdf-text.ts";
import { frontMatterOf } from "../properties.ts";

// The page tree may contain one page any number of times. So a file of a few kilobytes can claim
// any number of pages.
const maxPages = 20_000;
const maxChars = 32 * 1024 * 1024;
const maxMs = 3 * 60_000;

class PdfError extends Error {}

function open(bytes: Uint8Array): PdfTask {
  return getDocument({
    data: bytes,
    // Run no code, fetch nothing, log nothing.
    isEvalSupported: false,
    enableXfa: false,
    useWorkerFetch: false,
    useWasm: false,
    useSystemFonts: false,
    disableFontFace: true,
    stopAtErrors: false,
    verbosity: 0,
  });
}

/** The remaining characters of one file, and the deadline. */
interface Limits {
  chars: number;
  untilMs: number;
}

/** Reads piece by piece: pdf.js waits for the reader, so that an endless page can be stopped. */
async function readPage(page: PdfPage, limits: Limits): Promise<string> {
  const pieces: PdfPiece[] = [];
  const reader = page.streamTextContent().getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done || !value) return pageText(pieces);
    for (const piece of value.items) {
      pieces.push(piece);
      // A piece without text also needs memory.
      limits.chars -= 1 + (piece.str?.length ?? 0);
    }
    if (limits.chars < 0) throw new PdfError("its text is larger than the limit for one document");
    if (performance.now() > limits.untilMs)
      throw new PdfError(`reading it took more than ${maxMs / 60_000} minutes`);
  }
}

const writtenFields = ["text", "combobox", "listbox"];

/** What a person wrote into the form, as `Name: value`, by the number of the page. */
async function readForm(pdf: Pdf, limits: Limits): Promise<Map<number, string[]>> {
  const lines = new Map<number, string[]>();
  const fields = Object.entries((await pdf.getFieldObjects()) ?? {});
  for (const [name, places] of fields) {
    // A field may stand on several places, with one value.
    const place = places.find(({ type = "" }) => writtenFields.includes(type));
    if (!place || place.password || place.hidden || place.page === undefined) continue;
    const { value, page } = place;
    const text = (Array.isArray(value) ? value.join(", ") : String(value ?? "")).trim();
    if (text === "") continue;
    limits.chars -= name.length + text.length;
    if (limits.chars < 0) throw new PdfError("its text is larger than the limit for one document");
    lines.set(page + 1, [...(lines.get(page + 1) ?? []), `${name}: ${text}`]);
  }
  return lines;
}

async function readPages(pdf: Pdf): Promise<Page[]> {
  if (pdf.numPages > maxPages) throw new PdfError(`it has more than ${maxPages} pages`);
  const limits = { chars: maxChars, untilMs: performance.now() + maxMs };
  const form = await readForm(pdf, limits);
  const pages: Page[] = [];
  for (let number = 1; number <= pdf.numPages; number++) {
    const page = await pdf.getPage(number);
    const written = form.get(number) ?? [];
    const read = await readPage(page, limits);
    const text = [read, written.join("\n")].filter((each) => each !== "").join("\n\n");
    page.cleanup();
    pages.push({ text, label: `Page ${number}`, fragment: `page=${number}` });
  }
  return pages;
}

/** `D:20240501093000+02'00'` (ISO 32000-1, 7.9.4) as ISO 8601; undefined for anything else. */
function isoDate(text: unknown): string | undefined {
  const match =
    typeof text === "string" &&
    /^D:(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:(Z)|([+-]\d\d)'?(\d\d)?)?/.exec(text);
  if (!match) return undefined;
  const [, year, month = "01", day = "01", hour = "00", minute = "00", second = "00"] = match;
  const zone = match[8] === undefined ? "Z" : `${match[8]}:${match[9] ?? "00"}`;
  return `${year}-${month}-${day}T${hour}:${minute}:${second}${zone}`;
}

async function readProperties(pdf: Pdf): Promise<Parsed["frontMatter"]> {
  const { info } = await pdf.getMetadata();
  const facts = new Map(Object.entries(info));
  const text = (key: string): string | undefined => {
    const value = facts.get(key);
    return typeof value === "string" ? value : undefined;
  };
  return frontMatterOf({
    title: text("Title"),
    author: text("Author"),
    updated: isoDate(facts.get("ModDate")) ?? isoDate(facts.get("CreationDate")),
    keywords: text("Keywords"),
    subject: text("Subject"),
  });
}

function refuseEmpty(bytes: Uint8Array, path: string): void {
  if (bytes.length > 0) return;
  throw new CliError("usage", `${path}: cannot be read: it is empty`, {
    hints: ["save it again, or exclude it"],
  });
}

function fail(path: string, error: unknown): never {
  if (!(error instanceof Error)) throw error;
  const reasons: Record<string, [reason: string, hint: string]> = {
    PasswordException: ["it is password-protected", "save it without a password"],
    InvalidPDFException: ["it is no PDF, or damaged", "print it to a new PDF, or exclude it"],
  };
  const [reason, hint] = reasons[error.name] ?? [
    error instanceof PdfError ? error.message : "it is damaged",
    "print it to a new PDF, or exclude it",
  ];
  throw new CliError("usage", `${path}: cannot be read: ${reason}`, {
    hints: [hint],
    cause: error,
  });
}

/**
 * Reads a PDF as text by page. Its properties become front matter. A file without any text, e.g. a
 * scan, results in an empty body and the reason. Throws CliError `usage` with `path`. The caller
 * must not use `bytes` afterwards.
 */
export async function readPdf(bytes: Uint8Array, path: string): Promise<Parsed> {
  refuseEmpty(bytes, path);
  const problem = await checkStreams(bytes);
  if (problem !== undefined) fail(path, new PdfError(problem));
  const task = open(bytes);
  try {
    const pdf = await task.promise;
    const pages = await readPages(pdf);
    const frontMatter = await readProperties(pdf);
    const body = pages
      .map(({ text }) => text)
      .filter((text) => text.trim() !== "")
      .join("\n\n");
    const emptyReason = "empty: its pages contain no text; add text to a scan with OCR";
    return { frontMatter, body, bodyLine: 1, isMarkdown: false, warnings: [], pages, emptyReason };
  } catch (error) {
    return fail(path, error);
  } finally {
    await task.destroy();
  }
}
