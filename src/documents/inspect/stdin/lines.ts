import { CliError, reasonOf } from "../../../errors.ts";
import { withoutRestriction } from "../../payload/access.ts";
import { createByteLines, type ByteLine } from "../../files/bytes/byte-lines.ts";
import { decodeText } from "../../files/bytes/decode.ts";
import { idIn, parseJsonDocument } from "../../payload/json-document.ts";
import { toPrepared, type PayloadSetup } from "../inspect.ts";
import type { FailedDocument, Prepared } from "../inspection.ts";
import { parseJsonAt } from "../../formats/json.ts";
import { recodeStream, unpackStream } from "../../files/bytes/unpack.ts";

// The same limit as for a file.
const maxLineBytes = 64 * 1024 * 1024;
const linesPerBatch = 64;

/** The name of standard input in messages. */
export const stdinName = "stdin";

const carriageReturn = 0x0d;
const space = 0x20;

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === space || (byte >= 0x09 && byte <= carriageReturn));
}

function toFailed(line: number, error: unknown, id?: string): FailedDocument {
  if (!(error instanceof CliError)) throw error;
  return { kind: "failed", path: "", part: line, id, reason: reasonOf(error) };
}

/** Maps a line that may be a row; without it, each line is a document. */
export type MapLine = (text: string, line: number) => Prepared;

function prepare(
  { line, bytes }: ByteLine,
  setup: PayloadSetup,
  mapLine: MapLine | undefined,
): Prepared {
  const where = `${stdinName}:${line}:1`;
  if (!bytes) {
    throw new CliError("usage", `${where}: the line is longer than 64 MiB`, {
      hints: ["write one document per line, or split the document"],
    });
  }
  const text = decodeText(bytes, where);
  if (mapLine) return mapLine(text, line);
  const start = { path: stdinName, row: line, line, column: 1 };
  const value = parseJsonAt(text, start);
  const id = idIn(value);
  try {
    const jsonDocument = parseJsonDocument(value, where);
    const document = withoutRestriction(jsonDocument, where, setup.dropAccess === true);
    const { ccPairId, notices } = jsonDocument;
    const read = { images: 0, warnings: [], notices, stamp: "", content: "" };
    const pair = ccPairId === undefined ? {} : { ccPairId };
    const reading = { kind: "document" as const, document, line, ...read, ...pair };
    const prepared = toPrepared("", line, reading, setup);
    return prepared.kind === "failed" ? { ...prepared, id } : prepared;
  } catch (error) {
    return toFailed(line, error, id);
  }
}

// Undefined for a blank line.
function prepareLine(
  line: ByteLine,
  setup: PayloadSetup,
  mapLine: MapLine | undefined,
): Prepared | undefined {
  if (line.bytes && isBlank(line.bytes)) return undefined;
  try {
    return prepare(line, setup, mapLine);
  } catch (error) {
    return toFailed(line.line, error);
  }
}

function* batchesOf(
  lines: readonly ByteLine[],
  setup: PayloadSetup,
  mapLine: MapLine | undefined,
): Generator<Prepared[], void> {
  for (let at = 0; at < lines.length; at += linesPerBatch) {
    const batch = lines
      .slice(at, at + linesPerBatch)
      .map((line) => prepareLine(line, setup, mapLine));
    const filled = batch.filter((each) => each !== undefined);
    if (filled.length > 0) yield filled;
  }
}

/**
 * Reads the documents of an NDJSON stream (UTF-8 or UTF-16, also packed with gzip). Each line is an
 * IngestionDocument or `{document, cc_pair_id}`; blank lines are skipped. Yields a line as soon as
 * it arrives, and reads more only on demand. A bad line is `failed` with `stdin:line:column`; the
 * other lines continue. `path` is always ""; `part` is the number of the line. `mapLine` maps lines
 * that may be rows.
 */
export async function* prepareLines(
  chunks: AsyncIterable<Uint8Array>,
  setup: PayloadSetup,
  mapLine?: MapLine,
): AsyncGenerator<Prepared[], void> {
  const lines = createByteLines(maxLineBytes);
  try {
    const bytes = recodeStream(unpackStream(chunks, stdinName), stdinName);
    for await (const chunk of bytes) {
      yield* batchesOf(lines.push(chunk), setup, mapLine);
    }
  } catch (error) {
    yield [toFailed(0, error)];
    return;
  }
  yield* batchesOf(lines.end(), setup, mapLine);
}
