import type { Client } from "../../api/client.ts";
import type { ChatParameters } from "../../api/chat/chat.ts";
import type { Gate } from "../../api/retry/gate.ts";
import type { SearchQuery } from "../../api/search.ts";
import { createTurn } from "../../output/chat/turn/answer.ts";
import { applyPiece } from "../../output/chat/turn/reply.ts";
import { endFailure } from "../chat/end-failure.ts";
import { sendQuestion } from "../chat/turn.ts";
import { type Found, foundDocuments } from "./found.ts";

/** Asks the query as a question, and returns the documents of the answer in the order received. */
export async function findByChat(
  client: Client,
  query: SearchQuery,
  gate: Gate | undefined,
): Promise<Found[]> {
  const { query: message, sections: _sections, ...filters } = query;
  const given = Object.entries(filters).filter(([, value]) => value !== undefined);
  const parameters: ChatParameters = { message, ...Object.fromEntries(given) };
  const turn = createTurn();
  const question = { parameters, whole: false, limits: { gate } };
  for await (const lines of sendQuestion(client, question)) applyPiece(turn, lines);
  const failure = endFailure(turn);
  if (failure && (failure.exit !== "incomplete" || !turn.stopped)) throw failure;
  return foundDocuments([...turn.documents.values()]);
}
