import type { Page, Parsed } from "../format.ts";
import { getDocument, type Pdf, type PdfPage, type PdfPiece, type PdfTask } from "unpdf/pdfjs";
import { CliError, codeOf } from "../../../errors.ts";
import { frontMatterOf, cleanText } from "../properties.ts";
import { constants, createInflate, inflateSync } from "node:zlib";

// Limit for all unpacked streams together, without images (text, fonts, objects). pdf.js unpacks a
// whole page and has no limit of its own.
const maxUnpackedBytes = 256 * 1024 * 1024;
// Limit for one stream: it is in memory as a whole, and twice while it grows.
const maxStreamBytes = 64 * 1024 * 1024;
const maxLayers = 3;
const sampleBytes = 512;
// The maximum of deflate (zlib.net/zlib_tech.html).
const maxRatio = 1032;
const dictionaryBytes = 1024;

/** Whether a zlib header is at `start`: deflate, and a check over both bytes (RFC 1950, 2.2). */
function isPacked(bytes: Buffer, start: number): boolean {
  const [first = 0, second = 0] = bytes.subarray(start, start + 2);
  return (first & 15) === 8 && (first * 256 + second) % 31 === 0;
}

/** Finds streams that may be packed with deflate: offsets of their first byte and of their end. */
function findStreams(bytes: Buffer): [number, number][] {
  const found: [number, number][] = [];
  for (let at = bytes.indexOf("stream"); at !== -1;) {
    let start = at + 6;
    if (bytes[start] === 0x0d) start++;
    if (bytes[start] === 0x0a) start++;
    const next = bytes.indexOf("endstream", start);
    const end = next === -1 ? bytes.length : next;
    const before = bytes.subarray(Math.max(0, at - dictionaryBytes), at).toString("latin1");
    const dictionary = before.slice(before.lastIndexOf(" obj") + 1);
    // Images are never unpacked for text, and may be large.
    const isImage = /\/Subtype\s*\/Image\b/.test(dictionary);
    if (!isImage && isPacked(bytes, start)) found.push([start, end]);
    at = next === -1 ? -1 : bytes.indexOf("stream", end + 9);
  }
  return found;
}

/** Counts the bytes that a stream unpacks to, up to `max`, without storing them. */
function countUnpacked(packed: Buffer, max: number): Promise<number> {
  return new Promise((done) => {
    const inflate = createInflate({ finishFlush: constants.Z_SYNC_FLUSH });
    let count = 0;
    // Broken data counts up to the error: pdf.js also reads it that far.
    inflate.on("error", () => done(count));
    inflate.on("close", () => done(count));
    inflate.on("data", (chunk: Buffer) => {
      count += chunk.length;
      if (count > max) inflate.destroy();
    });
    inflate.end(packed);
  });
}

/**
 * Unpacks the outer layer of a stream that is packed twice: two layers turn two kilobytes into a
 * gigabyte. Few streams are packed twice, so most need only a check of their first bytes.
 */
function innerOf(packed: Buffer, maxBytes: number): Buffer | undefined {
  const options = { finishFlush: constants.Z_SYNC_FLUSH };
  try {
    const start = inflateSync(packed.subarray(0, sampleBytes), options);
    if (!isPacked(start, 0)) return undefined;
    // Text may begin with the same two bytes, but it does not continue like packed data.
    inflateSync(start.subarray(0, sampleBytes), options);
    return inflateSync(packed, { ...options, maxOutputLength: maxBytes });
  } catch (error) {
    return codeOf(error) === "ERR_BUFFER_TOO_LARGE" ? Buffer.alloc(0) : undefined;
  }
}

/** The streams to count, without outer layers; undefined for too many layers or bytes. */
function unwrap(streams: readonly Buffer[], maxBytes: number): Buffer[] | undefined {
  const bare: Buffer[] = [];
  let remaining = maxBytes;
  for (const stream of streams) {
    let packed = stream;
    for (let layer = 0, inner; (inner = innerOf(packed, Math.max(1, remaining))); layer++) {
      remaining -= inner.length;
      if (layer === maxLayers || inner.length === 0 || remaining < 0) return undefined;
      packed = inner;
    }
    bare.push(packed);
  }
  return bare;
}

/**
 * Returns why a PDF must not be opened: its streams unpack to more than the limit. Undefined if it
 * may be opened. Does not detect streams of encrypted files, and streams packed with LZW.
 */
export async function checkStreams(
  bytes: Uint8Array,
  maxBytes = maxUnpackedBytes,
): Promise<string | undefined> {
  const reason = "unpacked, it is larger than the limit for one document";
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found = findStreams(buffer).map(([start, end]) => buffer.subarray(start, end));
  const streams = unwrap(found, maxBytes);
  if (!streams) return reason;
  const maxSizes = streams.map(({ length }) => length * maxRatio);
  const sum = maxSizes.reduce((all, each) => all + each, 0);
  if (sum <= maxBytes && maxSizes.every((each) => each <= maxStreamBytes)) return undefined;
  let remaining = maxBytes;
  for (const stream of streams) {
    const max = Math.min(remaining, maxStreamBytes);
    const count = await countUnpacked(stream, max);
    if (count > max) return reason;
    remaining -= count;
  }
  return undefined;
}

// The distance between lines of a paragraph is 1.1 to 1.5 times their height.
const paragraphGap = 1.8;

// Both parts are words in small letters: no code, no address, no name with a hyphen.
const divided =
  /(?<=^|[\s("“‘])(\p{L}\p{Ll}{1,40})-\n(\p{Ll}{2,40})(?=[.,;:!?)"”’]{0,3}(?:$|\s))/gmu;

/** Joins words that were divided at a line end, unless the page has them with a hyphen elsewhere. */
function joinDivided(text: string): string {
  if (!text.includes("-\n")) return text;
  const compounds = new Set(text.match(/\p{L}{2,41}-\p{Ll}{2,40}/gu));
  return text.replace(divided, (_, start: string, rest: string) => {
    const compound = `${start}-${rest}`;
    return compounds.has(compound) ? compound : start + rest;
  });
}

/** Joins the pieces of a page in their order, with a blank line at each larger gap. */
function pageText(pieces: readonly PdfPiece[]): string {
  let text = "";
  let lastY: number | undefined;
  let isNewLine = false;
  for (const { str = "", hasEOL, height = 0, transform } of pieces) {
    const y = transform?.[5] ?? 0;
    if (str.trim() !== "") {
      const gap = lastY === undefined ? 0 : Math.abs(lastY - y);
      if (isNewLine && height > 0 && gap > paragraphGap * height) text += "\n";
      lastY = y;
      isNewLine = false;
    }
    text += str;
    if (hasEOL) {
      text += "\n";
      isNewLine = true;
    }
  }
  return joinDivided(cleanText(text).replace(/[ \t]+(?=\n|$)/g, ""))
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

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
