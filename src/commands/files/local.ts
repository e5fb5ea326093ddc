import {
  accessSync,
  constants,
  readFileSync,
  realpathSync,
  statSync,
  closeSync,
  openSync,
  readSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { basename, resolve, extname } from "node:path";
import {
  isPointer,
  mostPointerBytes,
  pointerHint,
  pointerProblem,
} from "../../documents/files/bytes/file-bytes.ts";
import { isInside } from "../../config/find/folders.ts";
import { CliError, codeOf, fileProblem } from "../../errors.ts";

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

/** A checked file to upload, not read yet. */
export interface LocalFile {
  path: string;
  name: string;
  sizeBytes: number;
  /** Its modification time at the check, in ms. */
  changedMs: number;
  /** MIME type. */
  type: string;
}

function inspectFile(path: string): LocalFile | string {
  const stats = statSync(path);
  if (!stats.isFile()) return stats.isDirectory() ? "it is a folder" : "it is not a regular file";
  if (stats.size === 0) return "it is empty";
  accessSync(path, constants.R_OK);
  if (stats.size <= mostPointerBytes && isPointer(readFileSync(path))) {
    return `${pointerProblem}; ${pointerHint}`;
  }
  return {
    path,
    name: basename(path),
    sizeBytes: stats.size,
    changedMs: stats.mtimeMs,
    type: contentTypeOf(path),
  };
}

/**
 * Refuses a link in `cwd` that leads out of it: whoever made the folder chose what it leads to. The
 * real path, and a link elsewhere, are what the person means.
 */
function refuseLinkOut(cwd: string, path: string, given: string, flag: string): void {
  if (!isInside(cwd, path)) return;
  const real = realpathSync(path);
  if (isInside(realpathSync(cwd), real)) return;
  throw new CliError("usage", `${flag}: ${given} is a link that leads out of this folder`, {
    hints: [`if you mean the file that it leads to, name that: ${real}`],
  });
}

/**
 * Checks files before anything is sent. A file that is listed twice counts once. Messages
 * begin with `flag`. Throws CliError `usage`.
 */
export function checkFiles(cwd: string, paths: readonly string[], flag = "--file"): LocalFile[] {
  const files = new Map<string, LocalFile>();
  for (const given of paths) {
    const path = resolve(cwd, given);
    let found: LocalFile | string;
    try {
      found = inspectFile(path);
      refuseLinkOut(cwd, path, given, flag);
    } catch (error) {
      if (error instanceof CliError) throw error;
      found = fileProblem(codeOf(error));
    }
    if (typeof found === "string") {
      throw new CliError("usage", `${flag}: cannot read ${given}: ${found}`, {
        hints: ["name a file with content that you can read"],
      });
    }
    files.set(path, found);
  }
  return [...files.values()];
}

function changed({ name }: LocalFile): CliError {
  return new CliError("local", `${name} changed while it was uploaded`, {
    hints: ["run the command again when no program writes to the file"],
  });
}

/**
 * Streams the bytes of a checked file; calls `onBytes` for each chunk. Throws CliError
 * `local` if the file is missing, cannot be read, or has changed since the check.
 */
export async function* steadyBytes(
  file: LocalFile,
  onBytes: (count: number) => void,
): AsyncGenerator<Uint8Array> {
  const handle = await open(file.path, "r").catch((error: unknown) => {
    throw new CliError("local", `cannot read ${file.name}: ${fileProblem(codeOf(error))}`, {
      hints: ["the file existed when the command started: restore it and run the command again"],
      cause: error,
    });
  });
  try {
    const check = async (): Promise<void> => {
      const { size, mtimeMs } = await handle.stat();
      if (size !== file.sizeBytes || mtimeMs !== file.changedMs) throw changed(file);
    };
    await check();
    for await (const chunk of handle.createReadStream({ autoClose: false })) {
      const bytes = chunk as Buffer;
      yield bytes;
      onBytes(bytes.length);
    }
    await check();
  } finally {
    await handle.close();
  }
}
