import { zuluTime } from "../identity.ts";

export type AttemptStatus =
  | "not_started"
  | "in_progress"
  | "success"
  | "canceled"
  | "interrupted"
  | "failed"
  | "completed_with_errors";

/** One run of a crawled connector: observed-service.md 11.4. */
export interface IndexAttempt {
  id: number;
  status: AttemptStatus | null;
  from_beginning: boolean;
  new_docs_indexed: number;
  total_docs_indexed: number;
  docs_removed_from_index: number;
  error_msg: string | null;
  error_count: number;
  full_exception_trace: string | null;
  time_started: string | null;
  time_updated: string;
  poll_range_start: string | null;
  poll_range_end: string | null;
}

/** One document that an attempt could not index. */
export interface AttemptError {
  id: number;
  connector_credential_pair_id: number;
  document_id: string | null;
  document_link: string | null;
  entity_id: string | null;
  failed_time_range_start: string | null;
  failed_time_range_end: string | null;
  failure_message: string;
  is_resolved: boolean;
  time_created: string;
  index_attempt_id: number;
  error_type: string | null;
}

/** Attempts by `cc_pair_id`, newest first, and the errors of all pairs, newest first. */
export interface AttemptHistory {
  attempts: ReadonlyMap<number, readonly IndexAttempt[]>;
  errors: readonly AttemptError[];
}

export const noAttempts: AttemptHistory = { attempts: new Map(), errors: [] };

const minuteMs = 60_000;

/**
 * The attempts of the crawled pairs of a fresh sandbox, which ended in the last hours before
 * `now`: one success, one that is still running, one failure, one with failed documents.
 */
export function defaultAttempts(now: number): AttemptHistory {
  const before = (minutes: number): string =>
    zuluTime(Math.trunc(now / 1000 - minutes * 60) * 1000);
  const attempt = (
    id: number,
    status: AttemptStatus,
    startedMinutes: number,
    more: Partial<IndexAttempt> = {},
  ): IndexAttempt => ({
    id,
    status,
    from_beginning: false,
    new_docs_indexed: 0,
    total_docs_indexed: 0,
    docs_removed_from_index: 0,
    error_msg: null,
    error_count: 0,
    full_exception_trace: null,
    time_started: before(startedMinutes),
    time_updated: before(startedMinutes - 2),
    poll_range_start: null,
    poll_range_end: null,
    ...more,
  });
  const expired = { error_msg: "the token of the bot has expired", error_count: 1 };
  const wiki = attempt(18, "completed_with_errors", 45, {
    error_msg: "2 pages failed",
    error_count: 2,
  });
  const error = (id: number, page: string, reason: string, resolved: boolean): AttemptError => ({
    id,
    connector_credential_pair_id: 6,
    document_id: `https://wiki.example.com/${page}`,
    document_link: `https://wiki.example.com/${page}`,
    entity_id: null,
    failed_time_range_start: null,
    failed_time_range_end: null,
    failure_message: reason,
    is_resolved: resolved,
    time_created: before(resolved ? 180 : 44),
    index_attempt_id: resolved ? 14 : wiki.id,
    error_type: null,
  });
  return {
    attempts: new Map([
      [3, [attempt(16, "success", 90), attempt(11, "success", 90 + 24 * 60)]],
      [4, [attempt(19, "in_progress", 5), attempt(10, "success", 3 * 24 * 60)]],
      [5, [attempt(17, "failed", 60, expired), attempt(15, "failed", 90, expired)]],
      [6, [wiki, attempt(14, "completed_with_errors", 180)]],
      [8, [attempt(12, "success", 26 * 60)]],
    ]),
    errors: [
      error(
        3,
        "ENG/release-plan",
        "the page has 11 MB of text, more than the limit of 10 MB",
        false,
      ),
      error(2, "ENG/on-call", "403 from the wiki: the reader may not see this page", false),
      error(1, "ENG/glossary", "timeout while the page was read", true),
    ],
  };
}

/** The default start of `failed-documents`: 30 days ago. */
export const failedDocumentsMs = 30 * 24 * 60 * minuteMs;
