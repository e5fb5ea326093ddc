import { leakedOf } from "../../checks/eval/judge-case.ts";
import { rubricsOf, type Reply } from "../../checks/eval/replies.ts";
import type { DocumentNames } from "../../checks/eval/documents.ts";
import type { EvalBasis, RetrievedDocument } from "../../checks/eval/result.ts";
import type { EvalCase, Judge } from "../../checks/eval/suite/suite.ts";
import type { Context } from "../../context.ts";
import { ApiError, CliError, reasonOf } from "../../errors.ts";
import type { Output } from "../../output/terminal/output.ts";
import { countOf } from "../../output/terminal/progress.ts";
import { openClient, whileAsking, type Connected } from "../connect.ts";
import { filesInState } from "../files-in-state.ts";
import { allowTokens } from "../search/allow.ts";
import { chooseWay, describePassed } from "../search/ways.ts";
import { openProfile } from "../verify/look/readers.ts";
import {
  createAsking,
  createChatWay,
  createSearchWay,
  filtersOf,
  type Asking,
  type Way,
} from "./ask.ts";
import { attemptsOf, costOf, noReply, type Attempt, type Cost, type Replies } from "./cases.ts";
import { openJudges, type JudgeReply } from "./judge.ts";
import { sumTraffic, type Traffic } from "../../output/report/stored/collector.ts";
import { trafficOf } from "../outcome/measures.ts";
import { openProject, type BeginEval, type Project } from "./project.ts";
import { judgesOf, type EvalOptions, type Prepared } from "./suites.ts";

/** Where the replies of a run come from, ready to be asked. */
export interface ReplySource {
  replies: Replies;
  basis: EvalBasis;
  names: DocumentNames;
  /** Absolute. */
  root: string;
  /** Whether the sandbox is asked, as far as responses say. */
  isSandbox(): boolean;
  /** The requests to the service, of all readers; absent for a recording. */
  traffic?: () => Traffic;
  close(): Promise<void>;
}

export const defaultConcurrency = 4;

/** Counts model calls against an upper bound. */
interface Budget {
  /**
   * Reserves calls before they are made; false if they would pass the bound, and from then on: a
   * cheaper question of a later case would use up what is left for nothing.
   */
  take(calls: number): boolean;
  /** Returns calls that were reserved and not made. */
  giveBack(calls: number): void;
  readonly bound: number;
}

function createBudget(bound: number): Budget {
  let left = bound;
  let isUsedUp = false;
  return {
    bound,
    take(calls) {
      isUsedUp ||= calls > left;
      if (isUsedUp) return false;
      left -= calls;
      return true;
    },
    giveBack(calls) {
      left += calls;
    },
  };
}

/** Announces the model calls of a run, and returns their bound. Throws as allowTokens(). */
async function allowCost(
  context: Context,
  options: EvalOptions,
  output: Output,
  { cases, questions, calls, judgeCalls }: Cost,
  judge: string | null,
): Promise<Budget> {
  if (calls + judgeCalls === 0) return createBudget(Number.POSITIVE_INFINITY);
  const repeated = questions > cases ? `, ${countOf(questions, "question")} with repetitions` : "";
  const judged =
    judge === null ? "" : `; ${judge} judges answers: ${countOf(judgeCalls, "model call")}`;
  const announcement = `This run costs model tokens. ${countOf(cases, "case")}${repeated}: up to ${countOf(calls, "model call")} of the service${judged}.`;
  const request = { announcement, calls: calls + judgeCalls, question: "Continue?" };
  return createBudget(await allowTokens(context, options, output, request));
}

type AddPaths = (documents: readonly RetrievedDocument[]) => Promise<RetrievedDocument[]>;

/**
 * Adds the local file to each document where the suite knows it (`known`) or the state, which is asked
 * once for each id.
 */
function createAddPaths(
  context: Context,
  connected: Connected,
  { root, known }: Project,
  { state }: EvalOptions,
): AddPaths {
  const paths = new Map<string, string | null>(known);
  return async (documents) => {
    const ids = documents.flatMap(({ id }) => (id === null || paths.has(id) ? [] : [id]));
    if (ids.length > 0) {
      const found = await filesInState(context, { root, state }, connected, ids);
      for (const id of ids) paths.set(id, found.get(id) ?? null);
    }
    return documents.map((each) => ({
      ...each,
      path: each.path ?? (each.id === null ? null : (paths.get(each.id) ?? null)),
    }));
  };
}

