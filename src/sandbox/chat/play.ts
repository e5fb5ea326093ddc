import { createReadStream, openSync, readdirSync, readSync, closeSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { CliError, codeOf, fileProblem } from "../../errors.ts";
import { readRecording } from "../../recording.ts";
import type { Clock } from "../clock.ts";
import { payloadsOf } from "./model/completion.ts";
import { failure, type Framing, frameLine, type Line, streamOf, unaryReply } from "./packets.ts";
import { detail } from "../http/validation.ts";

export interface PlayOptions {
  /** Recordings, plain streams, or folders of them. */
  paths: readonly string[];
  /** 2 plays twice as fast as recorded; 0 plays without pauses. */
  speed: number;
}

interface PlayableFile {
  name: string;
  path: string;
  /** `recording`: lines with timing. `stream`: raw bytes. `json`: the reply to a question without a stream. */
  kind: "recording" | "stream" | "json";
}

const extensions = new Set([".ndjson", ".jsonl", ".sse", ".txt", ".json"]);

function headOf(path: string): string {
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(4_096);
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, 0)).toString("utf8");
  } finally {
    closeSync(file);
  }
}

function toPlayableFile(path: string): PlayableFile {
  const [first = ""] = headOf(path).split("\n", 1);
  const isRecording = /^\{.*"knowctl"\s*:\s*"recording"/.test(first);
  const kind = isRecording ? "recording" : extname(path) === ".json" ? "json" : "stream";
  return { name: basename(path), path, kind };
}

function filesAt(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isFile() && extensions.has(extname(entry.name)))
    .map((entry) => join(path, entry.name))
    .sort();
}

/** The files to play, in the given order; files of a folder by name. Throws CliError `usage`. */
function listPlayable(paths: readonly string[]): PlayableFile[] {
  return paths.flatMap((path) => {
    try {
      const files = filesAt(path);
      if (files.length > 0) return files.map(toPlayableFile);
    } catch (error) {
      throw new CliError("usage", `--play: cannot read ${path}: ${fileProblem(codeOf(error))}`, {
        cause: error,
      });
    }
    throw new CliError("usage", `--play: ${path} contains no file to play`, {
      hints: [`only files that end with ${[...extensions].join(", ")} are played`],
    });
  });
}

type Bytes = AsyncGenerator<string | Uint8Array>;

interface Playing {
  file: PlayableFile;
  framing: Framing;
  speed: number;
  clock: Clock;
  gone: AbortSignal;
}

async function* withTiming({ file, framing, speed, clock, gone }: Playing): Bytes {
  let at = 0;
  for await (const entry of readRecording(file.path)) {
    const pauseMs = speed > 0 ? (entry.atMs - at) / speed : 0;
    at = Math.max(at, entry.atMs);
    // A client that disconnects ends the sleep early.
    if (pauseMs > 0) await clock.sleep(pauseMs, gone).catch(() => undefined);
    if (gone.aborted) return;
    if ("line" in entry) yield frameLine(entry.line, framing);
    else if ("reply" in entry) yield entry.reply;
  }
}

/** The raw messages of a recorded or plain stream. */
async function* messagesOf({ file }: Playing): AsyncGenerator<string> {
  if (file.kind !== "recording") return yield* payloadsOf(createReadStream(file.path));
  for await (const entry of readRecording(file.path)) if ("line" in entry) yield entry.line;
}

async function* linesOf(playing: Playing): AsyncGenerator<Line> {
  for await (const message of messagesOf(playing)) {
    let value: unknown;
    try {
      value = JSON.parse(message);
    } catch {
      continue;
    }
    if (typeof value === "object" && value !== null) yield value as Line;
  }
}

/** The whole reply that a file holds; undefined for a stream. */
async function wholeReply({
  file,
}: Playing): Promise<string | Uint8Array<ArrayBuffer> | undefined> {
  if (file.kind === "json") return new Uint8Array(await readFile(file.path));
  if (file.kind !== "recording") return undefined;
  for await (const entry of readRecording(file.path)) {
    if ("reply" in entry) return entry.reply;
    if ("line" in entry) break;
  }
  return undefined;
}

async function replyOf(playing: Playing, stream: boolean): Promise<Response> {
  const { file } = playing;
  const whole = await wholeReply(playing);
  if (whole !== undefined) {
    return new Response(whole, { headers: { "content-type": "application/json" } });
  }
  if (stream) {
    return streamOf(file.kind === "recording" ? withTiming(playing) : createReadStream(file.path));
  }
  const { reply, setupError } = await unaryReply(linesOf(playing));
  if (setupError !== undefined) throw detail(400, setupError);
  return Response.json(reply);
}

export interface Question {
  message: string;
  stream: boolean;
  gone: AbortSignal;
}

/**
 * Answers questions from recordings. Each question plays the next file in turn; a question
 * with `play:NAME` plays that file (with or without its extension). The recorded bytes are
 * sent unchanged, also session ids; nothing is stored.
 */
export function createPlayer(options: PlayOptions, framing: Framing, clock: Clock) {
  const files = listPlayable(options.paths);
  let turn = 0;
  const choose = (message: string): PlayableFile | undefined => {
    const wanted = /(?:^|\s)play:(\S+)/.exec(message)?.[1];
    if (wanted === undefined) return files[turn++ % files.length];
    return files.find(({ name }) => name === wanted || name === `${wanted}${extname(name)}`);
  };
  return async ({ message, stream, gone }: Question): Promise<Response> => {
    const file = choose(message);
    if (file) return await replyOf({ file, framing, speed: options.speed, clock, gone }, stream);
    const words = `No recording has this name; available: ${files.map(({ name }) => name).join(", ")}`;
    if (!stream) throw detail(400, words);
    async function* line(): AsyncGenerator<string> {
      yield frameLine(JSON.stringify(failure("VALIDATION_ERROR", words, false)), framing);
    }
    return streamOf(line());
  };
}
