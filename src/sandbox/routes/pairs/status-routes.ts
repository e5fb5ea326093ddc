import * as z from "zod/mini";
import type { PairRecord } from "../../../api/schemas.ts";
import type { Call } from "../../http/call.ts";
import { pathInteger } from "../../http/query.ts";
import { json, problem, Refusal, type Reply } from "../../http/reply.ts";
import { onyxGet, type Route } from "../../http/routes.ts";
import { laxBoolean, laxInteger, parseBody } from "../../http/validation.ts";
import { zuluTime } from "../../store/identity.ts";
import { type PairState, pairStateOf } from "../../store/pairs/pair-state.ts";
import { sourceNames } from "../../store/pairs/sources.ts";
import { type Listed, toDetail, toListed } from "./status-records.ts";
import { attemptRoutes, type StatusOptions } from "./attempt-routes.ts";

const pageSize = 10;

const sourceName = z.enum([...sourceNames]);
const texts = z.optional(z.array(z.string()));

const StatusFilter = z.object({
  secondary_index: z.optional(laxBoolean),
  source: z.optional(z.nullable(sourceName)),
  access_type_filters: texts,
  last_status_filters: texts,
  docs_count_operator: z.optional(z.nullable(z.enum([">", "<", "="]))),
  docs_count_value: z.optional(z.nullable(laxInteger)),
  name_filter: z.optional(z.nullable(z.string())),
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

function listStatuses(states: () => PairState[], call: Call): Reply {
  const filter = parseBody(StatusFilter, call.json());
  const bySource = new Map<string, Listed[]>();
  for (const listed of states().map(toListed)) {
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
  return json(
    200,
    groups.filter((group) => group.indexing_statuses.length > 0),
  );
}

const notVisible = (): Refusal =>
  new Refusal(problem("onyx", 404, "NOT_FOUND", "CC Pair not found for current user permissions"));

function changeStatus(paused: Map<number, string>, known: PairRecord, call: Call): Reply {
  const { status } = parseBody(PairStatus, call.json());
  if (status !== "ACTIVE" && status !== "PAUSED") {
    return problem("onyx", 400, "INVALID_INPUT", "The status can only be ACTIVE or PAUSED");
  }
  paused.set(known.cc_pair_id, status);
  return json(200, { message: "200" });
}

function listSync({ documents }: StatusOptions, pair: number): Reply {
  const found = documents.list({ pair }).map(({ id, indexed, receivedAt }) => ({
    doc_id: id,
    last_synced: indexed ? zuluTime(receivedAt) : null,
    last_modified: zuluTime(receivedAt),
  }));
  return json(200, found);
}

/** The state of the pairs and their attempts: observed-service.md 4.2 and 11.4. */
export function statusRoutes(options: StatusOptions): Route[] {
  const { pairs, documents, history, statuses } = options;
  const states = (): PairState[] => {
    const counts = documents.countByPair();
    return pairs.map((pair) =>
      pairStateOf(pair, history, counts.get(pair.cc_pair_id), statuses.get(pair.cc_pair_id)),
    );
  };
  const find = (call: Call): PairRecord | undefined => {
    const id = pathInteger(call, "cc_pair_id");
    return pairs.find((each) => each.cc_pair_id === id);
  };
  const one = "/api/manage/admin/cc-pair/:cc_pair_id";
  const onyx = { dialect: "onyx" } as const;
  return [
    {
      ...onyx,
      method: "POST",
      path: "/api/manage/admin/connector/indexing-status",
      bodyLimit: 1024 * 1024,
      handle: (call) => listStatuses(states, call),
    },
    onyxGet(one, (call) => {
      const known = find(call);
      if (!known) throw notVisible();
      return json(200, toDetail(states().find(({ pair }) => pair === known)!));
    }),
    {
      ...onyx,
      method: "PUT",
      path: `${one}/status`,
      bodyLimit: 1024 * 1024,
      handle(call) {
        const known = find(call);
        if (!known) {
          const text = "Connection not found for current user's permissions";
          return problem("onyx", 403, "INSUFFICIENT_PERMISSIONS", text);
        }
        return changeStatus(statuses, known, call);
      },
    },
    onyxGet(`${one}/get-docs-sync-status`, (call) => {
      const known = find(call);
      return known
        ? listSync(options, known.cc_pair_id)
        : json(400, { message: "CC Pair not found" });
    }),
    ...attemptRoutes(options, find),
  ];
}
