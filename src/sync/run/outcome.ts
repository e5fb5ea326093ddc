import { ApiError } from "../../errors.ts";

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
