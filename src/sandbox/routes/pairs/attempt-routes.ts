import type { PairRecord } from "../../../api/schemas.ts";
import type { Clock } from "../../clock.ts";
import type { Call } from "../../http/call.ts";
import { pathInteger, queryBoolean, queryInteger, queryTime } from "../../http/query.ts";
import { json, problem, type Reply } from "../../http/reply.ts";
import { onyxGet, type Route } from "../../http/routes.ts";
import {
  type AttemptError,
  type AttemptHistory,
  failedDocumentsMs,
} from "../../store/pairs/attempts.ts";
import type { DocumentStore } from "../../store/documents.ts";
import { reindexRoute } from "./reindex-route.ts";

export interface StatusOptions {
  pairs: readonly PairRecord[];
  documents: DocumentStore;
  history: AttemptHistory;
  /** Statuses that a caller set, by pair; kept until the sandbox ends. */
  statuses: Map<number, string>;
  clock: Clock;
}

function pageOf(rows: readonly unknown[], page: number, size: number): Reply {
  const start = page * size;
  return json(200, { items: rows.slice(start, start + size), total_items: rows.length });
}

const pageNumber = (call: Call): number => queryInteger(call, "page_num", { otherwise: 0, min: 0 });

const pageSizeOf = (call: Call, otherwise: number, max: number): number =>
  queryInteger(call, "page_size", { otherwise, min: 1, max });

function listAttempts({ history }: StatusOptions, pair: PairRecord | undefined, call: Call): Reply {
  const [page, size] = [pageNumber(call), pageSizeOf(call, 10, 1000)];
  if (!pair) {
    return problem("onyx", 403, "INSUFFICIENT_PERMISSIONS", "CC Pair not found for current user");
  }
  return pageOf(history.attempts.get(pair.cc_pair_id) ?? [], page, size);
}

function listErrors({ history }: StatusOptions, call: Call): Reply {
  // An unknown pair has no errors, and is no error.
  const pair = pathInteger(call, "cc_pair_id");
  const withResolved = queryBoolean(call, "include_resolved");
  const [page, size] = [pageNumber(call), pageSizeOf(call, 10, 100)];
  const found = history.errors.filter(
    (each) => each.connector_credential_pair_id === pair && (withResolved || !each.is_resolved),
  );
  return pageOf(found, page, size);
}

function listFailed({ history, clock }: StatusOptions, call: Call): Reply {
  const pair = queryInteger(call, "cc_pair_id", { otherwise: undefined });
  const start = queryTime(call, "start_time") ?? clock.now() - failedDocumentsMs;
  const end = queryTime(call, "end_time") ?? Infinity;
  const type = call.query.get("error_type");
  const withResolved = queryBoolean(call, "include_resolved");
  const isWanted = (each: AttemptError): boolean => {
    const time = Date.parse(each.time_created);
    if (time < start || time > end || (each.is_resolved && !withResolved)) return false;
    if (pair !== undefined && each.connector_credential_pair_id !== pair) return false;
    return type === null || each.error_type === type;
  };
  const [page, size] = [pageNumber(call), pageSizeOf(call, 25, Infinity)];
  return pageOf(history.errors.filter(isWanted), page, size);
}

/** The pairs whose last attempt failed. */
function listFailing({ pairs, history }: StatusOptions): Reply {
  const failing = pairs.flatMap((pair) => {
    const [last] = history.attempts.get(pair.cc_pair_id) ?? [];
    if (last?.status !== "failed") return [];
    return {
      cc_pair_id: pair.cc_pair_id,
      name: pair.name ?? "",
      error_msg: last.error_msg,
      is_deletable: false,
      connector_id: pair.connector.id,
      credential_id: pair.credential.id,
    };
  });
  return json(200, failing);
}

/** Attempts and their errors: observed-service.md 11.4. `find` reads the pair of the path. */
export function attemptRoutes(
  options: StatusOptions,
  find: (call: Call) => PairRecord | undefined,
): Route[] {
  return [
    onyxGet("/api/manage/admin/cc-pair/:cc_pair_id/index-attempts", (call) =>
      listAttempts(options, find(call), call),
    ),
    onyxGet("/api/manage/admin/cc-pair/:cc_pair_id/errors", (call) => listErrors(options, call)),
    onyxGet("/api/manage/admin/indexing/failed-documents", (call) => listFailed(options, call)),
    onyxGet("/api/manage/admin/connector/failed-indexing-status", () => listFailing(options)),
    reindexRoute(options.pairs, options.history),
  ];
}