/** Whether no later question of this key can succeed; the client has retried already. */
function endsRun(error: CliError, { filters }: EvalCase): boolean {
  if (!(error instanceof ApiError)) return false;
  // A service refuses a document set that does not exist as it refuses a key.
  const isAboutSet = error.status === 403 && (filters.documentSets ?? []).length > 0;
  return !isAboutSet && (error.exit === "auth" || error.exit === "unreachable");
}

interface LiveParts {
  way: Way;
  /** The profile of the run. */
  own: Asking;
  /** By the profiles that cases name. */
  readers: ReadonlyMap<string, Asking>;
  budget: Budget;
  /** Undefined unless the judge is on. */
  judge: JudgeReply | undefined;
  addPaths: AddPaths;
}

/** Replies of the service. A question that fails is a reply with an error. */
function createLive(context: Context, parts: LiveParts): Replies {
  const { way, own, readers, budget, judge, addPaths } = parts;
  let stopped: CliError | undefined;

  const ask = async (evalCase: EvalCase, attempt: Attempt): Promise<Reply> => {
    const reader = attempt === "control" ? own : readers.get(evalCase.profile ?? "");
    const asking = reader ?? own;
    const startedMs = context.elapsed();
    try {
      const reply = await way.ask(evalCase, asking);
      const [retrieved, cited] = [await addPaths(reply.retrieved), await addPaths(reply.cited)];
      return { ...reply, retrieved, cited };
    } catch (error) {
      if (context.signal.aborted) return noReply("not answered: the run was interrupted");
      if (!(error instanceof CliError)) throw error;
      if (asking === own) {
        if (endsRun(error, evalCase)) stopped ??= error;
        stopped ??= asking.gate.state().stopped;
      }
      return noReply(reasonOf(error), context.elapsed() - startedMs, way.calls);
    }
  };

  return {
    stopped: () => stopped,
    async get(evalCase, attempt) {
      if (context.signal.aborted) return noReply("not asked: the run was interrupted");
      if (stopped) return noReply(`not asked: the run ended early: ${stopped.message}`);
      const judging = attempt === "control" ? undefined : judge;
      const judgeCalls = judging === undefined ? 0 : rubricsOf(evalCase).length;
      if (!budget.take(way.calls + judgeCalls)) {
        return noReply(
          `not asked: the budget of ${countOf(budget.bound, "model call")} does not suffice`,
        );
      }
      const reply = await ask(evalCase, attempt);
      if (judging === undefined || judgeCalls === 0) return reply;
      if (reply.error !== undefined) {
        budget.giveBack(judgeCalls);
        return reply;
      }
      const judgements = await judging.judge(evalCase, reply.answer ?? "");
      return { ...reply, judgements, calls: reply.calls + judgeCalls };
    },
  };
}

