import { cannotTell } from "../../../output/chat/filter-warnings.ts";
import { hasAnswer, turnsOf } from "../../../output/chat/turn/answer.ts";
import { writeError } from "../../../output/terminal/errors.ts";
import { dim } from "../../../output/terminal/text.ts";
import { CliError } from "../../../errors.ts";
import type { ChatParameters } from "../../../api/chat/chat.ts";
import { ask } from "../ask.ts";
import { createSaver } from "../save.ts";
import { mayStillAnswer, type Ending } from "../turn.ts";
import type { Exchange, Talk, Work } from "./talk.ts";

/** The place of a question in the session's message tree. */
export interface Place {
  sessionId: string | undefined;
  /** The assistant message to follow; default: the last one that the service knows. */
  parentMessageId?: number | undefined;
  fromRoot?: boolean | undefined;
  /** As `Exchange.after`. */
  after: number | null | undefined;
}

/** The place after the last answer of the session. */
export function nextPlace({ sessionId, parent, last }: Talk): Place {
  return { sessionId, parentMessageId: parent, after: parent ?? last };
}

// The user must know that the service may continue: two questions at once race in a session.
function stoppedNote({ client, sessionId }: Talk, { turn }: Ending): string {
  const hasPart = turnsOf(turn).some(hasAnswer);
  const kept = hasPart
    ? "stopped; the part of the answer that arrived is kept"
    : "stopped before the answer began";
  if (client.dialect.paths.stopChat !== undefined || sessionId === undefined) return kept;
  return `${kept} (this service has no stop request and may continue the answer for a while)`;
}

// One-shot chat hints at command lines; here the next step is a slash command.
export async function writeFailure(talk: Talk, ending: Ending): Promise<void> {
  const { output } = talk;
  const { outcome, failure } = ending;
  if (outcome.status === "interrupted") {
    await output.note(dim(stoppedNote(talk, ending)));
  } else if (outcome.status === "incomplete" || mayStillAnswer(failure)) {
    const { exit, message, details } = failure as CliError;
    const hints = ["/retry looks into the session first, and asks again only if it must"];
    await writeError(output, new CliError(exit, message, { hints, details }));
  } else await writeError(output, failure);
}

const maxExchanges = 500;

function addExchange(talk: Talk, exchange: Exchange, replaces: boolean): void {
  const { turn } = exchange.ending;
  talk.sessionId = turn.sessionId ?? talk.sessionId;
  talk.parent = undefined;
  talk.mayRepeat = false;
  if (turn.messageId !== null) talk.last = turn.messageId;
  if (replaces) talk.exchanges.pop();
  talk.exchanges.push(exchange);
  // Bounds memory: each exchange holds the documents of its answer.
  if (talk.exchanges.length > maxExchanges) talk.exchanges.shift();
}

/**
 * Asks one question and adds its answer to the conversation, also a stopped or failed one.
 * Reports failures. Throws only if the output fails.
 */
export async function askNext(
  talk: Talk,
  work: Work,
  question: Pick<ChatParameters, "message" | "fileDescriptors">,
  place: Place,
  replaces = false,
): Promise<void> {
  const { output, settings, memory } = talk;
  const { after, ...where } = place;
  const parameters = Object.fromEntries(
    Object.entries({ ...settings, ...question, ...where }).filter(([, each]) => each !== undefined),
  ) as unknown as ChatParameters;
  const context = { ...talk.context, signal: work.signal };
  const asked = { parameters, whole: talk.whole, limits: talk.limits };
  const keeper =
    talk.save === undefined ? undefined : createSaver(talk.save, output, talk.view.fileUrl);
  const deps = { output, client: work.client, memory };
  const ending = await ask(context, deps, asked, talk.view, keeper);
  addExchange(talk, { parameters, ending, after }, replaces);
  for (const warning of ending.outcome.warnings) {
    if (talk.warned.has(warning)) continue;
    if (warning.startsWith(cannotTell)) talk.warned.add(warning);
    await output.warn(warning);
  }
  if (ending.failure !== undefined) await writeFailure(talk, ending);
  // An empty line separates the answer from the next prompt.
  await output.note();
}
