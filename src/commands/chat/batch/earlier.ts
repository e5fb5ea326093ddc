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
import * as z from "zod/mini";
import { catch as orElse } from "zod/mini";

const maxLineBytes = 256 * 1024 * 1024;

/** The result of an earlier run for a question without an answer. */
export interface Open {
  sessionId: string | null;
  userMessageId: number | null;
  messageId: number | null;
  /** The service may have received the question: asking again may repeat it. */
  mayBeReceived: boolean;
}

/**
 * What earlier runs have told of a question; undefined for nothing. `digest` is from
 * questionDigest().
 */
export type FindEarlier = (
  asked: { line: number; id?: string },
  digest: string | undefined,
) => "answered" | Open | undefined;

const made = orElse(z.array(z.unknown()), []);
const Answer = z.object({
  answer: orElse(z.string(), ""),
  toolCalls: orElse(z.array(z.object({ images: made, fileIds: made })), []),
});
const id = orElse(z.nullable(z.int()), null);
/** A line of an earlier run, as far as it is of use. */
const Result = z.object({
  ...Answer.shape,
  type: z.literal("result"),
  line: z.number(),
  id: z.optional(z.string()),
  fingerprint: z.string(),
  status: z.string(),
  sessionId: orElse(z.nullable(z.string().check(z.minLength(1))), null),
  userMessageId: id,
  messageId: id,
  error: orElse(z.nullable(z.object({ exit: z.string() })), null),
  answers: orElse(z.array(Answer), []),
});
type Result = z.infer<typeof Result>;

function parse(bytes: Buffer | undefined): Result | undefined {
  try {
    return Result.safeParse(JSON.parse(bytes?.toString() ?? "")).data;
  } catch {
    // A kill may have cut the last line; its question is asked again.
    return undefined;
  }
}

function isAnswered({ status, answers, ...first }: Result): boolean {
  const all = [first, ...answers].map(({ answer, toolCalls: tools }) => ({ answer, tools }));
  return status === "ok" && all.every(hasAnswer);
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

const keyOf = (asked: { line: number; id?: string | undefined }, digest: string): string =>
  JSON.stringify([asked.id ?? asked.line, digest]);

const hints = ["use a results file that an earlier --batch has written"];
/** How each line of results begins. */
const lineStart = '{"version":';

/**
 * Reads the results of earlier runs. If a question has several results, an answer wins, else
 * the last result. Throws CliError `usage` for a file that cannot be read,
 * and for one that has lines but no result.
 */
export async function readResults(cwd: string, file: string): Promise<FindEarlier> {
  const known = new Map<string, "answered" | Open>();
  let otherLines = 0;
  refuseSpecial(resolve(cwd, file), "--resume reads the results of an earlier batch");
  try {
    const chunks: AsyncIterable<Uint8Array> = createReadStream(resolve(cwd, file));
    for await (const { bytes } of byteLinesOf(chunks, maxLineBytes)) {
      const result = parse(bytes);
      if (!result) {
        // A kill may have cut the first line.
        if (!bytes?.toString().startsWith(lineStart)) otherLines++;
        continue;
      }
      const key = keyOf(result, result.fingerprint);
      const { sessionId, userMessageId, messageId, status, error } = result;
      const mayBeReceived = status !== "error" || !notReceived.has(error?.exit ?? "");
      if (isAnswered(result)) known.set(key, "answered");
      else if (known.get(key) !== "answered") {
        known.set(key, { sessionId, userMessageId, messageId, mayBeReceived });
      }
    }
  } catch (error) {
    throw new CliError("usage", `--resume: cannot read ${file}: ${fileProblem(codeOf(error))}`, {
      hints,
      cause: error,
    });
  }
  if (known.size === 0 && otherLines > 0) {
    throw new CliError("usage", `--resume: ${file} holds no result of a batch`, { hints });
  }
  return (asked, digest) => (digest === undefined ? undefined : known.get(keyOf(asked, digest)));
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