async function wayOf(
  context: Context,
  place: Connected,
  { via }: EvalOptions,
  cases: readonly EvalCase[],
  kind: EvalBasis["kind"],
): Promise<Way> {
  const { client, output } = place;
  if (kind === "answers") {
    return await whileAsking(place, () => createChatWay(context, client, cases));
  }
  // The trial has no filters: a document set that is missing says nothing about the way.
  const { way, passed } = await whileAsking(place, () =>
    chooseWay(client, { query: cases[0]?.question ?? "" }, via),
  );
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
async function noteUnjudged(output: Output, { cases, rules }: Prepared): Promise<void> {
  const count = cases.reduce((sum, each) => sum + rubricsOf(each).length, 0);
  if (count === 0 || rules.judges || rules.kind !== "answers") return;
  const verb = count === 1 ? "needs a judge and is" : "need a judge and are";
  await output.note(`${countOf(count, "expectation")} ${verb} left out; to include: --judge`);
}

/** What is closed when the run ends, the last one first. */
type Closing = (() => Promise<void>)[];

/**
 * Opens a client for each other profile that the cases name. Throws CliError `usage` for a profile with
 * the key of the run, or of another service, and the errors of the configuration.
 */
async function openReaders(
  context: Context,
  { connection, config, output }: Connected,
  cases: readonly EvalCase[],
  flags: EvalOptions,
  closing: Closing,
): Promise<ReadonlyMap<string, Asking>> {
  const readers = new Map<string, Asking>();
  for (const { profile = config.profile, place } of cases) {
    if (profile === config.profile || readers.has(profile)) continue;
    const given = `${place.file}:${place.line}: profile`;
    const client = await openProfile(context, output, { profile, given, own: connection, flags });
    closing.push(() => client.close());
    readers.set(profile, createAsking(context, client, concurrencyOf(flags)));
  }
  return readers;
}

const concurrencyOf = ({ concurrency = defaultConcurrency }: EvalOptions): number => concurrency;

/** The judges in words, with their addresses: `grader at https://models.example.com/v1`. */
function judgeText(judges: ReadonlyMap<string, Judge>): string | null {
  const texts = [...judges.values()].map(({ model, baseUrl }) => `${model} at ${baseUrl}`);
  return texts.length === 0 ? null : [...new Set(texts)].join(", ");
}

/** Checks the cases, chooses the way, and asks for the cost. */
async function prepareLive(
  context: Context,
  connected: Connected,
  project: Project,
  { prepared, options, check, closing }: OpenRequest & { closing: Closing },
): Promise<Pick<ReplySource, "replies" | "basis" | "traffic">> {
  const { config, client, output } = connected;
  const { rules, named: suites, k } = prepared;
  const concurrency = concurrencyOf(options);
  const cases = prepared.cases.filter((each) => attemptsOf(each, rules).length > 0);
  checkCases(context, connected, cases);
  const readers = await openReaders(context, connected, cases, options, closing);
  const judges = rules.judges ? judgesOf(prepared) : new Map<string, Judge>();
  const judge =
    judges.size === 0
      ? undefined
      : openJudges(context, { judges, options: connected.options, output, concurrency });
  if (judge) closing.push(() => judge.close());
  await noteUnjudged(output, prepared);
  const way = await wayOf(context, connected, options, cases, rules.kind);
  const name = judgeText(judges);
  const basis = {
    kind: rules.kind,
    suites,
    via: way.name,
    k,
    dialect: config.dialect,
    judge: name,
  };
  // Before anybody is asked for model tokens.
  check(basis);
  const cost = costOf(cases, way, rules);
  const budget = await allowCost(context, options, output, cost, name);
  const by = rules.kind === "answers" ? "" : ` by ${way.name}`;
  const { baseUrl } = connected.connection;
  await output.note(`asking ${countOf(cost.questions, "question")} at ${baseUrl}${by}`);
  const addPaths = createAddPaths(context, connected, project, options);
  const own = createAsking(context, client, concurrency);
  const traffic = (): Traffic =>
    sumTraffic([own, ...readers.values()].map(({ gate }) => trafficOf(gate)));
  const replies = createLive(context, { way, own, readers, budget, judge, addPaths });
  return { replies, basis, traffic };
}

interface OpenRequest {
  options: EvalOptions;
  prepared: Prepared;
  begin: BeginEval;
  /** Throws if the run must not start. */
  check: (basis: EvalBasis) => void;
}

/**
 * Connects, chooses the way, calls `check`, and asks for the cost. The caller closes the result.
 * Throws CliError `usage` for a bad suite, reader or cost, `not-found` for an unknown agent, and as
 * `check` and the searches.
 */
export async function openService(
  context: Context,
  output: Output,
  request: OpenRequest,
): Promise<ReplySource> {
  const { prepared, options, begin } = request;
  const project = await openProject(context, options, output, prepared.suites, { begin });
  const connections = concurrencyOf(options);
  const opened = await openClient(context, output, project.config, { connections });
  const closing: Closing = [() => opened.client.close()];
  const close = async (): Promise<void> => {
    for (const each of closing.splice(0).toReversed()) await each();
  };
  try {
    const live = await prepareLive(context, opened, project, { ...request, closing });
    const { isSandbox } = opened.client;
    return { ...live, names: project.names, root: project.root, isSandbox, close };
  } catch (error) {
    await close();
    throw error;
  }
}
