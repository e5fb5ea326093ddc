import type { Client } from "../../api/client.ts";
import { getSession, resumeChat } from "../../api/sessions.ts";
import type { StoredMessage, StoredSession } from "../../api/session-schemas.ts";
import type { StateFlag } from "../files-in-state.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { createTurn, type Turn } from "../../output/chat/turn/answer.ts";
import { checkSelection } from "../../output/chat/machine.ts";
import type { RenderMode } from "../../output/chat/markdown.ts";
import { chatRenderers, type ChatFormat } from "../../output/chat/render.ts";
import { citedIds } from "../../output/chat/sources.ts";
import { answerState, branchesOf, turnOfAnswers } from "../../output/chat/stored/stored.ts";
import { createSpinner, type Spinner } from "../../output/terminal/spinner.ts";
import { dim } from "../../output/terminal/text.ts";
import { viewOf } from "../chat/ask.ts";
import { selectionOf } from "../chat/options/flag-rules.ts";
import { findSession } from "../chat/session/find-session.ts";
import { formatOf } from "../chat/options/options.ts";
import { indexedSession } from "../chat/session/session-index.ts";
import { conclude, runTurn, type Ending } from "../chat/turn.ts";
import { withPlace, type Place } from "./place.ts";
import type { TurnEvent } from "../../output/chat/turn/turn-event.ts";
import type { ChatEvent } from "../../api/chat-schemas.ts";
import { eventsOfReply } from "../../output/chat/turn/reply.ts";
import { applyLines, type Batch } from "../chat/send.ts";

/** A recovered answer: in progress as a stream, or stored. */
type Found =
  | { kind: "stream"; events: AsyncGenerator<ChatEvent[]> }
  | { kind: "stored"; session: StoredSession; answer: StoredMessage };

function storedEvents(turn: Turn, found: Extract<Found, { kind: "stored" }>): TurnEvent[] {
  Object.assign(turn, turnOfAnswers(found.session, found.answer));
  return eventsOfReply(turn);
}

/** The rest of a stored answer whose beginning a stream has already shown. */
function eventsAfter(shown: string, events: readonly TurnEvent[]): TurnEvent[] {
  return events.flatMap((event): TurnEvent[] => {
    if ((event.model ?? 0) > 0) return [event];
    if (event.type === "text" && event.text.startsWith(shown)) {
      return [{ ...event, text: event.text.slice(shown.length) }];
    }
    if (event.type === "text") return [{ type: "interim", text: shown }, event];
    return event.type === "stop" || event.type === "error" ? [event] : [];
  });
}

/**
 * Yields a recovered answer and applies it to `turn`. If the stream is cut again, `again`
 * finds the stored answer; without `again`, the cut is thrown.
 */
async function* batchesOf(
  found: Found,
  turn: Turn,
  again: (() => Promise<Found>) | undefined,
): AsyncGenerator<Batch> {
  if (found.kind === "stored") {
    yield { events: storedEvents(turn, found), lines: [] };
    return;
  }
  try {
    for await (const lines of found.events) yield applyLines(turn, lines);
  } catch (error) {
    const isCut = error instanceof CliError && error.exit === "incomplete";
    if (!isCut || !again) throw error;
    const { answer } = turn;
    const stored = await again();
    if (stored.kind !== "stored") throw error;
    yield { events: eventsAfter(answer, storedEvents(turn, stored)), lines: [] };
  }
}

export interface SessionsRecoverOptions extends GlobalFlags, StateFlag {
  /** Poll until the answer is complete. */
  poll?: boolean;
  live?: boolean;
  sources?: boolean;
  show?: string;
  render?: RenderMode;
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

/** Whether waiting can help: a run is in flight, or the service is too old to report runs. */
function mayStillArrive(session: StoredSession, answer: StoredMessage | undefined): boolean {
  if (session.current_run) return true;
  const isMissing = answer !== undefined && answerState(answer) === "missing";
  return session.current_run === undefined && isMissing;
}

/** Looks up the answer; undefined if only waiting can help. Returns a stream only with `follows`. */
async function lookUp(place: Place, id: string, follows: boolean): Promise<Found | undefined> {
  const { client } = place;
  let session = await getSession(client, id);
  if (session.current_run && !follows) return undefined;
  if (session.current_run) {
    const events = await resumeChat(client, id);
    if (events) return { kind: "stream", events };
    // The run may have ended between the two requests.
    session = await getSession(client, id);
  }
  const answer = wantedAnswer(place, session);
  if (answer && answerState(answer) !== "missing") return { kind: "stored", session, answer };
  if (mayStillArrive(session, answer)) return undefined;
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
  const limitMs = options.timeout === undefined ? defaultLimitMs : options.timeout * 1000;
  const started = context.elapsed();
  let slept = 0;
  let waitMs = firstWaitMs;
  for (;;) {
    const found = await lookUp(place, id, follows);
    if (found) return found;
    // A request may last longer than a wait.
    const isLate = Math.max(slept, context.elapsed() - started) + waitMs > limitMs;
    if (options.poll !== true || isLate) {
      const late = options.poll === true ? "; the waiting time is over" : "";
      throw incomplete(id, `the answer is still being generated${late}`, [
        `wait for it: knowctl sessions recover --poll ${id}`,
      ]);
    }
    spinner.start("the answer is still being generated");
    await context.sleep(waitMs, context.signal);
    slept += waitMs;
    waitMs = Math.min(waitMs * 1.5, maxWaitMs);
  }
}

function checkedFormat(options: SessionsRecoverOptions): ChatFormat {
  const format = formatOf(options);
  if (format !== "packets") return format;
  throw new CliError("usage", "--output packets: a stored answer has no packets", {
    hints: ["use text, json or ndjson"],
  });
}

function checkDialect({ dialect }: Client, id: string): void {
  if (dialect.paths.session !== undefined) return;
  throw new CliError(
    "not-found",
    `cannot read session ${id}: the ${dialect.name} interface has no endpoint for it`,
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
  const { format: _, findFiles, ...view } = viewOf(context, options, place, format);
  const turn = createTurn();
  turn.sessionId = id;
  const spinner = createSpinner(output);
  spinner.start("looking for the answer");
  const found = await waitForAnswer(context, place, id, spinner, options).catch(
    async (error: unknown) => {
      await spinner.stop();
      throw error;
    },
  );
  const renderer = chatRenderers[format](output, spinner, { turn, ...view });
  // The stream is not followed a second time: its beginning has been shown.
  const again = async (): Promise<Found> => {
    await output.note(dim("the stream was cut again: waiting until the answer is stored"));
    return await waitForAnswer(context, place, id, spinner, options, false);
  };
  const batches = batchesOf(found, turn, options.poll ? again : undefined);
  const end = await runTurn(context, batches, { turn, renderer });
  const cited = citedIds(turn);
  if (findFiles && cited.length > 0) turn.localFiles = await findFiles(cited);
  const isStored = found.kind === "stored";
  const more = { turn, warnings: [], requestedModel: null, isStored };
  return await conclude(context, client, renderer, { ...end, ...more });
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
  const format = checkedFormat(options);
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
