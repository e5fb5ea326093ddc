import { chatRenderers } from "../../../output/chat/render.ts";
import { eventsOfReply } from "../../../output/chat/turn/reply.ts";
import type { Turn } from "../../../output/chat/turn/answer.ts";
import { citedIds } from "../../../output/chat/sources.ts";
import { createSpinner } from "../../../output/terminal/spinner.ts";
import { dim } from "../../../output/terminal/text.ts";
import type { Batch } from "../send.ts";
import { conclude, runTurn, type Ending } from "../turn.ts";
import { isAnswered } from "./stored.ts";
import type { Exchange, Talk, Work } from "./talk.ts";

/** Draws an answer to an earlier question. The source of `batches` applies them to `turn`. */
export async function drawAnswer(
  talk: Talk,
  work: Work,
  turn: Turn,
  batches: AsyncIterable<Batch>,
): Promise<Ending> {
  const { output } = talk;
  const { format, findFiles: _, ...view } = talk.view;
  const context = { ...talk.context, signal: work.signal };
  const renderer = chatRenderers[format](output, createSpinner(output), { turn, ...view });
  const end = await runTurn(context, batches, { turn, renderer });
  const more = { turn, warnings: [], requestedModel: null };
  const ending = await conclude(context, work.client, renderer, { ...end, ...more });
  await output.note();
  return ending;
}

/** Draws a stored answer. */
export async function showAnswer(talk: Talk, work: Work, { ending }: Exchange): Promise<void> {
  const { turn } = ending;
  const cited = citedIds(turn);
  if (cited.length > 0) turn.localFiles = (await talk.view.findFiles?.(cited)) ?? turn.localFiles;
  async function* stored(): AsyncGenerator<Batch> {
    yield { events: eventsOfReply(turn), lines: [] };
  }
  await drawAnswer(talk, work, turn, stored());
}

const maxQuestionLength = 500;

/** Shows a question and its answer of a continued session. */
export async function showExchange(talk: Talk, work: Work, exchange: Exchange): Promise<void> {
  const { message } = exchange.parameters;
  const question =
    message.length > maxQuestionLength ? `${message.slice(0, maxQuestionLength)}…` : message;
  for (const line of question.split("\n")) await talk.output.note(dim("> ", line));
  if (isAnswered(exchange)) return await showAnswer(talk, work, exchange);
  await talk.output.note(dim("(no complete answer is stored: /retry looks again)"));
}
