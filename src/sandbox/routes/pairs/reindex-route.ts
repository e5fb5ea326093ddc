import * as z from "zod/mini";
import type { PairRecord } from "../../../api/schemas.ts";
import type { Call } from "../../http/call.ts";
import { json, problem, type Reply } from "../../http/reply.ts";
import type { Route } from "../../http/routes.ts";
import { laxInteger, parseBody } from "../../http/validation.ts";
import type { AttemptHistory } from "../../store/pairs/attempts.ts";
import { canReindex } from "../../store/pairs/pair-state.ts";

const maxTargets = 100;

const Reindex = z.object({
  error_ids: z.optional(z.nullable(z.array(laxInteger))),
  targets: z.optional(
    z.nullable(z.array(z.object({ cc_pair_id: laxInteger, document_id: z.string() }))),
  ),
});

function start(
  pairs: readonly PairRecord[],
  { errors }: AttemptHistory,
  call: Call,
  nextJob: () => number,
): Reply {
  const { error_ids, targets } = parseBody(Reindex, call.json());
  const named = [
    ...(error_ids ?? []).map(
      (id) => errors.find((each) => each.id === id)?.connector_credential_pair_id,
    ),
    ...(targets ?? []).map((target) => target.cc_pair_id),
  ];
  if (named.length === 0 || named.length > maxTargets) {
    const text = `Name between 1 and ${maxTargets} errors or documents`;
    return problem("onyx", 400, "VALIDATION_ERROR", text);
  }
  const queued = named.filter((id) =>
    pairs.some((pair) => pair.cc_pair_id === id && canReindex(pair)),
  ).length;
  return json(200, {
    targeted_reindex_job_id: nextJob(),
    queued_count: queued,
    skipped_count: named.length - queued,
  });
}

/**
 * Starts another fetch of single documents: observed-service.md 11.4. The sandbox crawls
 * nothing, so no document changes.
 */
export function reindexRoute(pairs: readonly PairRecord[], history: AttemptHistory): Route {
  let jobs = 0;
  return {
    dialect: "onyx",
    method: "POST",
    path: "/api/manage/admin/indexing/targeted-reindex",
    bodyLimit: 1024 * 1024,
    handle: (call) => start(pairs, history, call, () => (jobs += 1)),
  };
}
