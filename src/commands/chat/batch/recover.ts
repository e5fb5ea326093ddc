import { getSession, resumeChat } from "../../../api/sessions.ts";
import type { StoredMessage, StoredSession } from "../../../api/session-schemas.ts";
import { CliError } from "../../../errors.ts";
import { createTurn, hasAnswer, hasText, type Turn } from "../../../output/chat/turn/answer.ts";
import { answerState, turnOfAnswers } from "../../../output/chat/stored/stored.ts";
import { applyLines, type Batch, type Question } from "../send.ts";
import { conclude, runTurn, type Ending } from "../turn.ts";
import type { Run } from "./question.ts";
import type { Open } from "./results.ts";

const silent = { show: async () => {}, finish: async () => {} };

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

function inProgressError(sessionId: string): CliError {
  return new CliError("incomplete", `session ${sessionId}: the answer is still being generated`, {
    hints: [`wait for it: knowctl sessions recover --poll ${sessionId}`],
  });
}

/** The answer in a session: the stream in flight, or the stored answer. Undefined: no answer. */
async function batchesOf(
  { connected: { client } }: Run,
  open: Open & { sessionId: string },
  question: Question,
  turn: Turn,
): Promise<AsyncGenerator<Batch> | undefined> {
  let session = await getSession(client, open.sessionId);
  let stored = storedAnswer(session, open, question);
  // In a shared session, a run without a known message may answer another question.
  const isOwn = stored !== undefined || question.parameters.sessionId === undefined;
  if (mayStillArrive(stored) && session.current_run && isOwn) {
    const events = await resumeChat(client, open.sessionId);
    if (events) {
      return (async function* () {
        for await (const lines of events) yield applyLines(turn, lines);
      })();
    }
    // The run may have ended between the two requests.
    session = await getSession(client, open.sessionId);
    stored = storedAnswer(session, open, question);
    if (mayStillArrive(stored) && session.current_run) throw inProgressError(open.sessionId);
  }
  if (!stored || answerState(stored) !== "complete") return undefined;
  const found = turnOfAnswers(session, stored);
  if (!hasAnswer(found)) return undefined;
  return (async function* () {
    Object.assign(turn, found);
    yield { events: [], lines: [] };
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
  const { sessionId } = open;
  if (sessionId === null || client.dialect.paths.session === undefined) return undefined;
  const turn = createTurn();
  turn.sessionId = sessionId;
  [turn.userMessageId, turn.messageId] = [open.userMessageId, open.messageId];
  const warnings = [`recovered from session ${sessionId}, not asked again`];
  const end = { turn, warnings, requestedModel: null, outputFailure: undefined };
  try {
    const batches = await batchesOf(run, { ...open, sessionId }, question, turn);
    if (batches === undefined) return undefined;
    const ended = await runTurn(context, batches, { turn, renderer: silent });
    return await conclude(context, client, silent, { ...end, ...ended });
  } catch (error) {
    if (error instanceof CliError && error.exit === "not-found") return undefined;
    const failed = { failure: error, timings: { firstTextMs: null, totalMs: 0 } };
    return await conclude(context, client, silent, { ...end, ...failed, warnings: [] });
  }
}
