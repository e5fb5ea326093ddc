import { ApiError, messageOf } from "../../errors.ts";
import type { DocumentEvent, RunRequest } from "./run-request.ts";
import type { Pending } from "./pending.ts";
import type { FailureRecord } from "../state/records.ts";
import type { State } from "../state/state.ts";
import type { ReadyDocument } from "../../documents/inspect/inspection.ts";
import { targetFor, type Targets } from "../state/target.ts";

const documentStatuses = new Set([400, 409, 413, 415, 422]);

/**
 * Whether an upload failed because of its document, so that the other uploads continue.
 * Any other failure would affect every document and stops the run:
 *
 * | failure                                     | document's fault |
 * |---------------------------------------------|------------|
 * | 400, 409, 413, 415, 422                     | yes        |
 * | 5xx, 408, 429, connection fault, after all retries | yes (the gate's breaker stops a dead service) |
 * | 401, 403, 404, 405, 3xx, unexpected response, certificate | no |
 */
export function isDocumentFault(error: unknown): error is ApiError {
  if (!(error instanceof ApiError)) return false;
  if (error.status !== undefined && documentStatuses.has(error.status)) return true;
  return error.retryable;
}

/** Converts the event of a failed document into a record of the state. */
export function toFailureRecord(
  { path, row = 0, id, reason = "", retryable = false, httpStatus }: DocumentEvent,
  { targets, options }: Pick<RunRequest, "targets" | "options">,
  failedAtMs: number,
): FailureRecord {
  return {
    target: targetFor(targets, undefined)?.key ?? "",
    path,
    // A document from stdin is identified by its id; a line without an id by its number.
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
  const sql = "SELECT 1 AS yes FROM failures WHERE target = ? AND path = ? AND part IN (0, ?)";
  return state.database.prepare(sql).get(target, path, part) !== undefined;
}

/**
 * Whether an earlier run sent a document and got no answer, so that the service may have it from
 * there: its failure is still recorded.
 */
export function mayHaveSent(
  { database }: State,
  targets: Targets,
  { path, part, id }: Pick<ReadyDocument, "path" | "part" | "id">,
): boolean {
  const key = targetFor(targets, undefined)?.key ?? "";
  const where = path === "" ? "part = 0 AND id = ?" : "part = ?";
  const failed = database.prepare(
    `SELECT 1 AS yes FROM failures WHERE target = ? AND path = ? AND ${where} AND retryable = 1 LIMIT 1`,
  );
  return failed.get(key, path, path === "" ? id : part) !== undefined;
}

/**
 * Returns the failure to record for the document whose error stopped the run, but only if it
 * failed before. Otherwise a retry would use the outdated options of the earlier failure.
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
