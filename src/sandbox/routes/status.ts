import * as z from "zod/mini";
import type { PairRecord } from "../../api/schemas.ts";
import type { App, Call } from "../http/call.ts";
import {
  bodyOf,
  detail,
  laxBoolean,
  laxInteger,
  laxTime,
  maybe,
  pageOf,
  pages,
  pathInteger,
  problem,
  queryOf,
  refusal,
  sourceName,
} from "../http/validation.ts";
import type { Service } from "../service.ts";
import { zuluTime } from "../store/documents.ts";
import { type AttemptError, failedDocumentsMs, type IndexAttempt } from "../store/seeds.ts";

/** A pair with its attempts, newest first, and what follows from them. */
interface PairState {
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

/** Whether the connector of a pair can fetch single documents again: observed-service.md 11.4. */
const canReindex = (pair: PairRecord): boolean =>
  /^(?:google_drive|confluence|sharepoint)$/.test(pair.connector.source);

const isRunning = (status: string | null | undefined): boolean =>
  status === "in_progress" || status === "not_started";

const editable = { edit: true, delete: true, publish: true };

/** The record of a pair in the listing of states. */
function toListed({ pair, attempts, status, lastSuccess, ...state }: PairState) {
  const [last] = attempts;
  const finished = attempts.find((each) => !isRunning(each.status));
  return {
    cc_pair_id: pair.cc_pair_id,
    name: pair.name ?? "",
    source: pair.connector.source,
    access_type: pair.access_type,
    cc_pair_status: status,
    in_progress: isRunning(last?.status),
    in_repeated_error_state: state.failsRepeatedly,
    last_finished_status: finished?.status ?? null,
    last_status: last?.status ?? null,
    last_success: lastSuccess,
    is_editable: true,
    permissions: editable,
    docs_indexed: state.indexed,
    latest_index_attempt_docs_indexed: last?.total_docs_indexed ?? null,
  };
}

type Listed = ReturnType<typeof toListed>;

/** The record of one pair in full. */
function toDetail({ pair, attempts, status, lastSuccess, ...state }: PairState) {
  return {
    id: pair.cc_pair_id,
    name: pair.name ?? "",
    status,
    in_repeated_error_state: state.failsRepeatedly,
    num_docs_indexed: state.indexed,
    connector: pair.connector,
    credential: pair.credential,
    number_of_index_attempts: attempts.length,
    last_index_attempt_status: attempts[0]?.status ?? null,
    latest_deletion_attempt: null,
    access_type: pair.access_type,
    is_editable_for_current_user: true,
    permissions: editable,
    deletion_failure_message: null,
    indexing: isRunning(attempts[0]?.status),
    creator: pair.credential.user_id ?? null,
    creator_email: pair.credential.user_email ?? null,
    last_indexed: lastSuccess,
    last_pruned: null,
    last_full_permission_sync: null,
    overall_indexing_speed: null,
    latest_checkpoint_description: null,
    last_permission_sync_attempt_status: null,
    permission_syncing: false,
    last_permission_sync_attempt_finished: null,
    last_permission_sync_attempt_error_message: null,
    supports_targeted_reindex: canReindex(pair),
  };
}

/** The pairs with their attempts and counts. Uploads make no attempt, so a pair for uploads stays SCHEDULED. */
function statesOf({ pairs, documents, history, statuses }: Service): PairState[] {
  const counts = documents.countByPair();
  return pairs.records.map((pair) => {
    const id = pair.cc_pair_id;
    const attempts = history.attempts.get(id) ?? [];
    return {
      pair,
      attempts,
      status: statuses.get(id) ?? (attempts.length > 0 ? "ACTIVE" : "SCHEDULED"),
      lastSuccess: attempts.find(isSuccess)?.time_updated ?? null,
      failsRepeatedly: attempts.length > 1 && attempts.every((each) => each.status === "failed"),
      indexed: counts.get(id)?.indexed ?? 0,
    };
  });
}

/** The pair of the path. */
function findPair({ pairs }: Service, c: Call): PairRecord | undefined {
  const id = pathInteger(c, "cc_pair_id");
  return pairs.records.find((each) => each.cc_pair_id === id);
}

const pageSize = 10;

const texts = z.optional(z.array(z.string()));

const StatusFilter = z.object({
  secondary_index: z.optional(laxBoolean),
  source: maybe(sourceName),
  access_type_filters: texts,
  last_status_filters: texts,
  docs_count_operator: maybe(z.enum([">", "<", "="])),
  docs_count_value: maybe(laxInteger),
  name_filter: maybe(z.string()),
  source_to_page: z.optional(z.partialRecord(sourceName, laxInteger)),
  get_all_connectors: z.optional(laxBoolean),
});
type StatusFilter = z.infer<typeof StatusFilter>;

const PairStatus = z.object({
  status: z.enum(["SCHEDULED", "INITIAL_INDEXING", "ACTIVE", "PAUSED", "DELETING", "INVALID"]),
});

function passes(listed: Listed, filter: StatusFilter): boolean {
  const { access_type_filters: access = [], last_status_filters: statuses = [] } = filter;
  const { docs_count_operator: operator, docs_count_value: count, name_filter: name } = filter;
  if (filter.source && listed.source !== filter.source) return false;
  if (access.length > 0 && !access.includes(String(listed.access_type))) return false;
  if (statuses.length > 0 && !statuses.includes(String(listed.last_status))) return false;
  if (name && !listed.name.toLowerCase().includes(name.toLowerCase())) return false;
  if (!operator || typeof count !== "number") return true;
  const difference = listed.docs_indexed - count;
  if (operator === "=") return difference === 0;
  return operator === ">" ? difference > 0 : difference < 0;
}

function listStatuses(service: Service, c: Call): Response {
  const filter = bodyOf(c, StatusFilter);
  const bySource = new Map<string, Listed[]>();
  for (const listed of statesOf(service).map(toListed)) {
    if (!passes(listed, filter)) continue;
    bySource.set(listed.source, [...(bySource.get(listed.source) ?? []), listed]);
  }
  const pages: Partial<Record<string, number>> = filter.source_to_page ?? {};
  const groups = [...bySource].map(([source, all]) => {
    const page = pages[source] ?? 1;
    const start = (page - 1) * pageSize;
    return {
      source,
      summary: {
        total_connectors: all.length,
        active_connectors: all.filter((each) => each.cc_pair_status === "ACTIVE").length,
        public_connectors: all.filter((each) => each.access_type === "public").length,
        total_docs_indexed: all.reduce((sum, each) => sum + each.docs_indexed, 0),
      },
      current_page: page,
      total_pages: Math.ceil(all.length / pageSize),
      indexing_statuses: filter.get_all_connectors ? all : all.slice(start, start + pageSize),
    };
  });
  return c.json(groups.filter((group) => group.indexing_statuses.length > 0));
}

function show(service: Service, c: Call): Response {
  const known = findPair(service, c);
  if (!known) {
    throw problem("onyx", 404, "NOT_FOUND", "CC Pair not found for current user permissions");
  }
  return c.json(toDetail(statesOf(service).find(({ pair }) => pair === known)!));
}

function changeStatus(service: Service, c: Call): Response {
  const known = findPair(service, c);
  if (!known) {
    const text = "Connection not found for current user's permissions";
    throw problem("onyx", 403, "INSUFFICIENT_PERMISSIONS", text);
  }
  const { status } = bodyOf(c, PairStatus);
  if (status !== "ACTIVE" && status !== "PAUSED") {
    throw problem("onyx", 400, "INVALID_INPUT", "The status can only be ACTIVE or PAUSED");
  }
  service.statuses.set(known.cc_pair_id, status);
  return c.json({ message: "200" });
}

function listSync(service: Service, c: Call): Response {
  const known = findPair(service, c);
  if (!known) throw refusal(400, { message: "CC Pair not found" });
  const found = service.documents.list({ pair: known.cc_pair_id });
  return c.json(
    found.map(({ id, indexed, receivedAt }) => ({
      doc_id: id,
      last_synced: indexed ? zuluTime(receivedAt) : null,
      last_modified: zuluTime(receivedAt),
    })),
  );
}

function listAttempts(service: Service, c: Call): Response {
  const pair = findPair(service, c);
  if (!pair) {
    throw problem("onyx", 403, "INSUFFICIENT_PERMISSIONS", "CC Pair not found for current user");
  }
  return pageOf(c, service.history.attempts.get(pair.cc_pair_id) ?? [], AttemptPages);
}

const AttemptPages = pages(10, 1000);
const ErrorPages = pages(10, 100);
const FailedPages = pages(25);
const include_resolved = z._default(laxBoolean, false);
const ErrorSelection = z.object({ include_resolved });
const FailedSelection = z.object({
  include_resolved,
  cc_pair_id: z.optional(laxInteger),
  start_time: z.optional(laxTime),
  end_time: z.optional(laxTime),
  error_type: z.optional(z.string()),
});

function listErrors({ history }: Service, c: Call): Response {
  // An unknown pair has no errors, and is no error.
  const pair = pathInteger(c, "cc_pair_id");
  const { include_resolved: withResolved } = queryOf(c, ErrorSelection);
  const found = history.errors.filter(
    (each) => each.connector_credential_pair_id === pair && (withResolved || !each.is_resolved),
  );
  return pageOf(c, found, ErrorPages);
}

function listFailed({ history, clock }: Service, c: Call): Response {
  const query = queryOf(c, FailedSelection);
  const { cc_pair_id, start_time, end_time, error_type } = query;
  const start = start_time?.ms ?? clock.now() - failedDocumentsMs;
  const end = end_time?.ms ?? Infinity;
  const isWanted = (each: AttemptError): boolean => {
    const time = Date.parse(each.time_created);
    if (time < start || time > end || (each.is_resolved && !query.include_resolved)) return false;
    if (cc_pair_id !== undefined && each.connector_credential_pair_id !== cc_pair_id) return false;
    return error_type === undefined || each.error_type === error_type;
  };
  return pageOf(c, history.errors.filter(isWanted), FailedPages);
}

/** The pairs whose last attempt failed. */
function listFailing({ pairs, history }: Service, c: Call): Response {
  const failing = pairs.records.flatMap((pair) => {
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
  return c.json(failing);
}

const maxTargets = 100;

const Reindex = z.object({
  error_ids: maybe(z.array(laxInteger)),
  targets: maybe(z.array(z.object({ cc_pair_id: laxInteger, document_id: z.string() }))),
});

/** Starts another fetch of single documents. The sandbox crawls nothing, so no document changes. */
function reindex({ pairs, history }: Service, c: Call, nextJob: () => number): Response {
  const { error_ids, targets } = bodyOf(c, Reindex);
  const named = [
    ...(error_ids ?? []).map(
      (id) => history.errors.find((each) => each.id === id)?.connector_credential_pair_id,
    ),
    ...(targets ?? []).map((target) => target.cc_pair_id),
  ];
  if (named.length === 0 || named.length > maxTargets) {
    const text = `Name between 1 and ${maxTargets} errors or documents`;
    throw problem("onyx", 400, "VALIDATION_ERROR", text);
  }
  const queued = named.filter((id) =>
    pairs.records.some((pair) => pair.cc_pair_id === id && canReindex(pair)),
  ).length;
  return c.json({
    targeted_reindex_job_id: nextJob(),
    queued_count: queued,
    skipped_count: named.length - queued,
  });
}

function pairSummary({ cc_pair_id, name, connector, credential, access_type }: PairRecord) {
  return { id: cc_pair_id, name: name ?? "", connector, credential, access_type };
}

/** Members of the administrators' listing of groups: observed-service.md 11.5. */
function listGroups({ groups, pairs }: Service, c: Call): Response {
  const listed = groups.all().map((group) => ({
    ...group,
    users: [],
    manager_ids: [],
    cc_pairs: pairs.records.filter((pair) => pair.groups?.includes(group.id)).map(pairSummary),
    document_sets: [],
    personas: [],
    is_up_to_date: true,
    is_up_for_deletion: false,
    incognito_enabled: false,
    permissions: { manage: true },
  }));
  return c.json(listed);
}

const Deletion = z.object({ connector_id: laxInteger, credential_id: laxInteger });

/** Removes a paused pair and its documents at once; the service does it in the background. */
async function deletePair(service: Service, c: Call): Promise<Response> {
  const { connector_id, credential_id } = bodyOf(c, Deletion);
  const { pairs, documents, statuses, commits } = service;
  const named = `Connector with ID '${connector_id}' and credential ID '${credential_id}'`;
  const pair = pairs.records.find(
    ({ connector, credential }) => connector.id === connector_id && credential.id === credential_id,
  );
  if (!pair) throw detail(404, `${named} does not exist. Has it already been deleted?`);
  const id = pair.cc_pair_id;
  if (statuses.get(id) !== "PAUSED") {
    throw detail(400, `${named} is not deletable. Connector must be paused.`);
  }
  await commits.submit(() => {
    // A document that stands in other pairs as well stays.
    for (const { id: document, pairs: all } of documents.list({ pair: id })) {
      if (all.length === 1) documents.remove(document);
    }
    pairs.remove(id);
  });
  return c.json(null);
}

/** The pairs, their state and attempts, and the groups: observed-service.md 4.2, 4.3, 11.4, 11.5, 12.16. */
export function statusRoutes(app: App, service: Service): void {
  const pair = "/api/manage/admin/cc-pair/:cc_pair_id";
  const indexing = "/api/manage/admin/indexing";
  app.post("/api/manage/admin/connector/indexing-status", (c) => listStatuses(service, c));
  app.get(pair, (c) => show(service, c));
  app.put(`${pair}/status`, (c) => changeStatus(service, c));
  app.get(`${pair}/get-docs-sync-status`, (c) => listSync(service, c));
  app.get(`${pair}/index-attempts`, (c) => listAttempts(service, c));
  app.get(`${pair}/errors`, (c) => listErrors(service, c));
  app.get(`${indexing}/failed-documents`, (c) => listFailed(service, c));
  app.get("/api/manage/admin/connector/failed-indexing-status", (c) => listFailing(service, c));
  let jobs = 0;
  app.post(`${indexing}/targeted-reindex`, (c) => reindex(service, c, () => (jobs += 1)));
  // Connectors as their own listing shows them: none that only uploads fill.
  app.get("/api/manage/connector", (c) => {
    const connectors = service.pairs.records.map(({ connector }) => connector);
    return c.json(connectors.filter(({ source }) => source !== "ingestion_api"));
  });
  app.get("/api/manage/admin/user-group", (c) => listGroups(service, c));
  app.post("/api/manage/admin/deletion-attempt", (c) => deletePair(service, c));
}
