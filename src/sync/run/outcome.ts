import { ApiError } from "../../errors.ts";

const documentStatuses = new Set([400, 409, 413, 415, 422]);

/**
 * Whether a failed upload is that document's own affair, so that the others go
 * on. Everything else would hit every document alike and stops the run:
 *
 * | failure                                     | own affair |
 * |---------------------------------------------|------------|
 * | 400, 409, 413, 415, 422                     | yes        |
 * | 5xx, 408, 429, connection fault, after all retries | yes (the gate's breaker stops a dead service) |
 * | 401, 403, 404, 405, 3xx, not what the interface promises, certificate | no |
 */
export function isDocumentFault(error: unknown): error is ApiError {
  if (!(error instanceof ApiError)) return false;
  if (error.status !== undefined && documentStatuses.has(error.status)) return true;
  return error.retryable;
}
