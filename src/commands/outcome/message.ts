import type { Notification } from "../../config/load.ts";
import { exitCodes, messageOf, type ExitName } from "../../errors.ts";
import type { Report } from "../../output/report/report.ts";
import type { RunIdentity } from "../../output/report/stored/record.ts";
import { tool } from "../../output/report/tool.ts";
import type { LastResult } from "./last-results.ts";

/** How a run ended, compared with the last one. */
export type Occasion = "failure" | "recovery" | "success";

export function occasionOf(isSuccess: boolean, last: LastResult | undefined): Occasion {
  if (!isSuccess) return "failure";
  return last?.isSuccess === false ? "recovery" : "success";
}

/**
 * Whether a recipient is notified of an end. Without a last result, a failure is a change and a success is not.
 *
 * | on       | failure                      | recovery | success |
 * |----------|------------------------------|----------|---------|
 * | failure  | yes                          |          |         |
 * | recovery |                              | yes      |         |
 * | change   | unless the last run failed   | yes      |         |
 * | always   | yes                          | yes      | yes     |
 */
export function isWanted(
  on: Notification["on"],
  occasion: Occasion,
  last: LastResult | undefined,
): boolean {
  if (on === "always") return true;
  if (on === "change") {
    return occasion === "failure" ? last?.isSuccess !== false : occasion === "recovery";
  }
  return on === occasion;
}

/** The content of a notification: the summary of its report, without documents. */
interface Ended {
  command: string;
  exit: ExitName;
  error: unknown;
  occasion: Occasion;
  last: LastResult | undefined;
  /** The last report; undefined where the run ended before it had one. */
  report: Report | undefined;
  identity: RunIdentity;
}

/** The message that schema/notification.schema.json describes. `text` is for chat services. */
export function messageFor({
  command,
  exit,
  error,
  occasion,
  last,
  report,
  identity,
}: Ended): object {
  const { code } = exitCodes[exit];
  const reason = error === undefined ? null : (messageOf(error).split("\n", 1)[0] ?? "");
  const what = { failure: "failed", recovery: "succeeded again", success: "succeeded" }[occasion];
  const parts = [report?.title, reason].filter((part) => part !== undefined && part !== null);
  const { host, commit } = identity;
  return {
    version: 1,
    type: "notification",
    text: `knowctl ${command} ${what} on ${host}: ${parts.join("; ") || "done"}`,
    tool,
    command,
    occasion,
    last: last === undefined ? null : last.isSuccess ? "success" : "failure",
    exit: { code, name: exit },
    reason,
    title: report?.title ?? null,
    counts: Object.fromEntries((report?.counts ?? []).map(({ name, count }) => [name, count])),
    seconds: report?.measures?.seconds ?? null,
    run: identity.run,
    host,
    commit: commit ?? null,
  };
}
