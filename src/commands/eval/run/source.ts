import { type DocumentMatch, createDocumentMatch } from "../../../checks/eval/match-document.ts";
import { leakedOf } from "../../../checks/eval/leak-control.ts";
import { rubricsOf } from "../../../checks/eval/judgement.ts";
import type { EvalBasis, RetrievedDocument } from "../../../checks/eval/result.ts";
import type { EvalCase, Judge } from "../../../checks/eval/suite/suite.ts";
import type { Context } from "../../../context.ts";
import { CliError } from "../../../errors.ts";
import { countOf } from "../../../output/terminal/progress.ts";
import type { Output } from "../../../output/terminal/output.ts";
import { openClient, type Connected } from "../../connect.ts";
import { chooseWay, describePassed, type Way as SearchWay } from "../../search/ways.ts";
import { type Way, filtersOf, retrievedOf, timedGate } from "./ask/ask.ts";
import { openClients } from "./ask/clients.ts";
import { allowCost, costOf } from "./cost.ts";
import { openProject, type Project } from "./folder.ts";
import { openJudges, type JudgeReply } from "./ask/judge.ts";
import { createLive, type Replies } from "./live.ts";
import { createAddPaths } from "./local-paths.ts";
import type { EvalOptions } from "./options.ts";
import { judgesOf, judgeText, type Prepared } from "./prepare.ts";
import { attemptsOf } from "./run-cases.ts";
import { listAgents } from "../../../api/agents.ts";
import type { Client } from "../../../api/client.ts";
import { nearest } from "../../../nearest.ts";
import { type ChatParameters, stopChat } from "../../../api/chat/chat.ts";
import type { Reply } from "../../../checks/eval/reply.ts";
import { citedIds } from "../../../output/chat/sources.ts";
import { createTurn, isStopped, type Turn } from "../../../output/chat/turn/answer.ts";
import { applyPiece } from "../../../output/chat/turn/reply.ts";
import { endFailure } from "../../chat/end-failure.ts";
import { sendQuestion } from "../../chat/send.ts";
import { foundDocuments } from "../../search/found.ts";

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
function createChatWay(context: Context, agentOf: (evalCase: EvalCase) => number | undefined): Way {
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
        for await (const lines of sendQuestion(client, question)) applyPiece(turn, lines);
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

/** Documents that are kept of a response: enough to say at which rank a missing one came. */
const fewestDocuments = 10;

/** A leak test keeps all documents; after the first ones only what names them. */
function kept(all: readonly RetrievedDocument[], k: number, isLeakTest: boolean) {
  const shown = Math.max(k, fewestDocuments);
  if (!isLeakTest) return all.slice(0, shown);
  return all.map((each, index) => (index < shown ? each : { ...each, snippet: null }));
}

/** Asks by a search: the query is the question, word for word. */
function createSearchWay(context: Context, way: SearchWay): Way {
  return {
    name: way.name,
    calls: way.calls,
    async ask(evalCase, { client, gate }) {
      const { question, k } = evalCase;
      const timed = timedGate(gate, context);
      const query = { query: question, ...filtersOf(evalCase, client, context.now()) };
      const isLeakTest = leakedOf(evalCase).length > 0;
      const limit = isLeakTest ? Number.POSITIVE_INFINITY : k;
      const found = await way.find(client, query, limit, timed.gate);
      return {
        retrieved: kept(retrievedOf(found, question), k, isLeakTest),
        cited: [],
        elapsedMs: timed.elapsedMs(),
        calls: way.calls,
      };
    },
  };
}

/** The id of the agent of a case; undefined for the service's own agent. */
type AgentOf = (evalCase: EvalCase) => number | undefined;

/**
 * Looks up the agents that cases name by name, with one request; none if all name ids. Throws
 * CliError `not-found` for an unknown or ambiguous name, and where the dialect lists no agents.
 */
async function findAgents(client: Client, cases: readonly EvalCase[]): Promise<AgentOf> {
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
    const names = agents.map((each) => each.name);
    const near = nearest(name, names);
    const known = near === undefined ? "see `knowctl agents list`" : `did you mean "${near}"?`;
    const where = `${place.file}:${place.line}:${place.column}`;
    throw found === undefined
      ? new CliError("not-found", `${where}: there is no agent "${name}"`, { hints: [known] })
      : new CliError("not-found", `${where}: ${same.length} agents have the name "${name}"`, {
          hints: [`name one by its id: ${same.map(({ id }) => id).join(", ")}`],
        });
  }
  return ({ agent }) => (typeof agent === "string" ? ids.get(agent) : agent);
}

/** Where the replies of a run come from, ready to be asked. */
export interface ReplySource {
  replies: Replies;
  basis: EvalBasis;
  matches: DocumentMatch;
  /** Absolute. */
  root: string;
  /** Whether the sandbox is asked, as far as responses say. */
  isSandbox(): boolean;
  close(): Promise<void>;
}

export const defaultConcurrency = 4;

/** The basis of a run that is asked now. */
function basisOf(
  { suites, k, rules }: Prepared,
  via: string,
  dialect: EvalBasis["dialect"],
  judge: string | null,
): EvalBasis {
  const named = suites.map(({ file, digest }) => ({ file, digest }));
  return { kind: rules.kind, suites: named, via, k, dialect, judge };
}

