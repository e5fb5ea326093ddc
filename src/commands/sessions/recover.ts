import type { ChatEvent } from "../../api/chat-schemas.ts";
import type { Client } from "../../api/client.ts";
import type { StoredMessage, StoredSession } from "../../api/session-schemas.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { checkSelection } from "../../output/chat/machine.ts";
import type { RenderMode } from "../../output/chat/markdown.ts";
import type { ChatFormat } from "../../output/chat/render.ts";
import { answerState, branchesOf, turnOfAnswers } from "../../output/chat/stored/stored.ts";
import { createTurn, type Turn } from "../../output/chat/turn/answer.ts";
import type { Piece } from "../../output/chat/turn/reply.ts";
import { createSpinner, type Spinner } from "../../output/terminal/spinner.ts";
import { dim } from "../../output/terminal/text.ts";
import { addLocalFiles, rendererOf, viewOf } from "../chat/ask.ts";
import { formatOf, selectionOf } from "../chat/options.ts";
import { findSession, readAnswer } from "../chat/session/find-session.ts";
import { indexedSession } from "../chat/session/session-index.ts";
import { runTurn, type Ending } from "../chat/turn.ts";
import type { StateFlag } from "../files-in-state.ts";
import { poll } from "../files/poll.ts";
import { withPlace, type Place } from "./place.ts";

export interface SessionsRecoverOptions extends GlobalFlags, StateFlag {
  /** Poll until the answer is complete. */
  poll?: boolean;
  live?: boolean;
  sources?: boolean;
  show?: string;
  render?: RenderMode;
}

/** A recovered answer: in progress as a stream, or stored. */
type Found = AsyncGenerator<ChatEvent[]> | Turn;

/**
 * Yields a recovered answer. If the stream is cut again, `again` finds the stored answer;
 * without `again`, the cut is thrown.
 */
async function* piecesOf(
  found: Found,
  again: (() => Promise<Found>) | undefined,
): AsyncGenerator<Piece> {
  if ("answer" in found) return yield found;
  try {
    yield* found;
  } catch (error) {
    const isCut = error instanceof CliError && error.exit === "incomplete";
    if (!isCut || !again) throw error;
    const stored = await again();
    if (!("answer" in stored)) throw error;
    yield stored;
  }
}

const firstWaitMs = 1000;
const maxWaitMs = 15_000;
const defaultLimitMs = 900_000;

function incomplete(id: string, why: string, hints: readonly string[]): CliError {
  return new CliError("incomplete", `session ${id}: ${why}`, { hints });
}

/** The answer to the last question from this machine, else the last answer of the current branch. */
function wantedAnswer({ env, owner }: Place, session: StoredSession): StoredMessage | undefined {
  const isAnswer = ({ message_type }: StoredMessage): boolean => message_type === "assistant";
  const { messageId } = indexedSession(env, owner, session.chat_session_id) ?? {};
  const asked = session.messages.find((message) => message.message_id === messageId);
  if (asked && isAnswer(asked)) return asked;
  return branchesOf(session)[0]?.messages.findLast(isAnswer);
}

/** Looks up the answer; undefined if only waiting can help. Returns a stream only with `follows`. */
async function lookUp(place: Place, id: string, follows: boolean): Promise<Found | undefined> {
  const { session, lines } = await readAnswer(place.client, id, () => follows);
  if (lines) return lines;
  if (session.current_run && !follows) return undefined;
  const answer = wantedAnswer(place, session);
  const isMissing = answer !== undefined && answerState(answer) === "missing";
  if (answer && !isMissing) return turnOfAnswers(session, answer);
  // A run is in flight, or the service is too old to report runs.
  if (session.current_run || (session.current_run === undefined && isMissing)) return undefined;
  if (!answer) {
    throw new CliError("not-found", `session ${id} holds no answer`, {
      hints: [`see its messages: knowctl sessions show ${id}`],
    });
  }
  throw incomplete(id, "the service ended the answer early and stored nothing", [
    `only asking again helps: knowctl chat --session ${id} "…"`,
    `see the question: knowctl sessions show ${id}`,
  ]);
}

async function waitForAnswer(
  context: Context,
  place: Place,
  id: string,
  spinner: Spinner,
  options: SessionsRecoverOptions,
  follows = true,
): Promise<Found> {
  const { timeout, poll: polls } = options;
  const limitMs = timeout === undefined ? defaultLimitMs : timeout * 1000;
  const times = { firstMs: firstWaitMs, maxMs: maxWaitMs, limitMs: polls ? limitMs : 0 };
  return await poll(context, times, () => lookUp(place, id, follows), {
    onWait: () => spinner.start("the answer is still being generated"),
    onLate() {
      const late = polls ? "; the waiting time is over" : "";
      return incomplete(id, `the answer is still being generated${late}`, [
        `wait for it: knowctl sessions recover --poll ${id}`,
      ]);
    },
  });
}

function checkDialect({ dialect }: Client, id: string): void {
  if (dialect.paths.session !== undefined) return;
  throw new CliError(
    "not-found",
    `cannot read session ${id}: the ${dialect.name} dialect has no endpoint for it`,
    {
      hints: [
        "look at it on the web page of the service",
        `continue it: knowctl chat --session ${id} "…"`,
      ],
    },
  );
}

async function draw(
  context: Context,
  place: Place,
  id: string,
  options: SessionsRecoverOptions,
  format: ChatFormat,
): Promise<Ending> {
  const { client, output } = place;
  const view = viewOf(context, options, place, format);
  const turn = { ...createTurn(), sessionId: id };
  const spinner = createSpinner(output);
  spinner.start("looking for the answer");
  const found = await waitForAnswer(context, place, id, spinner, options).catch(
    async (error: unknown) => {
      await spinner.stop();
      throw error;
    },
  );
  // The stream is not followed a second time: its beginning has been shown.
  const again = async (): Promise<Found> => {
    await output.note(dim("the stream was cut again: waiting until the answer is stored"));
    return await waitForAnswer(context, place, id, spinner, options, false);
  };
  return await runTurn(context, client, piecesOf(found, options.poll ? again : undefined), {
    turn,
    renderer: rendererOf(output, view, turn, spinner),
    async complete() {
      await addLocalFiles(view, turn);
      return [];
    },
  });
}

/**
 * `sessions recover [ID|last]`: fetches the answer to a question whose stream was cut. Follows
 * an answer in progress from its beginning; reads a complete answer from the session. Never
 * sends the question again. Throws CliError `incomplete` while there is no whole answer.
 */
export async function sessionsRecover(
  context: Context,
  args: string[],
  options: SessionsRecoverOptions,
): Promise<void> {
  const format = formatOf(options);
  const select = selectionOf(options);
  if (select !== undefined) checkSelection(select);
  const [given = "last"] = args;
  await withPlace(context, options, async (place) => {
    const id = await findSession(place, given);
    checkDialect(place.client, id);
    const { failure, outcome } = await draw(context, place, id, options, format);
    for (const warning of outcome.warnings) await place.output.warn(warning);
    if (failure !== undefined) throw failure;
    if (format === "text") {
      await place.output.note(
        dim(`session ${id} · continue with: \`knowctl chat --session ${id} "…"\``),
      );
    }
  });
}
