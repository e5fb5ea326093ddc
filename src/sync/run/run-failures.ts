import type { DocumentEvent, RunRequest } from "./run-request.ts";
import { messageOf } from "../../errors.ts";
import type { Pending } from "./pending.ts";
import type { FailureRecord } from "../state/records.ts";
import type { State } from "../state/state.ts";
import { targetFor } from "../state/target.ts";

/** What the state records of a document that failed. */
export function toFailureRecord(
  { path, row = 0, id, reason = "", retryable = false, httpStatus }: DocumentEvent,
  { targets, options }: Pick<RunRequest, "targets" | "options">,
  failedAtMs: number,
): FailureRecord {
  return {
    target: targetFor(targets, undefined)?.key ?? "",
    path,
    // A document of stdin is found again by its id, a line without one by its number.
    part: path === "" && id !== "" ? 0 : row,
    id,
    reason,
    retryable,
    status: httpStatus,
    failedAtMs,
    options: path === "" ? undefined : options,
  };
}

function hasFailed(state: State, { target, path, part }: FailureRecord): boolean {
  if (state.isRecordless) return false;
  const sql = "SELECT 1 AS yes FROM failures WHERE target = ? AND path = ? AND part IN (0, ?)";
  return state.database.prepare(sql).get(target, path, part) !== undefined;
}

/**
 * Failure to record of a document whose attempt stopped the run; none, unless it failed before:
 * a retry would send it with the options of that failure, which are not the last ones.
 */
export function renewedFailure(
  { prepared }: Pending,
  error: unknown,
  request: RunRequest,
): FailureRecord | undefined {
  if (prepared.kind !== "document" || prepared.path === "") return undefined;
  const { path, part, id } = prepared;
  const row = part > 0 ? part : undefined;
  const reason = messageOf(error);
  const failed = { status: "failed", path, row, id, reason, retryable: true, ms: 0 } as const;
  const record = toFailureRecord(failed, request, request.now());
  return hasFailed(request.state, record) ? record : undefined;
}
