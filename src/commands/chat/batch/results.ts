import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { CliError, codeOf } from "../../../errors.ts";
import { createByteLines } from "../../../documents/read/byte-lines.ts";
import { hasText } from "../../../output/chat/turn/answer.ts";
import type { BatchLine } from "./input.ts";

const maxLineBytes = 256 * 1024 * 1024;

type Members = Record<string, unknown>;

/** The result of an earlier run for a question without an answer. */
export interface Open {
  sessionId: string | null;
  userMessageId: number | null;
  messageId: number | null;
  /** The service may have received the question: asking again may repeat it. */
  mayBeReceived: boolean;
}

/** Results of earlier runs, by question. */
export interface Earlier {
  /** Answers without a question digest: older versions wrote none. */
  withoutDigest: number;
  find(name: { line: number; id?: string }, question: BatchLine): "answered" | Open | undefined;
}

/** Digest of a question without its id. A changed question has another digest. */
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

/** Exit names of failures before the service received the question. */
const notReceived = new Set([
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
    mayBeReceived: result["status"] !== "error" || !notReceived.has(String(exit)),
  };
}

/**
 * Reads the results of earlier runs. If a question has several results, an answer wins, else
 * the last result. Throws CliError `usage` for a file that cannot be read.
 */
export async function readResults(cwd: string, file: string): Promise<Earlier> {
  const known = new Map<string, "answered" | Open>();
  let withoutDigest = 0;
  const splitter = createByteLines(maxLineBytes);
  const readResult = (bytes: Buffer | undefined): void => {
    const value = parse(bytes);
    const name = value?.["type"] === "result" ? nameOf(value) : undefined;
    if (!value || name === undefined) return;
    const key = keyOf(name, value["question"]);
    if (known.get(key) === "answered") return;
    const answered = isAnswered(value);
    if (answered && typeof value["question"] !== "string") withoutDigest += 1;
    known.set(key, answered ? "answered" : openOf(value));
  };
  try {
    for await (const chunk of createReadStream(resolve(cwd, file))) {
      for (const { bytes } of splitter.push(chunk as Buffer)) readResult(bytes);
    }
    for (const { bytes } of splitter.end()) readResult(bytes);
  } catch (error) {
    throw new CliError("usage", `--resume: cannot read ${file}: ${codeOf(error) ?? "failed"}`, {
      hints: ["use a results file that an earlier --batch has written"],
      cause: error,
    });
  }
  return {
    withoutDigest,
    find(asked, question) {
      const name = nameOf(asked) ?? "";
      return known.get(keyOf(name, questionDigest(question))) ?? known.get(keyOf(name, null));
    },
  };
}
