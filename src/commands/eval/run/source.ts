import type { DocumentMatch } from "../../../checks/eval/match-document.ts";
import { createDocumentMatch } from "../../../checks/eval/match-document.ts";
import { leakedOf } from "../../../checks/eval/leak-control.ts";
import { rubricsOf } from "../../../checks/eval/judgement.ts";
import type { EvalBasis } from "../../../checks/eval/result.ts";
import type { EvalCase, Judge } from "../../../checks/eval/suite/suite.ts";
import type { Context } from "../../../context.ts";
import { CliError } from "../../../errors.ts";
import { countOf } from "../../../output/terminal/progress.ts";
import type { Output } from "../../../output/terminal/output.ts";
import { openClient, type Connected } from "../../connect.ts";
import { chooseWay, describePassed } from "../../search/ways.ts";
import { findAgents } from "./ask/agents.ts";
import type { Way } from "./ask/ask.ts";
import { filtersOf } from "./ask/ask.ts";
import { createChatWay } from "./ask/ask-chat.ts";
import { createSearchWay } from "./ask/ask-search.ts";
import { openClients } from "./ask/clients.ts";
import { allowCost, costOf } from "./cost.ts";
import { openProject, type Project } from "./folder.ts";
import { openJudges, type JudgeReply } from "./ask/judge.ts";
import { createLive, type Replies } from "./live.ts";
import { createAddPaths } from "./local-paths.ts";
import type { EvalOptions } from "./options.ts";
import { judgesOf, judgeText, type Prepared } from "./prepare.ts";
import { attemptsOf } from "./run-cases.ts";

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
