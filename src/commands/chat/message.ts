import type { ChatOptions } from "./options.ts";
import { readFileSync } from "node:fs";
import type { Readable } from "node:stream";
import { resolve } from "node:path";
import { untilAborted } from "../concurrency.ts";
import type { Context } from "../../context.ts";
import { CliError, codeOf, fileProblem, usageError } from "../../errors.ts";

const largestInput = 64 * 1024 * 1024;

function notText(name: string, isUtf16: boolean, cause?: unknown): CliError {
  return new CliError("usage", `${name} is not valid UTF-8${isUtf16 ? ", but UTF-16" : ""}`, {
    hints: [`convert it first, e.g. with: iconv -f ${isUtf16 ? "utf-16" : "latin1"} -t utf-8`],
    cause,
  });
}

function decode(bytes: Uint8Array, name: string): string {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    const mark = Buffer.from(bytes.subarray(0, 2)).toString("hex");
    throw notText(name, mark === "fffe" || mark === "feff", error);
  }
  const zeros = text.split("\0").length - 1;
  if (zeros === 0) return text;
  // Without its byte order mark, ASCII in UTF-16 is valid UTF-8, and every second character is NUL.
  if (zeros * 4 >= text.length) throw notText(name, true);
  throw new CliError("usage", `${name} holds a NUL character, which no text has`, {
    hints: ["remove it, e.g. with: tr -d '\\0'", "or send a file with --file"],
  });
}

const silenceMs = 2000;

/**
 * Chunks of a stream. Throws the signal's reason on abort, also while it waits for input. Destroys
 * the stream at the end: a pipe that is still being read would keep the process alive.
 */
export async function* chunksOf(stream: Readable, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const iterator = stream[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  const aborted = untilAborted(signal);
  try {
    for (;;) {
      const next = await Promise.race([iterator.next(), aborted]);
      if (next.done) return;
      yield next.value;
    }
  } finally {
    stream.destroy();
  }
}

/**
 * Reads all of stdin as text. Calls `onSilence` once if nothing arrives for `silenceMs`. Throws
 * the signal's reason on abort.
 */
export async function readStdin(
  { stdin, signal }: Context,
  onSilence: () => void = () => {},
): Promise<string> {
  const timer = setTimeout(onSilence, silenceMs);
  try {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of chunksOf(stdin.stream, signal)) {
      clearTimeout(timer);
      size += chunk.byteLength;
      if (size > largestInput) {
        throw new CliError("usage", `stdin holds more than ${largestInput / 1024 / 1024} MiB`, {
          hints: ["send a file with --file instead"],
        });
      }
      chunks.push(chunk);
    }
    return decode(Buffer.concat(chunks), "stdin");
  } finally {
    clearTimeout(timer);
  }
}

/** The parts of the question; decided before anything is read or sent. */
export interface MessagePlan {
  words: string;
  /** Stdin is the message or, with words, its context. */
  readsStdin: boolean;
}

/**
 * Whether to start a conversation: no message, on a terminal. Throws CliError `usage`
 * if the terminal or the flags make a conversation impossible.
 */
export function beginsConversation(
  { stdin, stdout, stderr, env }: Context,
  args: readonly string[],
  options: Pick<ChatOptions, "input" | "output" | "json">,
): boolean {
  if (args.length > 0 || !stdin.isTTY || !stdout.isTTY || !stderr.isTTY) return false;
  const refuse = (reason: string): CliError =>
    usageError(
      `no message, and ${reason}`,
      'ask one question: knowctl chat "How do I request leave?"',
    );
  if (options.input === false) throw refuse("--no-input allows no conversation");
  if (env["CI"] && env["CI"] !== "0" && env["CI"] !== "false")
    throw refuse("CI allows no conversation");
  if (env["TERM"] === "dumb") throw refuse("this terminal cannot show a conversation");
  if (options.json || (options.output !== undefined && options.output !== "text")) {
    throw refuse("a conversation has only the format text");
  }
  return true;
}

/**
 * Decides from the arguments where the message is. `payload` is the value of `--payload`;
 * `payloadMessage` says whether that file holds a message. Throws CliError `usage` if no
 * message is possible.
 */
export function planMessage(
  context: Context,
  args: readonly string[],
  payload: string | undefined,
  payloadMessage: boolean,
): MessagePlan {
  const words = args.filter((each) => each !== "-").join(" ");
  const asksStdin = args.includes("-");
  if (asksStdin && payload === "-") {
    throw usageError("stdin cannot be both the message and --payload", "use a file for --payload");
  }
  if (asksStdin || words.trim() !== "") return { words, readsStdin: asksStdin };
  if (args.length > 0) throw usageError("the message is empty", 'ask something: knowctl chat "…"');
  if (payloadMessage || payload === "-") return { words, readsStdin: false };
  if (context.stdin.isTTY) {
    throw usageError("no message", 'add one: knowctl chat "How do I request leave?"');
  }
  return { words, readsStdin: true };
}

/**
 * Reads the message: the words, then stdin as context if planned. Calls `onSilence` if stdin
 * stays silent. Throws CliError `usage` for an empty message.
 */
export async function readMessage(
  context: Context,
  plan: MessagePlan,
  onSilence?: () => void,
): Promise<string> {
  if (!plan.readsStdin) return plan.words;
  const piped = (await readStdin(context, onSilence)).replace(/\s+$/, "");
  if (plan.words.trim() !== "") return piped === "" ? plan.words : `${plan.words}\n\n${piped}`;
  if (piped.trim() === "") {
    throw usageError("the message on stdin is empty", 'pipe text in, or ask: knowctl chat "…"');
  }
  return piped;
}

/** Members of a request, from a JSON file or, with `-`, from stdin. Throws CliError `usage`. */
export async function readPayload(
  context: Context,
  file: string,
): Promise<Record<string, unknown>> {
  const name = file === "-" ? "stdin" : file;
  let text: string;
  try {
    text =
      file === "-"
        ? await readStdin(context)
        : decode(readFileSync(resolve(context.cwd, file)), name);
  } catch (error) {
    if (error instanceof CliError || context.signal.aborted) throw error;
    const why = fileProblem(codeOf(error));
    throw usageError(`--payload: cannot read ${name}: ${why}`, "check the path");
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's own message quotes the text.
    throw usageError(`--payload: ${name} is not valid JSON`, 'write an object: {"message": "…"}');
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw usageError(
      `--payload: ${name} is not a JSON object`,
      'write an object: {"message": "…"}',
    );
  }
  return value as Record<string, unknown>;
}
