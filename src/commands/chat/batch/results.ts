import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { CliError, codeOf } from "../../../errors.ts";
import { createByteLines } from "../../../documents/read/byte-lines.ts";
import { hasText } from "../../../output/chat/turn/answer.ts";

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
  /** Questions with results of older versions alone, which do not record what was asked. */
  unnamed: number;
  /** `digest` names what is asked, whatever its id or line (question.ts). */
  find(
    name: { line: number; id?: string },
    digest: string | undefined,
  ): "answered" | Open | undefined;
}

function nameOf({ line, id }: { line?: unknown; id?: unknown }): string | undefined {
  if (typeof id === "string") return `id ${id}`;
  return typeof line === "number" ? `line ${line}` : undefined;
}

function keyOf(name: string, digest: string): string {
  return JSON.stringify([name, digest]);
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

/** Of a result that may be one of another question: its session holds no answer to this one. */
const unnamedOpen: Open = {
  sessionId: null,
  userMessageId: null,
  messageId: null,
  mayBeTaken: true,
};

/**
 * Reads the results of earlier runs. Of a question that has several, an answer
 * counts most, else the last one. A result that does not record what was asked
 * leaves its question open. Throws CliError `usage` for a file that cannot
 * be read.
 */
export async function readResults(cwd: string, file: string): Promise<Earlier> {
  const known = new Map<string, "answered" | Open>();
  const named = new Set<string>();
  const unnamed = new Set<string>();
  const splitter = createByteLines(mostLineBytes);
  const take = (bytes: Buffer | undefined): void => {
    const value = parse(bytes);
    const name = value?.["type"] === "result" ? nameOf(value) : undefined;
    if (!value || name === undefined) return;
    const digest = value["question"];
    if (typeof digest !== "string") {
      if (isAnswered(value) || openOf(value).mayBeTaken) unnamed.add(name);
      return;
    }
    named.add(name);
    const key = keyOf(name, digest);
    if (known.get(key) !== "answered")
      known.set(key, isAnswered(value) ? "answered" : openOf(value));
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
    unnamed: [...unnamed].filter((name) => !named.has(name)).length,
    find(asked, digest) {
      const name = nameOf(asked) ?? "";
      const found = digest === undefined ? undefined : known.get(keyOf(name, digest));
      return found ?? (unnamed.has(name) ? unnamedOpen : undefined);
    },
  };
}
