import { createReadStream } from "node:fs";
import { basename } from "node:path";
import { CliError, codeOf } from "./errors.ts";

/**
 * A recorded answer: NDJSON, UTF-8, appended to while the answer comes, so that
 * after a kill it holds what had come (docs/recordings.md). The first line is the
 * head, each other one an entry; members and entries that a reader does not know
 * are skipped. Holds no address and no credential.
 */
interface RecordingHead {
  knowctl: "recording";
  version: 1;
  /** ISO 8601, UTC. */
  recordedAt: string;
  /** Beginning of the question, where it is known. */
  message?: string;
}

/**
 * What came, `atMs` milliseconds after the question was sent; entries of one
 * network chunk have the same `atMs`. `line`: one message of the stream as the
 * service sent it, without its framing. `reply`: the whole answer of a question
 * that was not streamed. `end`: how it ended, with the name of the exit code of a
 * failure; the last entry where nothing killed the recording.
 */
export type RecordedEntry =
  | { atMs: number; line: string }
  | { atMs: number; reply: string }
  | { atMs: number; end: string; exit: string | null };

/** The first line of a recording, with its line end. `message` is cut to its beginning. */
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

// A line of the stream may have 64 MiB and doubles where it is escaped.
const mostLineBytes = 256 * 1024 * 1024;
const lineFeed = 0x0a;

interface FileLine {
  text: string;
  /** From 1. */
  number: number;
  /** False for a last line that no line end closes: a kill may have cut it. */
  closed: boolean;
}

/** Lines of a file in chunks of what was read; memory is bounded by the longest line. */
async function* linesOf(path: string): AsyncGenerator<FileLine> {
  let open: Buffer[] = [];
  let size = 0;
  let number = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
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
    if (size > mostLineBytes) throw broken(path, `line ${number + 1} is too long`);
  }
  const rest = Buffer.concat(open).toString();
  if (rest !== "") yield { text: rest, number: number + 1, closed: false };
}

function broken(path: string, reason: string): CliError {
  return new CliError("usage", `${basename(path)} is not a recording: ${reason}`, {
    hints: ["recordings are written by: knowctl chat --record FILE"],
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
  if (head?.["knowctl"] !== "recording") throw broken(path, "its first line does not say so");
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
 * The entries of a recording in order. Throws CliError `usage` for a file that
 * cannot be read or is no recording, with the line; a last line that a kill has
 * cut is left out.
 */
export async function* readRecording(path: string): AsyncGenerator<RecordedEntry> {
  try {
    let isHeadRead = false;
    for await (const { text, number, closed } of linesOf(path)) {
      const value = parseObject(text);
      if (!isHeadRead) checkHead(path, value);
      else {
        const entry = value && entryOf(value);
        if (entry === undefined && closed) throw broken(path, `line ${number} is no entry`);
        if (entry !== undefined && entry !== "unknown") yield entry;
      }
      isHeadRead = true;
    }
    if (!isHeadRead) throw broken(path, "it is empty");
  } catch (error) {
    const code = codeOf(error);
    if (error instanceof CliError || code === undefined) throw error;
    const why = code === "ENOENT" ? "it does not exist" : code;
    throw new CliError("usage", `cannot read the recording ${path}: ${why}`, { cause: error });
  }
}
