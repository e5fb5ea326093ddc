import { CliError, reasonOf } from "../../../errors.ts";
import { decodeText } from "../../files/bytes/decode.ts";
import { toPrepared, type PayloadSetup } from "../inspect.ts";
import type { Prepared } from "../inspection.ts";
import { mapDocument } from "../../map/map-document.ts";
import { refusePointer } from "../../files/bytes/file-bytes.ts";
import { loadReader } from "../../formats/load-reader.ts";
import { noIncludes } from "../../parts/includes.ts";
import { formats, orRefuse } from "../../formats/formats.ts";
import type { Format, FormatName, Parsed } from "../../formats/format.ts";
import { runAlone, type AloneTask } from "../pool.ts";
import type { DocumentSettings, RawSettings } from "../../map/settings.ts";
import { normalise } from "../../files/source-file.ts";
import { unpackStream } from "../../files/bytes/unpack.ts";

/** The name of standard input in messages. */
export const stdinName = "stdin";

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
  const { componentAttributes, keepsHidden } = settings;
  const around = { includes: noIncludes, componentAttributes, keepsHidden };
  const parsed = await orRefuse<Parsed>(formats[format], path, () => readText(text, path, around));
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
 * Reads one document from its bytes. Maps it like a file with the name `id`, but without rules by
 * path. `failed` when it cannot be read or mapped.
 */
export async function prepareBytes(
  bytes: Buffer,
  target: { id: string; format: FormatName },
  settings: DocumentSettings,
  setup: PayloadSetup,
): Promise<Prepared> {
  const { id, format } = target;
  if (!isTextFormat(format)) throw new Error(`${format} is no text`);
  try {
    const prepared = await prepare(bytes, { id, format }, settings, setup);
    return prepared.kind === "failed" ? { ...prepared, id: normalise(id) } : prepared;
  } catch (error) {
    return failedText(error, target);
  }
}

/** What cannot be read of stdin. Throws what is no fault of the text. */
function failedText(error: unknown, target: { id: string }): Prepared {
  if (!(error instanceof CliError)) throw error;
  const id = normalise(target.id);
  const reason = reasonOf(error);
  // Messages of the mapping begin with the id.
  const name = `${id}:`;
  const place = reason.startsWith(name) ? `${stdinName}:${reason.slice(name.length)}` : reason;
  return { kind: "failed", path: "", part: 0, id, reason: place };
}

/** The settings of a run: compiled, as plain data, and its checks as plain data. */
export interface TextSource {
  settings: DocumentSettings;
  raw: RawSettings;
  checks: object | undefined;
}

/**
 * Reads one document from a stream of its text: of a converted format in a thread of `script`.
 * Undefined for an empty stream; `failed` when it cannot be read.
 */
export async function prepareText(
  chunks: AsyncIterable<Uint8Array>,
  target: PreparedText,
  { settings, raw, checks }: TextSource,
  setup: PayloadSetup,
  script: string | URL | undefined,
): Promise<Prepared | undefined> {
  const { isConverted }: Format = formats[target.format];
  try {
    const bytes = await readAll(chunks, settings.maxFileBytes);
    if (bytes.length === 0) return undefined;
    if (isConverted !== true || script === undefined) {
      return await prepareBytes(bytes, target, settings, setup);
    }
    const alone: AloneTask = { kind: "text", bytes, target, pair: setup.pair };
    return await runAlone(script, { alone, settings: raw, checks }, stdinName);
  } catch (error) {
    return failedText(error, target);
  }
}
