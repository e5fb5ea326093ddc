import { CliError } from "../../errors.ts";
import { failureError } from "./failure.ts";
import { modelName } from "../../output/chat/made.ts";
import { titleText } from "../../output/chat/sources.ts";
import { hasAnswer, turnsOf, type Turn } from "../../output/chat/turn/answer.ts";

/** Whether somebody stopped the answer on the service's side. */
export function isCancelled({ stopReason }: Turn): boolean {
  return stopReason === "user_cancelled";
}

// Beside null, the ordinary end (observed-service.md 2.4).
const wholeReasons = new Set(["", "finished"]);

/**
 * Warnings about a finished answer that ended for unknown reasons. A stop packet is a normal end
 * (observed-service.md 2.2), but only the service knows what a new reason means.
 */
export function stopWarnings(turn: Turn): string[] {
  const reasons = turnsOf(turn).flatMap(({ stopReason }) =>
    stopReason === null || wholeReasons.has(stopReason) ? [] : [titleText(stopReason)],
  );
  return [...new Set(reasons)].map(
    (reason) => `the answer may be incomplete: the service ended it with the reason "${reason}"`,
  );
}

/** The error of a finished answer, or of the first wrong one of several answers. */
export function endFailure(turn: Turn): CliError | undefined {
  const turns = turnsOf(turn);
  const nameOf = (each: Turn): string | undefined =>
    turns.length === 1 ? undefined : modelName(each);
  for (const each of turns) {
    if (each.failure) {
      const { sessionId } = turn;
      const failed = { sessionId, hasAnswer: hasAnswer(each), model: nameOf(each) };
      return failureError(each.failure, failed);
    }
  }
  if (turns.some(isCancelled)) return stoppedElsewhere();
  if (turn.damagedLines > 0) return damaged(turn);
  const open = turns.find((each) => !each.stopped);
  if (open) return unfinished(nameOf(open));
  const empty = turns.find((each) => !hasAnswer(each));
  return empty && noAnswer(turn, nameOf(empty));
}

function unfinished(model: string | undefined): CliError {
  const of = model === undefined ? "" : ` of ${model}`;
  return new CliError("incomplete", `the answer${of} is cut: its end packet did not arrive`);
}

function damaged({ damagedLines: count }: Turn): CliError {
  const lines = count === 1 ? "1 line of the stream" : `${count} lines of the stream`;
  const whose = count === 1 ? "its" : "their";
  return new CliError(
    "incomplete",
    `the answer is damaged: ${lines} could not be read, and ${whose} content is missing`,
  );
}

function noAnswer({ sessionId }: Turn, model: string | undefined): CliError {
  const of = model === undefined ? "" : ` of ${model}`;
  const session = sessionId === null ? [] : [`session: ${sessionId}`];
  return new CliError(
    "incomplete",
    `no answer${of}: the service ended the turn without text, image or file`,
    {
      hints: ["ask again, in other words or with another agent or model", ...session],
    },
  );
}

function stoppedElsewhere(): CliError {
  return new CliError("incomplete", "the answer was stopped on the service's side", {
    hints: ["the part that arrived is above"],
  });
}
