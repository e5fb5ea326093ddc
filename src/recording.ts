import { createReadStream, statSync } from "node:fs";
import { basename } from "node:path";
import { CliError, codeOf, fileProblem } from "./errors.ts";

/**
 * A recorded answer as NDJSON in UTF-8 (docs/recordings.md). Lines are appended
 * while the answer arrives, so a kill loses nothing that was received. The first
 * line is the head, each further line an entry. Readers skip unknown members and
 * entries. A recording contains no address and no credential.
 */
interface RecordingHead {
  knowctl: "recording";
  version: 1;
  /** ISO 8601, UTC. */
  recordedAt: string;
  /** Start of the question, if known. */
  message?: string;
}

/**
 * Something received `atMs` milliseconds after the question was sent; entries of
 * one network chunk share `atMs`. `line`: one message of the stream as the service
 * sent it, without its framing. `reply`: the whole answer of a question that was
 * not streamed. `end`: how the answer ended; `exit` names the exit code of a
 * failure. `end` is the last entry unless a kill cut the recording.
 */
export type RecordedEntry =
  | { atMs: number; line: string }
  | { atMs: number; reply: string }
  | { atMs: number; end: string; exit: string | null };

/** The first line of a recording, with its line end. `message` is truncated. */
export function headLine(recordedAt: Date, message: string): string {
  const head: RecordingHead = {
    knowctl: "recording",
    version: 1,
    recordedAt: recordedAt.toISOString(),
    message: message.slice(0, 1000).toWellFormed(),
  };
  return `${JSON.stringify(head)}\n`;
}

/** One further line of a recording, with its line end. */
export function entryLine(entry: RecordedEntry): string {
  return `${JSON.stringify(entry)}\n`;
}

/** Throws CliError `usage` for a pipe, a socket or a device, of which a reader may wait for ever. */
export function refuseSpecial(path: string, what: string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats || stats.isFile() || stats.isDirectory()) return;
  throw new CliError("usage", `${path} is not a regular file: ${what}`, {
    hints: ["name a file; from a pipe, save it first"],
  });
}

// A line of the stream may have 64 MiB; escaping may double it.
const maxLineBytes = 256 * 1024 * 1024;
const lineFeed = 0x0a;

interface Line {
  text: string;
  /** From 1. */
  number: number;
  /** False for a last line without a line end: a kill may have cut it. */
  closed: boolean;
}

/**
 * Lines of UTF-8 bytes, wherever the chunks end. Memory is bounded by the longest line. Throws
 * what `tooLong` returns for a line above `maxBytes`.
 */
async function* linesOf(
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
  tooLong: (number: number) => Error,
): AsyncGenerator<Line> {
  let open: Buffer[] = [];
  let size = 0;
  let number = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
      open.push(chunk.subarray(start, end));
      yield { text: Buffer.concat(open).toString(), number: ++number, closed: true };
      open = [];
      size = 0;
      start = end + 1;
    }
    open.push(chunk.subarray(start));
    size += chunk.length - start;
    if (size > maxBytes) throw tooLong(number + 1);
  }
  const rest = Buffer.concat(open).toString();
  if (rest !== "") yield { text: rest, number: number + 1, closed: false };
}

function broken(path: string, reason: string): CliError {
  return new CliError("usage", `${basename(path)} is not a recording: ${reason}`, {
    hints: ["create a recording with: knowctl chat --record FILE"],
  });
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    return value as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

function checkHead(path: string, head: Record<string, unknown> | undefined): void {
  if (head?.["knowctl"] !== "recording") throw broken(path, "its first line is not the head");
  if (head["version"] === 1) return;
  throw new CliError("usage", `${basename(path)} was recorded by a newer knowctl`, {
    hints: ["update knowctl, then try again"],
  });
}

function entryOf(value: Record<string, unknown>): RecordedEntry | "unknown" | undefined {
  const { atMs, line, reply, end, exit } = value;
  if (typeof atMs !== "number" || !(atMs >= 0) || atMs === Infinity) return undefined;
  if (typeof line === "string") return { atMs, line };
  if (typeof reply === "string") return { atMs, reply };
  if (typeof end !== "string") return "unknown";
  return { atMs, end, exit: typeof exit === "string" ? exit : null };
}

/**
 * The entries of a recording in order. Throws CliError `usage`, with the line, for
 * a file that cannot be read or is not a recording. Skips a last line that a kill
 * has cut.
 */
export async function* readRecording(path: string): AsyncGenerator<RecordedEntry> {
  try {
    refuseSpecial(path, "a recording is read from a file");
    let isHeadRead = false;
    const lines = linesOf(createReadStream(path), maxLineBytes, (number) =>
      broken(path, `line ${number} is too long`),
    );
    for await (const { text, number, closed } of lines) {
      const value = parseObject(text);
      if (!isHeadRead) checkHead(path, value);
      else {
        const entry = value && entryOf(value);
        if (entry === undefined && closed) throw broken(path, `line ${number} is not an entry`);
        if (entry !== undefined && entry !== "unknown") yield entry;
      }
      isHeadRead = true;
    }
    if (!isHeadRead) throw broken(path, "it is empty");
  } catch (error) {
    const code = codeOf(error);
    if (error instanceof CliError || code === undefined) throw error;
    throw new CliError("usage", `cannot read the recording ${path}: ${fileProblem(code)}`, {
      hints: ["name a file that --record wrote"],
      cause: error,
    });
  }
}
