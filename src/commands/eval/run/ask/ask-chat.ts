import type { ChatParameters } from "../../../../api/chat/chat.ts";
import { stopChat } from "../../../../api/chat/chat.ts";
import type { Reply } from "../../../../checks/eval/reply.ts";
import type { EvalCase } from "../../../../checks/eval/suite/suite.ts";
import type { Context } from "../../../../context.ts";
import { citedIds } from "../../../../output/chat/sources.ts";
import { createTurn, isStopped, type Turn } from "../../../../output/chat/turn/answer.ts";
import { endFailure } from "../../../chat/end-failure.ts";
import { sendQuestion } from "../../../chat/send.ts";
import { foundDocuments } from "../../../search/found.ts";
import { filtersOf, retrievedOf, timedGate, type Way } from "./ask.ts";

/** Model calls that are counted for an answer; an agent with tools makes more of its own. */
const callsOfAnswer = 1;

const stopTimeoutMs = 800;

function replyOf(turn: Turn, question: string, elapsedMs: number): Reply {
  const documents = new Map(
    retrievedOf(foundDocuments([...turn.documents.values()]), question).map((each) => [
      each.id,
      each,
    ]),
  );
  const cited = [...new Set(citedIds(turn))].map(
    (id) =>
      documents.get(id) ?? { rank: 0, id, title: null, link: null, path: null, snippet: null },
  );
  return {
    answer: turn.answer,
    retrieved: [...documents.values()],
    cited: cited.map((each, index) => ({ ...each, rank: index + 1 })),
    elapsedMs,
    calls: callsOfAnswer,
  };
}

/**
 * Asks the assistant in a new session. `agentOf` is the id of a case's agent. Throws CliError
 * `incomplete` for an answer that is cut, damaged or empty.
 */
export function createChatWay(
  context: Context,
  agentOf: (evalCase: EvalCase) => number | undefined,
): Way {
  return {
    name: "chat",
    calls: callsOfAnswer,
    async ask(evalCase, { client, gate }) {
      const timed = timedGate(gate, context);
      const personaId = agentOf(evalCase);
      const parameters: ChatParameters = {
        message: evalCase.question,
        ...(personaId === undefined ? {} : { personaId }),
        ...filtersOf(evalCase, client, context.now()),
      };
      const turn = createTurn();
      const question = { parameters, whole: false, limits: { gate: timed.gate } };
      try {
        for await (const _batch of sendQuestion(client, question, turn)) {
          // The turn collects the answer.
        }
      } finally {
        if (context.signal.aborted && turn.sessionId !== null && !isStopped(turn)) {
          await stopChat(client, turn.sessionId, stopTimeoutMs);
        }
      }
      const failure = endFailure(turn);
      if (failure) throw failure;
      return replyOf(turn, evalCase.question, timed.elapsedMs());
    },
  };
}
