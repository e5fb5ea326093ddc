import type { FilterParameters } from "../../api/chat/chat-body.ts";
import { type ChatParameters, stopChat } from "../../api/chat/chat.ts";
import type { Client } from "../../api/client.ts";
import { listAgents } from "../../api/agents.ts";
import { createGate, type Gate } from "../../api/retry/gate.ts";
import { leakedOf } from "../../checks/eval/judge-case.ts";
import type { Reply } from "../../checks/eval/replies.ts";
import type { RetrievedDocument } from "../../checks/eval/result.ts";
import type { EvalCase } from "../../checks/eval/suite/suite.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { nearest } from "../../nearest.ts";
import { citedIds } from "../../output/chat/sources.ts";
import { createTurn, isStopped, type Turn } from "../../output/chat/turn/answer.ts";
import { applyPiece } from "../../output/chat/turn/reply.ts";
import { snippetOf } from "../../output/search/results.ts";
import { endFailure } from "../chat/end-failure.ts";
import { parseSince, parseTags } from "../chat/options.ts";
import { sendQuestion } from "../chat/turn.ts";
import { foundDocuments, type Found } from "../search/found.ts";
import type { Way as SearchWay } from "../search/ways.ts";

/** A client with the gate of its requests: the key of one reader does not stop the others. */
export interface Asking {
  client: Client;
  gate: Gate;
}

export const createAsking = (context: Context, client: Client, concurrency: number): Asking => ({
  client,
  gate: createGate({ ceiling: concurrency, clock: context, signal: context.signal }),
});

/** One way to ask the question of a case. */
export interface Way {
  /** The search way, or `chat`. */
  name: string;
  /** Model calls that one question may cost. */
  calls: number;
  /** Asks once. Throws ApiError and CliError. */
  ask(evalCase: EvalCase, asking: Asking): Promise<Reply>;
}

/** Documents of a search as results. Hidden ones are left out: only administrators find them. */
export function retrievedOf(found: readonly Found[], question: string): RetrievedDocument[] {
  return found
    .filter(({ hidden }) => !hidden)
    .map(({ id, title, link, text }, index) => {
      const snippet = snippetOf(text, question).text;
      return { rank: index + 1, id, title, link, path: null, snippet: snippet || null };
    });
}

/** The filters of a case in the form of a request. Throws CliError `usage`. */
export function filtersOf(
  { filters, place }: EvalCase,
  { dialect }: Pick<Client, "dialect">,
  now: number,
): FilterParameters {
  const { sourceTypes, documentSets, tags, since } = filters;
  const given = `${place.file}:${place.line}: since`;
  return {
    ...(sourceTypes && { sourceTypes: [...sourceTypes] }),
    ...(documentSets && { documentSets: [...documentSets] }),
    ...(tags && { tags: parseTags(tags, dialect) }),
    ...(since !== undefined && { timeCutoff: parseSince(since, now, given) }),
  };
}

/**
 * A gate that notes when the last attempt was admitted: waiting for a slot or after a 429 is no
 * latency of the service.
 */
export function timedGate(
  gate: Gate,
  clock: Pick<Context, "elapsed">,
): { gate: Gate; elapsedMs(): number } {
  let begunMs = clock.elapsed();
  const begin = (): void => {
    begunMs = clock.elapsed();
  };
  const enter = (): Promise<void> | undefined => {
    const waiting = gate.enter();
    if (waiting) return waiting.then(begin);
    begin();
    return undefined;
  };
  return { gate: { ...gate, enter }, elapsedMs: () => clock.elapsed() - begunMs };
}

/** Model calls that are counted for an answer; an agent with tools makes more of its own. */
const callsOfAnswer = 1;

const stopTimeoutMs = 800;

function replyOf(turn: Turn, question: string, elapsedMs: number): Reply {
  const retrieved = retrievedOf(foundDocuments([...turn.documents.values()]), question);
  const byId = new Map(retrieved.map((each) => [each.id, each]));
  const cited = [...new Set(citedIds(turn))].map((id, index) => ({
    ...(byId.get(id) ?? { rank: 0, id, title: null, link: null, path: null, snippet: null }),
    rank: index + 1,
  }));
  return {
    answer: turn.answer,
    retrieved: [...byId.values()],
    cited,
    elapsedMs,
    calls: callsOfAnswer,
  };
}

