import { createReadStream } from "node:fs";
import { refuseSpecial } from "../../../recording.ts";
import { resolve } from "node:path";
import { CliError, codeOf, fileProblem } from "../../../errors.ts";
import { createByteLines } from "../../../documents/files/bytes/byte-lines.ts";
import { hasText } from "../../../output/chat/turn/answer.ts";

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
  /** Questions whose results are all of older versions, which do not record what was asked. */
  withoutDigest: number;
  /** `digest` is from questionDigest(). */
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

/** A result without a digest may belong to another question, so its session is not used. */
const unnamedOpen: Open = {
  sessionId: null,
  userMessageId: null,
  messageId: null,
  mayBeReceived: true,
};

/**
 * Reads the results of earlier runs. If a question has several results, an answer wins, else
 * the last result. A result without a digest leaves its question open. Throws CliError `usage`
 * for a file that cannot be read.
 */
export async function readResults(cwd: string, file: string): Promise<Earlier> {
  const known = new Map<string, "answered" | Open>();
  const named = new Set<string>();
  const unnamed = new Set<string>();
  const splitter = createByteLines(maxLineBytes);
  const readResult = (bytes: Buffer | undefined): void => {
    const value = parse(bytes);
    const name = value?.["type"] === "result" ? nameOf(value) : undefined;
    if (!value || name === undefined) return;
    const digest = value["question"];
    if (typeof digest !== "string") {
      if (isAnswered(value) || openOf(value).mayBeReceived) unnamed.add(name);
      return;
    }
    named.add(name);
    const key = keyOf(name, digest);
    if (known.get(key) !== "answered")
      known.set(key, isAnswered(value) ? "answered" : openOf(value));
  };
  refuseSpecial(resolve(cwd, file), "--resume reads the results of an earlier batch");
  try {
    for await (const chunk of createReadStream(resolve(cwd, file))) {
      for (const { bytes } of splitter.push(chunk as Buffer)) readResult(bytes);
    }
    for (const { bytes } of splitter.end()) readResult(bytes);
  } catch (error) {
    throw new CliError("usage", `--resume: cannot read ${file}: ${fileProblem(codeOf(error))}`, {
      hints: ["use a results file that an earlier --batch has written"],
      cause: error,
    });
  }
  return {
    withoutDigest: [...unnamed].filter((name) => !named.has(name)).length,
    find(asked, digest) {
      const name = nameOf(asked) ?? "";
      const found = digest === undefined ? undefined : known.get(keyOf(name, digest));
      return found ?? (unnamed.has(name) ? unnamedOpen : undefined);
    },
  };
}
