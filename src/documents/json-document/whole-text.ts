import { CliError, reasonOf } from "../../errors.ts";
import { decodeText } from "../read/bytes/decode.ts";
import { stdinName } from "./lines.ts";
import { toPrepared, type PayloadSetup } from "../inspect/inspect.ts";
import type { Prepared } from "../inspect/inspection.ts";
import { mapDocument } from "../map/map-document.ts";
import { refusePointer } from "../read/bytes/lfs.ts";
import { loadReader } from "../read/load-reader.ts";
import { noIncludes } from "../read/parts/includes.ts";
import { formats } from "../read/readers.ts";
import type { FormatName } from "../read/reader.ts";
import type { DocumentSettings } from "../map/settings.ts";
import { normalise } from "../inspect/stamp.ts";
import { unpackStream } from "../read/bytes/unpack-stream.ts";

/** Formats with one text per file, by their names in `--format`. */
export type TextFormat = {
  [Name in FormatName]: (typeof formats)[Name]["gives"] extends "text" ? Name : never;
}[FormatName];

/** Whether files of the format contain one text. */
export function isTextFormat(name: FormatName): name is TextFormat {
  return formats[name].gives === "text";
}

async function readAll(chunks: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of unpackStream(chunks, stdinName)) {
    length += chunk.length;
    if (length > maxBytes) {
      throw new CliError("usage", `${stdinName}: the document is larger than ${maxBytes} bytes`, {
        hints: ["split the document"],
      });
    }
    pieces.push(chunk);
  }
  return Buffer.concat(pieces);
}

/** Settings for what has no file: no rules by path, no images, no date from git or file. */
export function withoutFile(settings: DocumentSettings): DocumentSettings {
  return { ...settings, rules: [], idPrefix: "", updatedAt: undefined, images: "skip" };
}

async function prepare(
  bytes: Buffer,
  { id, format }: PreparedText,
  settings: DocumentSettings,
  setup: PayloadSetup,
): Promise<Prepared> {
  const path = normalise(id);
  refusePointer(bytes, stdinName);
  const readText = await loadReader(formats[format]);
  const text = decodeText(bytes, stdinName);
  const parsed = await readText(text, path, {
    includes: noIncludes,
    componentAttributes: settings.componentAttributes,
    keepsHidden: settings.keepsHidden,
  });
  // The requested id overrides an id in front matter.
  for (const key of settings.keys.id) delete parsed.frontMatter?.data[key];
  const mapped = mapDocument({ path, mtimeMs: 0 }, parsed, withoutFile(settings));
  const read = { source: text, parsed, stamp: "", content: "" };
  if (mapped.kind === "skipped") return toPrepared("", 0, { ...mapped, ...read }, setup);
  const { document, images, warnings } = mapped;
  const reading = { kind: "document" as const, document, images, warnings, ...read };
  return toPrepared("", 0, reading, setup);
}

export interface PreparedText {
  id: string;
  format: TextFormat;
}

/**
 * Reads one document from a stream of its text. Maps it like a file with the name `id`, but without
 * rules by path. Undefined for an empty stream; `failed` when it cannot be read or mapped.
 */
export async function prepareText(
  chunks: AsyncIterable<Uint8Array>,
  target: PreparedText,
  settings: DocumentSettings,
  setup: PayloadSetup,
): Promise<Prepared | undefined> {
  const id = normalise(target.id);
  try {
    const bytes = await readAll(chunks, settings.maxFileBytes);
    if (bytes.length === 0) return undefined;
    const prepared = await prepare(bytes, target, settings, setup);
    return prepared.kind === "failed" ? { ...prepared, id } : prepared;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const reason = reasonOf(error);
    // Messages of the mapping begin with the id.
    const name = `${id}:`;
    const place = reason.startsWith(name) ? `${stdinName}:${reason.slice(name.length)}` : reason;
    return { kind: "failed", path: "", part: 0, id, reason: place };
  }
}
