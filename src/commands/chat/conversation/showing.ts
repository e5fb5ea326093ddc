import { sourceLines } from "../../../output/chat/sources.ts";
import { dim, type Text } from "../../../output/text.ts";
import { isAnswered } from "./stored.ts";
import type { Exchange, Talk } from "./talk.ts";

const longestQuestion = 500;

/** An answer that was stored, drawn as it is; its sources follow as after any answer. */
export async function showAnswer(talk: Talk, { ending }: Exchange): Promise<void> {
  const { output, view } = talk;
  const { answer } = ending.turn;
  await output.write(answer.endsWith("\n") ? answer : `${answer}\n`);
  const lines = view.sources ? sourceLines(ending.turn, 0) : [];
  if (lines.length > 0)
    await output.write("\n", ...lines.flatMap((line): Text[] => [...line, "\n"]));
  await output.flush();
}

/** A question and its answer of a session that is gone on with. */
export async function showExchange(talk: Talk, exchange: Exchange): Promise<void> {
  const { message } = exchange.parameters;
  const question =
    message.length > longestQuestion ? `${message.slice(0, longestQuestion)}…` : message;
  for (const line of question.split("\n")) await talk.output.note(dim("> ", line));
  if (isAnswered(exchange)) await showAnswer(talk, exchange);
  else await talk.output.note(dim("(no complete answer is stored: /retry looks again)"));
}
