import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import * as z from "zod/mini";
import { CliError, codeOf, fileProblem } from "../../../errors.ts";
import type { Context } from "../../../context.ts";
import { createByteLines, type ByteLine } from "../../../documents/files/bytes/byte-lines.ts";
import { statsOf } from "../../stats-of.ts";

const text = z.string().check(z.minLength(1));
const id = z.int().check(z.minimum(0), z.maximum(2 ** 31 - 1));

/** A line of the input: the question, and members that override the flags. */
const BatchLine = z.strictObject({
  id: z.optional(z.union([text, z.int()])),
  message: text.check(z.refine((message) => message.trim() !== "")),
  agent: z.optional(z.int()),
  project: z.optional(id),
  session: z.optional(text),
  parent: z.optional(id),
  model: z.optional(z.string().check(z.regex(/^[^/]+\/.+$/))),
  temperature: z.optional(z.number().check(z.minimum(0), z.maximum(2))),
  tools: z.optional(z.array(id)),
  forceTool: z.optional(id),
  sourceTypes: z.optional(z.array(text)),
  documentSets: z.optional(z.array(text)),
  tags: z.optional(z.record(z.string(), z.string())),
  since: z.optional(text),
  deepResearch: z.optional(z.boolean()),
});
export type BatchLine = z.infer<typeof BatchLine>;

/** One line of the input: a question, or the reason why it is invalid. */
export type Asked = { line: number; id?: string } & ({ question: BatchLine } | { problem: string });

const maxLineBytes = 16 * 1024 * 1024;

function problemOf(error: z.core.$ZodError): string {
  const [issue] = error.issues;
  if (issue?.code === "unrecognized_keys") return `unknown member ${issue.keys[0] ?? ""}`;
  const place = issue?.path.join(".") ?? "";
  if (place === "") return "it is not an object";
  return `${place}: ${issue?.code === "invalid_type" ? `expected ${issue.expected}` : "invalid value"}`;
}

function idOf(value: unknown): { id?: string } {
  if (typeof value !== "object" || value === null || !("id" in value)) return {};
  const { id: given } = value;
  return typeof given === "string" || typeof given === "number" ? { id: String(given) } : {};
}

/** Reads one line. Undefined for an empty one. */
function readLine({ line, bytes }: ByteLine): Asked | undefined {
  if (!bytes) return { line, problem: `longer than ${maxLineBytes / 1024 / 1024} MiB` };
  let value: unknown;
  try {
    const json = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (json.trim() === "") return undefined;
    value = JSON.parse(json);
  } catch {
    // The parser's own message quotes the text.
    return { line, problem: "it is not JSON in UTF-8" };
  }
  const parsed = BatchLine.safeParse(value);
  const name = { line, ...idOf(value) };
  if (!parsed.success) return { ...name, problem: problemOf(parsed.error) };
  const { session, agent, project } = parsed.data;
  if (session !== undefined && (agent ?? project) !== undefined) {
    return { ...name, problem: "agent and project apply only to a new session" };
  }
  return { ...name, question: parsed.data };
}

/** Whether `file` can be read again; false for stdin and for a pipe. */
export function isRereadable(cwd: string, file: string): boolean {
  if (file === "-") return false;
  return statsOf(resolve(cwd, file))?.isFile() === true;
}

/** Chunks of the input. Throws the signal's reason on abort, also while it waits for input. */
async function* chunksOf(context: Context, file: string): AsyncGenerator<Uint8Array> {
  const stream = file === "-" ? context.stdin : createReadStream(resolve(context.cwd, file));
  const iterator = stream[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  const { signal } = context;
  let stop = (): void => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason as Error);
    signal.addEventListener("abort", stop, { once: true });
  });
  aborted.catch(() => {});
  try {
    for (;;) {
      signal.throwIfAborted();
      const next = await Promise.race([iterator.next(), aborted]);
      if (next.done) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener("abort", stop);
    // A pipe that is still being read would keep the process alive.
    if (file === "-") context.stdin.stream.destroy();
    else (stream as ReturnType<typeof createReadStream>).destroy();
  }
}

/**
 * Yields the questions of a batch in order, read no faster than consumed. An invalid line
 * yields its problem. `file` is a path, or `-` for stdin. Throws CliError `usage` for a
 * file that cannot be read, and the reason of an abort.
 */
export async function* readBatch(context: Context, file: string): AsyncGenerator<Asked> {
  const splitter = createByteLines(maxLineBytes);
  try {
    for await (const chunk of chunksOf(context, file)) {
      for (const each of splitter.push(chunk)) {
        const asked = readLine(each);
        if (asked) yield asked;
      }
    }
    for (const each of splitter.end()) {
      const asked = readLine(each);
      if (asked) yield asked;
    }
  } catch (error) {
    const code = codeOf(error);
    if (error instanceof CliError || context.signal.aborted || code === undefined) throw error;
    throw new CliError("usage", `--batch: cannot read ${file}: ${fileProblem(code)}`, {
      hints: ["name a file with one question a line"],
      cause: error,
    });
  }
}
