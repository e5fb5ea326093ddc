import type { PairRecord } from "../../../api/schemas.ts";
import type { AttemptHistory, IndexAttempt } from "./attempts.ts";
import type { PairCount } from "../documents.ts";

/** A pair with its attempts, newest first, and what follows from them. */
export interface PairState {
  pair: PairRecord;
  attempts: readonly IndexAttempt[];
  status: string;
  lastSuccess: string | null;
  failsRepeatedly: boolean;
  /** Documents that were indexed once; a later version may wait. */
  indexed: number;
}

const isSuccess = ({ status }: IndexAttempt): boolean =>
  status === "success" || status === "completed_with_errors";

/** The state of a pair. Uploads make no attempt, so a pair for uploads stays SCHEDULED. */
export function pairStateOf(
  pair: PairRecord,
  history: AttemptHistory,
  count: PairCount | undefined,
  status: string | undefined,
): PairState {
  const attempts = history.attempts.get(pair.cc_pair_id) ?? [];
  return {
    pair,
    attempts,
    status: status ?? (attempts.length > 0 ? "ACTIVE" : "SCHEDULED"),
    lastSuccess: attempts.find(isSuccess)?.time_updated ?? null,
    failsRepeatedly: attempts.length > 1 && attempts.every((each) => each.status === "failed"),
    indexed: count?.indexed ?? 0,
  };
}

/** Whether the connector of a pair can fetch single documents again: observed-service.md 11.4. */
export const canReindex = (pair: PairRecord): boolean =>
  /^(?:google_drive|confluence|sharepoint)$/.test(pair.connector.source);
