import type { StoredMessage, StoredSession } from "../../../api/session-schemas.ts";
import { CliError } from "../../../errors.ts";
import { answerState, turnOfAnswers } from "../../../output/chat/stored/stored.ts";
import { createTurn, hasAnswer, hasText } from "../../../output/chat/turn/answer.ts";
import type { Piece } from "../../../output/chat/turn/reply.ts";
import type { Question } from "../send.ts";
import { readAnswer } from "../session/read-answer.ts";
import { endUnasked, runTurn, silentRenderer, type Ending } from "../turn.ts";
import type { Run } from "./question.ts";
import type { Open } from "./results.ts";

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
