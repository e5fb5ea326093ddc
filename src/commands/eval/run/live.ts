import { rubricsOf } from "../../../checks/eval/judgement.ts";
import type { CaseReplies, Reply } from "../../../checks/eval/reply.ts";
import type { EvalCase } from "../../../checks/eval/suite/suite.ts";
import type { Context } from "../../../context.ts";
import { ApiError, CliError, reasonOf } from "../../../errors.ts";
import type { Way } from "./ask/ask.ts";
import type { Budget } from "./budget.ts";
import type { Clients } from "./ask/clients.ts";
import type { JudgeReply } from "./ask/judge.ts";
import type { AddPaths } from "./local-paths.ts";

/** An attempt at a case, from 1; `control` asks as the profile of the run. */
export type Attempt = number | keyof Pick<CaseReplies, "control">;

/** Where replies come from: the service, or a recording. Throws only for bugs. */
export interface Replies {
  get(evalCase: EvalCase, attempt: Attempt): Promise<Reply>;
  /** Why the run ended early; undefined while it goes on. */
  stopped(): CliError | undefined;
}

export interface LiveParts {
  way: Way;
  clients: Clients;
  budget: Budget;
  /** Undefined unless the judge is on. */
  judge: JudgeReply | undefined;
  addPaths: AddPaths;
}

/** A reply in place of one that never came. */
export function noReply(error: string, elapsedMs = 0, calls = 0): Reply {
  return { retrieved: [], cited: [], elapsedMs, calls, error };
}

/** Whether no later question of this key can succeed; the client has retried already. */
function endsRun(error: CliError, { filters }: EvalCase): boolean {
  if (!(error instanceof ApiError)) return false;
  // A service refuses a document set that does not exist as it refuses a key.
  const isAboutSet = error.status === 403 && (filters.documentSets ?? []).length > 0;
  return !isAboutSet && (error.exit === "auth" || error.exit === "unreachable");
}

/** Replies of the service. A question that fails is a reply with an error. */
export function createLive(context: Context, parts: LiveParts): Replies {
  const { way, clients, budget, judge, addPaths } = parts;
  let stopped: CliError | undefined;

  const ask = async (evalCase: EvalCase, attempt: Attempt): Promise<Reply> => {
    const asking = attempt === "control" ? clients.own : clients.of(evalCase);
    const startedMs = context.elapsed();
    try {
      const reply = await way.ask(evalCase, asking);
      const [retrieved, cited] = [await addPaths(reply.retrieved), await addPaths(reply.cited)];
      return { ...reply, retrieved, cited };
    } catch (error) {
      if (context.signal.aborted) return noReply("not answered: the run was interrupted");
      if (!(error instanceof CliError)) throw error;
      if (asking === clients.own) {
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
        return noReply(`not asked: the budget of ${budget.bound} model calls does not suffice`);
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
