import type { CaseReplies } from "../../../../checks/eval/reply.ts";
import type { EvalCase } from "../../../../checks/eval/suite/suite.ts";
import { CliError } from "../../../../errors.ts";
import { noReply, type Replies } from "../live.ts";
import type { Recording } from "./recording.ts";

/** Replies of a recording. What it does not hold is an error of the case. */
export function createReplay(recording: Recording): Replies {
  const read = new Map<EvalCase, CaseReplies | string>();
  const repliesOf = (evalCase: EvalCase): CaseReplies | string => {
    let replies = read.get(evalCase);
    if (replies === undefined) {
      try {
        replies = recording.repliesOf(evalCase) ?? "the recording does not hold this case";
      } catch (error) {
        if (!(error instanceof CliError)) throw error;
        replies = error.message;
      }
      read.set(evalCase, replies);
    }
    return replies;
  };
  return {
    stopped: () => undefined,
    get(evalCase, attempt) {
      const replies = repliesOf(evalCase);
      if (typeof replies === "string") return Promise.resolve(noReply(replies));
      const reply = attempt === "control" ? replies.control : replies.runs[attempt - 1];
      return Promise.resolve(reply ?? noReply("the recording does not hold this repetition"));
    },
  };
}