async function wayOf(
  context: Context,
  { client, output }: Connected & { output: Output },
  { via }: EvalOptions,
  cases: readonly EvalCase[],
  kind: EvalBasis["kind"],
): Promise<Way> {
  if (kind === "answers") return createChatWay(context, await findAgents(client, cases));
  // The trial has no filters: a document set that is missing says nothing about the way.
  const { way, passed } = await chooseWay(client, { query: cases[0]?.question ?? "" }, via);
  if (passed.length > 0) {
    await output.note(`searching by ${way.name}; not possible: ${describePassed(passed)}`);
  }
  return createSearchWay(context, way);
}

/** Checks what only the configuration knows of a case, before the first question. */
function checkCases(
  context: Context,
  { client, config }: Connected,
  cases: readonly EvalCase[],
): void {
  for (const each of cases) {
    filtersOf(each, client, context.now());
    if (each.profile !== config.profile || leakedOf(each).length === 0) continue;
    const { file, line } = each.place;
    throw new CliError(
      "usage",
      `${file}:${line}: the leak test ${each.id} is asked by ${each.profile}, the profile of the run`,
      { hints: ["run the suite with the profile of somebody who may read the documents"] },
    );
  }
}

/** Says which expectations do not count. */
async function noteUnjudged(
  output: Output,
  cases: readonly EvalCase[],
  { judges, kind }: Prepared["rules"],
): Promise<void> {
  const count = cases.reduce((sum, each) => sum + rubricsOf(each).length, 0);
  if (count === 0 || judges || kind !== "answers") return;
  const verb = count === 1 ? "needs a judge and is" : "need a judge and are";
  await output.note(`${countOf(count, "expectation")} ${verb} left out; to include: --judge`);
}

interface Opened {
  connected: Connected & { output: Output };
  prepared: Prepared;
  options: EvalOptions;
  concurrency: number;
  /** Throws if the run must not start. */
  check: (basis: EvalBasis) => void;
  /** Closed when the run ends, the last one first. */
  closing: (() => Promise<void>)[];
}

/** The judges of the suites, if the judge is on and a case needs one. */
function judgeOf(context: Context, opened: Opened): { name: string | null; judge?: JudgeReply } {
  const { connected, prepared, concurrency, closing } = opened;
  const judges = prepared.rules.judges ? judgesOf(prepared) : new Map<string, Judge>();
  if (judges.size === 0) return { name: null };
  const { options, output } = connected;
  const judge = openJudges(context, { judges, options, output, concurrency });
  closing.push(() => judge.close());
  return { name: judgeText(judges), judge };
}

/** Checks the cases, chooses the way, and asks for the cost. */
async function prepareLive(
  context: Context,
  opened: Opened,
  project: Project,
): Promise<Pick<ReplySource, "replies" | "basis">> {
  const { connected, prepared, options, concurrency, check, closing } = opened;
  const { config, connection, output } = connected;
  const { rules } = prepared;
  const cases = prepared.cases.filter((each) => attemptsOf(each, rules).length > 0);
  checkCases(context, connected, cases);
  const asked = cases.filter(({ profile }) => profile !== config.profile);
  const clients = await openClients(context, connected, asked, { flags: options, concurrency });
  closing.push(() => clients.close());
  const { name, judge } = judgeOf(context, opened);
  await noteUnjudged(output, prepared.cases, rules);
  const way = await wayOf(context, connected, options, cases, rules.kind);
  const basis = basisOf(prepared, way.name, config.dialect, name);
  // Before anybody is asked for model tokens.
  check(basis);
  const cost = costOf(cases, way, rules);
  const budget = await allowCost(context, options, output, { cost, judge: name });
  const by = rules.kind === "answers" ? "" : ` by ${way.name}`;
  await output.note(`asking ${countOf(cost.questions, "question")} at ${connection.baseUrl}${by}`);
  const addPaths = createAddPaths(context, connected, { ...project, state: options.state });
  return {
    replies: createLive(context, { way, clients, budget, judge, addPaths }),
    basis,
  };
}

/**
 * Connects, chooses the way, calls `check`, and asks for the cost. The caller closes the result.
 * Throws CliError `usage` for a bad suite, reader or cost, `not-found` for an unknown agent, and as
 * `check` and the searches.
 */
export async function openService(
  context: Context,
  output: Output,
  options: EvalOptions,
  prepared: Prepared,
  check: (basis: EvalBasis) => void,
): Promise<ReplySource> {
  const { suites } = prepared;
  const { concurrency = defaultConcurrency } = options;
  const project = await openProject(context, options, output, { suites, replayed: undefined });
  const request = { connections: concurrency };
  const opened = await openClient(context, output, project.config, request);
  const closing = [() => opened.client.close()];
  const close = async (): Promise<void> => {
    for (const each of closing.splice(0).toReversed()) await each();
  };
  const connected = { ...opened, output };
  const parts = { connected, prepared, options, concurrency, check, closing };
  try {
    const live = await prepareLive(context, parts, project);
    const { isSandbox } = opened.client;
    const matches = createDocumentMatch(project.names);
    return { ...live, matches, root: project.root, isSandbox, close };
  } catch (error) {
    await close();
    throw error;
  }
}
