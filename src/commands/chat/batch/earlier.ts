import { createReadStream } from "node:fs";
import { refuseSpecial } from "../../../recording.ts";
import { resolve } from "node:path";
import { CliError, codeOf, fileProblem } from "../../../errors.ts";
import { byteLinesOf } from "../../../documents/files/bytes/byte-lines.ts";
import { hasText, createTurn, hasAnswer } from "../../../output/chat/turn/answer.ts";
import type { StoredMessage, StoredSession } from "../../../api/session-schemas.ts";
import { answerState, turnOfAnswers } from "../../../output/chat/stored/stored.ts";
import type { Piece } from "../../../output/chat/turn/reply.ts";
import { type Question, endUnasked, runTurn, silentRenderer, type Ending } from "../turn.ts";
import { readAnswer } from "../session/find-session.ts";
import type { Run } from "./question.ts";

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
    const chunks: AsyncIterable<Uint8Array> = createReadStream(resolve(cwd, file));
    for await (const { bytes } of byteLinesOf(chunks, maxLineBytes)) readResult(bytes);
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

/** The stored answer to a question; undefined if it cannot be identified. */
function storedAnswer(
  { messages }: StoredSession,
  { messageId, userMessageId }: Open,
  { parameters }: Question,
): StoredMessage | undefined {
  const answers = messages.filter(({ message_type }) => message_type === "assistant");
  const known = answers.find((each) => each.message_id === messageId);
  if (known) return known;
  // In a shared session, an earlier question may have the same text.
  const mayMatchText = userMessageId === null && parameters.sessionId === undefined;
  const asked = messages.findLast(({ message_id, message, message_type }) =>
    mayMatchText
      ? message_type === "user" && message === parameters.message
      : message_id === userMessageId,
  );
  return answers.findLast((each) => asked && each.parent_message === asked.message_id);
}

/** Whether the session's run in flight may still produce the answer. */
function mayStillArrive(stored: StoredMessage | undefined): boolean {
  if (!stored) return true;
  const state = answerState(stored);
  return state === "missing" || (state === "complete" && !hasText(stored.message));
}

/** The answer in a session: the stream in flight, or the stored answer. Undefined: no answer. */
async function piecesOf(
  { connected: { client } }: Run,
  open: Open & { sessionId: string },
  question: Question,
): Promise<AsyncIterable<Piece> | undefined> {
  const { sessionId } = open;
  const mayFollow = (session: StoredSession): boolean => {
    const stored = storedAnswer(session, open, question);
    // In a shared session, a run without a known message may answer another question.
    const isOwn = stored !== undefined || question.parameters.sessionId === undefined;
    return mayStillArrive(stored) && isOwn;
  };
  const { session, lines } = await readAnswer(client, sessionId, mayFollow);
  if (lines) return lines;
  if (session.current_run && mayFollow(session)) {
    throw new CliError("incomplete", `session ${sessionId}: the answer is still being generated`, {
      hints: [`wait for it: knowctl sessions recover --poll ${sessionId}`],
    });
  }
  const stored = storedAnswer(session, open, question);
  if (!stored || answerState(stored) !== "complete") return undefined;
  const turn = turnOfAnswers(session, stored);
  if (!hasAnswer(turn)) return undefined;
  return (async function* () {
    yield turn;
  })();
}

/**
 * Recovers the answer to a question of an earlier run from its recorded session, without
 * asking again. Undefined if the service has no whole answer: only asking again helps. If
 * the look-up itself fails, the error is the ending's `failure`.
 */
export async function recoverAnswer(
  run: Run,
  open: Open,
  question: Question,
): Promise<Ending | undefined> {
  const { context, connected } = run;
  const { client } = connected;
  const { sessionId, userMessageId, messageId } = open;
  if (sessionId === null || client.dialect.paths.session === undefined) return undefined;
  const turn = { ...createTurn(), sessionId, userMessageId, messageId };
  try {
    const pieces = await piecesOf(run, { ...open, sessionId }, question);
    if (pieces === undefined) return undefined;
    return await runTurn(context, client, pieces, {
      turn,
      renderer: silentRenderer,
      complete: async () => [`recovered from session ${sessionId}, not asked again`],
    });
  } catch (error) {
    if (error instanceof CliError && error.exit === "not-found") return undefined;
    return await endUnasked(context, error, silentRenderer, turn, client);
  }
}
