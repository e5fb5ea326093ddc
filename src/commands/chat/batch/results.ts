import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { CliError, codeOf } from "../../../errors.ts";
import { createByteLines } from "../../../documents/read/byte-lines.ts";
import { hasText } from "../../../output/chat/turn/answer.ts";
import type { BatchLine } from "./input.ts";

const mostLineBytes = 256 * 1024 * 1024;

type Members = Record<string, unknown>;

/** What an earlier run has told of a question that it left without an answer. */
export interface Open {
  sessionId: string | null;
  userMessageId: number | null;
  messageId: number | null;
  /** The service may have taken the question: asking again may ask it twice. */
  mayBeTaken: boolean;
}

/** What an earlier run has told, by question. */
export interface Earlier {
  /** Answers that do not say what was asked, as results of older versions do not. */
  unnamed: number;
  find(name: { line: number; id?: string }, question: BatchLine): "answered" | Open | undefined;
}

/** Names what a line asks, whatever its id: a changed question is another one. */
export function questionDigest(line: BatchLine): string {
  const question = JSON.stringify({ ...line, id: undefined });
  return createHash("sha256").update(question).digest("hex").slice(0, 16);
}

function nameOf({ line, id }: { line?: unknown; id?: unknown }): string | undefined {
  if (typeof id === "string") return `id ${id}`;
  return typeof line === "number" ? `line ${line}` : undefined;
}

function keyOf(name: string, digest: unknown): string {
  return JSON.stringify([name, typeof digest === "string" ? digest : null]);
}

function parse(bytes: Buffer | undefined): Members | undefined {
  try {
    const value: unknown = JSON.parse(bytes?.toString() ?? "");
    return typeof value === "object" && value !== null ? (value as never) : undefined;
  } catch {
    // A kill may have cut the last line; its question is asked again.
    return undefined;
  }
}

function isFilled(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

function isAnswer({ answer, toolCalls }: Members): boolean {
  if (typeof answer === "string" && hasText(answer)) return true;
  const calls: unknown[] = Array.isArray(toolCalls) ? toolCalls : [];
  return calls.some((call) => {
    const { images, fileIds } = (call ?? {}) as Members;
    return isFilled(images) || isFilled(fileIds);
  });
}

function isAnswered(result: Members): boolean {
  const answers: unknown = result["answers"];
  if (result["status"] !== "ok" || !isAnswer(result)) return false;
  return !Array.isArray(answers) || answers.every((each) => isAnswer((each ?? {}) as Members));
}

/** Failures before the service took the question. */
const notTaken = new Set([
  "usage",
  "not-configured",
  "auth",
  "unreachable",
  "rate-limited",
  "not-found",
]);

function openOf(result: Members): Open {
  const { sessionId, userMessageId, messageId } = result;
  const { exit } = (result["error"] ?? {}) as Members;
  const idOf = (value: unknown): number | null => (typeof value === "number" ? value : null);
  return {
    sessionId: typeof sessionId === "string" && sessionId !== "" ? sessionId : null,
    userMessageId: idOf(userMessageId),
    messageId: idOf(messageId),
    mayBeTaken: result["status"] !== "error" || !notTaken.has(String(exit)),
  };
}

/**
 * Reads the results of earlier runs. Of a question that has several, an answer
 * counts most, else the last one. Throws CliError `usage` for a file that cannot
 * be read.
 */
export async function readResults(cwd: string, file: string): Promise<Earlier> {
  const known = new Map<string, "answered" | Open>();
  let unnamed = 0;
  const splitter = createByteLines(mostLineBytes);
  const take = (bytes: Buffer | undefined): void => {
    const value = parse(bytes);
    const name = value?.["type"] === "result" ? nameOf(value) : undefined;
    if (!value || name === undefined) return;
    const key = keyOf(name, value["question"]);
    if (known.get(key) === "answered") return;
    const answered = isAnswered(value);
    if (answered && typeof value["question"] !== "string") unnamed += 1;
    known.set(key, answered ? "answered" : openOf(value));
  };
  try {
    for await (const chunk of createReadStream(resolve(cwd, file))) {
      for (const { bytes } of splitter.push(chunk as Buffer)) take(bytes);
    }
    for (const { bytes } of splitter.end()) take(bytes);
  } catch (error) {
    throw new CliError("usage", `--resume: cannot read ${file}: ${codeOf(error) ?? "failed"}`, {
      hints: ["name what an earlier --batch has written"],
      cause: error,
    });
  }
  return {
    unnamed,
    find(asked, question) {
      const name = nameOf(asked) ?? "";
      return known.get(keyOf(name, questionDigest(question))) ?? known.get(keyOf(name, null));
    },
  };
}
