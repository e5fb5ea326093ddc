import { closeSync, openSync, readSync } from "node:fs";
import { extname } from "node:path";

const word = "application/vnd.openxmlformats-officedocument";
const openDocument = "application/vnd.oasis.opendocument";

/** MIME types by extension. The service derives the kind of a file from them (observed-service.md 5). */
const types: Readonly<Record<string, string>> = {
  ".avif": "image/avif",
  ".bmp": "image/bmp",
  ".csv": "text/csv",
  ".doc": "application/msword",
  ".docx": `${word}.wordprocessingml.document`,
  ".eml": "message/rfc822",
  ".epub": "application/epub+zip",
  ".gif": "image/gif",
  ".heic": "image/heic",
  ".htm": "text/html",
  ".html": "text/html",
  ".jpeg": "image/jpeg",
  ".jpg": "image/jpeg",
  ".json": "application/json",
  ".markdown": "text/markdown",
  ".md": "text/markdown",
  ".mdx": "text/markdown",
  ".odp": `${openDocument}.presentation`,
  ".ods": `${openDocument}.spreadsheet`,
  ".odt": `${openDocument}.text`,
  ".pdf": "application/pdf",
  ".png": "image/png",
  ".ppt": "application/vnd.ms-powerpoint",
  ".pptx": `${word}.presentationml.presentation`,
  ".rtf": "application/rtf",
  ".svg": "image/svg+xml",
  ".tif": "image/tiff",
  ".tiff": "image/tiff",
  ".tsv": "text/tab-separated-values",
  ".txt": "text/plain",
  ".webp": "image/webp",
  ".xls": "application/vnd.ms-excel",
  ".xlsx": `${word}.spreadsheetml.sheet`,
  ".xml": "application/xml",
  ".yaml": "application/yaml",
  ".yml": "application/yaml",
  ".zip": "application/zip",
};

/** First bytes of some formats. */
const signatures: readonly (readonly [pattern: RegExp, type: string])[] = [
  [/^%PDF-/, "application/pdf"],
  [/^\x89PNG\r\n\x1a\n/, "image/png"],
  [/^\xff\xd8\xff/, "image/jpeg"],
  [/^GIF8[79]a/, "image/gif"],
  [/^RIFF[^]{4}WEBP/, "image/webp"],
  [/^PK\x03\x04/, "application/zip"],
];

const sniffedBytes = 4096;

/** Detects the type from the first bytes of a file: a known format, text, or binary. */
function typeOfBytes(start: Uint8Array): string {
  const text = Buffer.from(start).toString("latin1");
  const known = signatures.find(([pattern]) => pattern.test(text));
  if (known) return known[1];
  return text.includes("\0") ? "application/octet-stream" : "text/plain";
}

/** MIME type of a file: from its extension, else from its first bytes. Throws read errors. */
export function contentTypeOf(path: string): string {
  const extension = extname(path).toLowerCase();
  if (Object.hasOwn(types, extension)) return types[extension] ?? "text/plain";
  const file = openSync(path, "r");
  try {
    const start = Buffer.alloc(sniffedBytes);
    return typeOfBytes(start.subarray(0, readSync(file, start, 0, sniffedBytes, 0)));
  } finally {
    closeSync(file);
  }
}
