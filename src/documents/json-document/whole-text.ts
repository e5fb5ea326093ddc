import { CliError, reasonOf } from "../../errors.ts";
import { decodeText } from "../read/decode.ts";
import { stdinName } from "./lines.ts";
import { toPrepared, type PayloadSetup } from "../inspect/inspect.ts";
import type { Prepared } from "../inspect/inspection.ts";
import { mapDocument } from "../map/map-document.ts";
import { refusePointer } from "../read/lfs.ts";
import { loadReader } from "../read/load-reader.ts";
import { formats } from "../read/readers.ts";
import type { FormatName } from "../read/reader.ts";
import { placeInText } from "../payload/secrets.ts";
import type { DocumentSettings } from "../map/settings.ts";
import { normalise } from "../inspect/stamp.ts";
import { unpackStream } from "../read/unpack-stream.ts";

/** Formats of one text, by the names that `--format` takes. */
export type TextFormat = {
  [Name in FormatName]: (typeof formats)[Name]["gives"] extends "text" ? Name : never;
}[FormatName];

/** Whether files of the format hold one text. */
export function isTextFormat(name: FormatName): name is TextFormat {
  return formats[name].gives === "text";
}

async function readAll(chunks: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of unpackStream(chunks, stdinName)) {
    length += chunk.length;
    if (length > maxBytes) {
      throw new CliError("usage", `${stdinName}: more than the ${maxBytes} bytes of a document`, {
        hints: ["split it"],
      });
    }
    pieces.push(chunk);
  }
  return Buffer.concat(pieces);
}

/** Settings for a text that lies nowhere: no rule by path, no file beside it, nothing known to git. */
function settingsOf(settings: DocumentSettings): DocumentSettings {
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
  const read = await loadReader(formats[format]);
  const text = decodeText(bytes, stdinName);
  const parsed = read(text, path);
  // The id that is asked for wins over one in front matter.
  for (const key of settings.keys.id) delete parsed.frontMatter?.data[key];
  const mapped = mapDocument({ path, mtimeMs: 0 }, parsed, settingsOf(settings));
  const bare = { stamp: "", content: "" };
  const placeOf = (secret: string): string => placeInText(stdinName, text, secret);
  if (mapped.kind === "skipped") return toPrepared("", 0, { ...mapped, ...bare }, setup, placeOf);
  const { document, images, warnings } = mapped;
  const reading = { kind: "document" as const, document, images, warnings, ...bare };
  return toPrepared("", 0, reading, setup, placeOf);
}

export interface PreparedText {
  id: string;
  format: TextFormat;
}

/**
 * One document from a stream that holds its text, mapped as a file with the name
 * `id` would be, but for rules by path. Undefined when the stream is empty;
 * `failed` when it cannot be read or mapped.
 */
export async function prepareText(
  chunks: AsyncIterable<Uint8Array>,
  given: PreparedText,
  settings: DocumentSettings,
  setup: PayloadSetup,
): Promise<Prepared | undefined> {
  const id = normalise(given.id);
  try {
    const bytes = await readAll(chunks, settings.maxFileBytes);
    if (bytes.length === 0) return undefined;
    const prepared = await prepare(bytes, given, settings, setup);
    return prepared.kind === "failed" ? { ...prepared, id } : prepared;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const reason = reasonOf(error);
    // The mapping knows the text by its id.
    const name = `${id}:`;
    const place = reason.startsWith(name) ? `${stdinName}:${reason.slice(name.length)}` : reason;
    return { kind: "failed", path: "", part: 0, id, reason: place };
  }
}