/**
 * The ids of the agents that cases name by name, looked up with one request; none if all name ids.
 * Throws CliError `not-found` for an unknown or ambiguous name, and where the dialect lists no agents.
 */
async function findAgents(
  client: Client,
  cases: readonly EvalCase[],
): Promise<ReadonlyMap<string, number>> {
  const named = cases.filter(({ agent }) => typeof agent === "string");
  const agents = named.length === 0 ? [] : await listAgents(client);
  const ids = new Map<string, number>();
  for (const { agent, place } of named) {
    const name = String(agent);
    const same = agents.filter((each) => each.name.toLowerCase() === name.toLowerCase());
    const [found] = same;
    if (found && same.length === 1) {
      ids.set(name, found.id);
      continue;
    }
    const near = nearest(
      name,
      agents.map((each) => each.name),
    );
    const known = near === undefined ? "see `knowctl agents list`" : `did you mean "${near}"?`;
    const where = `${place.file}:${place.line}:${place.column}`;
    throw found === undefined
      ? new CliError("not-found", `${where}: there is no agent "${name}"`, { hints: [known] })
      : new CliError("not-found", `${where}: ${same.length} agents have the name "${name}"`, {
          hints: [`name one by its id: ${same.map(({ id }) => id).join(", ")}`],
        });
  }
  return ids;
}

/**
 * Asks the assistant in a new session. Throws CliError `not-found` as findAgents(); a question throws
 * CliError `incomplete` for an answer that is cut, damaged or empty.
 */
export async function createChatWay(
  context: Context,
  own: Client,
  cases: readonly EvalCase[],
): Promise<Way> {
  const agents = await findAgents(own, cases);
  return {
    name: "chat",
    calls: callsOfAnswer,
    async ask(evalCase, { client, gate }) {
      const { agent, question: message } = evalCase;
      const timed = timedGate(gate, context);
      const personaId = typeof agent === "string" ? agents.get(agent) : agent;
      const parameters: ChatParameters = {
        message,
        ...(personaId === undefined ? {} : { personaId }),
        ...filtersOf(evalCase, client, context.now()),
      };
      const turn = createTurn();
      const question = { parameters, whole: false, limits: { gate: timed.gate } };
      try {
        for await (const lines of sendQuestion(client, question)) applyPiece(turn, lines);
      } finally {
        if (context.signal.aborted && turn.sessionId !== null && !isStopped(turn)) {
          await stopChat(client, turn.sessionId, stopTimeoutMs);
        }
      }
      const failure = endFailure(turn);
      if (failure) throw failure;
      return replyOf(turn, message, timed.elapsedMs());
    },
  };
}

/** Documents that are kept of a response: enough to say at which rank a missing one came. */
const fewestDocuments = 10;

/** Asks by a search: the query is the question, word for word. */
export function createSearchWay(context: Context, way: SearchWay): Way {
  return {
    name: way.name,
    calls: way.calls,
    async ask(evalCase, { client, gate }) {
      const { question, k } = evalCase;
      const timed = timedGate(gate, context);
      const query = { query: question, ...filtersOf(evalCase, client, context.now()) };
      const isLeakTest = leakedOf(evalCase).length > 0;
      const limit = isLeakTest ? Number.POSITIVE_INFINITY : k;
      const all = retrievedOf(await way.find(client, query, limit, timed.gate), question);
      const shown = Math.max(k, fewestDocuments);
      return {
        // A leak test keeps all documents; after the first ones only what names them.
        retrieved: isLeakTest
          ? all.map((each, index) => (index < shown ? each : { ...each, snippet: null }))
          : all.slice(0, shown),
        cited: [],
        elapsedMs: timed.elapsedMs(),
        calls: way.calls,
      };
    },
  };
}
