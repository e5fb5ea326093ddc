import { createHash } from "node:crypto";
import { type ChatOptions, checkOptions, parametersOf, switchOf } from "../options.ts";
import type { ChatParameters } from "../../../api/chat/chat.ts";
import type { Gate } from "../../../api/retry/gate.ts";
import type { Connected } from "../../connect.ts";
import type { View } from "../ask.ts";
import { chunksOf } from "../message.ts";
import type { Question } from "../turn.ts";
import { findSession, type SessionPlace } from "../session/find-session.ts";
import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import * as z from "zod/mini";
import { CliError, codeOf, fileProblem, usageError } from "../../../errors.ts";
import type { Context } from "../../../context.ts";
import { byteLinesOf, type ByteLine } from "../../../documents/files/bytes/byte-lines.ts";
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
type BatchLine = z.infer<typeof BatchLine>;

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

/**
 * Yields the questions of a batch in order, read no faster than consumed. An invalid line
 * yields its problem. `file` is a path, or `-` for stdin. Throws CliError `usage` for a
 * file that cannot be read, and the reason of an abort.
 */
export async function* readBatch(context: Context, file: string): AsyncGenerator<Asked> {
  const { cwd, stdin, signal } = context;
  const stream = file === "-" ? stdin.stream : createReadStream(resolve(cwd, file));
  try {
    for await (const line of byteLinesOf(chunksOf(stream, signal), maxLineBytes)) {
      const asked = readLine(line);
      if (asked) yield asked;
    }
  } catch (error) {
    const code = codeOf(error);
    if (error instanceof CliError || signal.aborted || code === undefined) throw error;
    throw new CliError("usage", `--batch: cannot read ${file}: ${fileProblem(code)}`, {
      hints: ["name a file with one question a line"],
      cause: error,
    });
  }
}

/** What all questions of a run share. */
export interface Run {
  context: Context;
  connected: Connected;
  options: ChatOptions;
  gate: Gate;
  files: ChatParameters["fileDescriptors"];
  sessionId: string | undefined;
  /** Where the session of a line is looked up. */
  place: SessionPlace;
  view: View;
  /** Aborts the questions in flight. */
  abortAll(reason: unknown): void;
}

/** Refuses arguments that a batch does not support. Throws CliError `usage`. */
export function checkBatch(args: readonly string[], options: ChatOptions): void {
  checkOptions(options);
  if (args.length > 0) {
    throw usageError("--batch reads its questions from the file", "leave out the message");
  }
  const format = options.flagSources?.["output"] === "flag" ? options.output : undefined;
  if (format !== undefined && format !== "ndjson") {
    throw usageError(`--batch writes ndjson, not ${format}`, "leave out --output");
  }
}

/** Options by the members of a line that override them, as they are. */
const overrides = {
  agent: "agent",
  project: "project",
  session: "session",
  parent: "parent",
  model: "model",
  temperature: "temperature",
  forceTool: "forceTool",
  sourceTypes: "sourceType",
  documentSets: "documentSet",
  since: "since",
  deepResearch: "deepResearch",
} as const satisfies Partial<Record<keyof BatchLine, keyof ChatOptions>>;

const startsNew = ({ agent, project }: BatchLine): boolean => (agent ?? project) !== undefined;

/** The flags, with the overrides of one line. */
function optionsFor(options: ChatOptions, line: BatchLine): ChatOptions {
  const { session, continue: last, provider, modelVersion, ...rest } = options;
  const merged: ChatOptions = {
    ...rest,
    ...(startsNew(line) ? {} : { session, continue: last }),
    ...(line.model === undefined ? { provider, modelVersion } : {}),
  } as ChatOptions;
  for (const [member, option] of Object.entries(overrides)) {
    const value = line[member as keyof BatchLine];
    if (value !== undefined) Object.assign(merged, { [option]: value });
  }
  if (line.tags)
    merged.filterTag = Object.entries(line.tags).map(([key, value]) => `${key}=${value}`);
  if (line.tools) Object.assign(merged, { tool: line.tools, tools: line.tools.length > 0 });
  return merged;
}

/** Refuses a flag that has no effect because the line names a session. Throws CliError `usage`. */
function checkSession(options: ChatOptions, line: BatchLine): void {
  if (line.session === undefined) return;
  const flag = (["agent", "project"] as const).find(
    (name) => options.flagSources?.[name] === "flag",
  );
  if (flag === undefined) return;
  throw new CliError(
    "usage",
    `--${flag} applies only to a new session, but this line names a session`,
    {
      hints: [`leave out --${flag}, or the session`],
    },
  );
}

/** The session that the flags or the line's own members name, before it is looked up. */
export function sessionNamed({ sessionId }: Run, line: BatchLine): string | undefined {
  return line.session ?? (startsNew(line) ? undefined : sessionId);
}

/**
 * Digest of what a line asks of which service, without its id. Another text, flag or setting that
 * shapes the request is another question. Undefined for a line that cannot be asked.
 */
export function questionDigest(run: Run, line: BatchLine): string | undefined {
  const { connected, options, context } = run;
  const { client, config, connection } = connected;
  const own = optionsFor(options, line);
  try {
    const parameters = parametersOf(own, config.chat, client.dialect, context.now());
    const asked = {
      ...parameters,
      baseUrl: connection.baseUrl,
      message: line.message,
      sessionId: sessionNamed(run, line),
      // As written: `7d` is another time in each run.
      timeCutoff: own.since ?? config.chat.since,
      fileIds: options.fileId,
    };
    return createHash("sha256").update(JSON.stringify(asked)).digest("hex").slice(0, 16);
  } catch (error) {
    if (error instanceof CliError) return undefined;
    throw error;
  }
}

/** Builds the question of one line; its members override the flags. Throws `usage`, and as findSession. */
export async function questionOf(run: Run, line: BatchLine): Promise<Question> {
  const { connected, options, context } = run;
  const settings = connected.config.chat;
  checkSession(options, line);
  const merged = optionsFor(options, line);
  const base = parametersOf(merged, settings, connected.client.dialect, context.now());
  const named = line.session === undefined ? undefined : await findSession(run.place, line.session);
  const sessionId = named ?? (startsNew(line) ? undefined : run.sessionId);
  const parameters: ChatParameters = {
    ...base,
    message: line.message,
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(run.files?.length ? { fileDescriptors: run.files } : {}),
  };
  const whole = !switchOf(options, "stream", settings.stream);
  return { parameters, whole, limits: { lineBytes: options.maxPacket, gate: run.gate } };
}
