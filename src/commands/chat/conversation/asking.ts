import { cannotTell } from "../../../output/chat/filter-warnings.ts";
import { writeError } from "../../../output/terminal/errors.ts";
import { dim } from "../../../output/terminal/text.ts";
import { CliError } from "../../../errors.ts";
import type { ChatParameters } from "../../../api/chat/chat.ts";
import { ask } from "../ask.ts";
import { createSaver } from "../save.ts";
import type { Ending } from "../turn.ts";
import type { Exchange, Talk, Work } from "./talk.ts";

/** Where in the session's tree a question goes. */
export interface Place {
  sessionId: string | undefined;
  /** The assistant's message to follow; the service's own last one where absent. */
  parentMessageId?: number | undefined;
  fromRoot?: boolean | undefined;
  /** As `Exchange.after`. */
  after: number | null | undefined;
}

/** Behind the last answer of the session. */
export function nextPlace({ sessionId, parent, last }: Talk): Place {
  return { sessionId, parentMessageId: parent, after: parent ?? last };
}

// Nobody should think that the service has stopped as well: two questions at once race in a session.
function stoppedNote({ client, sessionId }: Talk): string {
  const kept = "stopped; what came of the answer is kept";
  if (client.dialect.paths.stopChat !== undefined || sessionId === undefined) return kept;
  return `${kept} (the service cannot be told, and may go on with it for a while)`;
}

// The hints of one-shot chat name command lines; here the next step is a command of the conversation.
export async function tellFailure(talk: Talk, { outcome, failure }: Ending): Promise<void> {
  const { output } = talk;
  if (outcome.status === "interrupted") {
    await output.note(dim(stoppedNote(talk)));
  } else if (outcome.status === "incomplete") {
    const { message, details } = failure as CliError;
    const hints = ["/retry looks into the session first, and asks again only where it must"];
    await writeError(output, new CliError("incomplete", message, { hints, details }));
  } else await writeError(output, failure);
}

const mostExchanges = 500;

function take(talk: Talk, exchange: Exchange, replaces: boolean): void {
  const { turn } = exchange.ending;
  talk.sessionId = turn.sessionId ?? talk.sessionId;
  talk.parent = undefined;
  talk.mayRepeat = false;
  if (turn.messageId !== null) talk.last = turn.messageId;
  if (replaces) talk.exchanges.pop();
  talk.exchanges.push(exchange);
  // Each holds the documents of its answer.
  if (talk.exchanges.length > mostExchanges) talk.exchanges.shift();
}

/**
 * Asks one question and takes its answer into the conversation, also one that
 * was stopped or failed; what went wrong is told. Throws what a failing output
 * throws.
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
  take(talk, { parameters, ending, after }, replaces);
  for (const warning of ending.outcome.warnings) {
    if (talk.warned.has(warning)) continue;
    if (warning.startsWith(cannotTell)) talk.warned.add(warning);
    await output.warn(warning);
  }
  if (ending.failure !== undefined) await tellFailure(talk, ending);
  // The next prompt stands apart from what was read.
  await output.note();
}
