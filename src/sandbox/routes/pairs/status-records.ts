import { canReindex, type PairState } from "../../store/pairs/pair-state.ts";

const isRunning = (status: string | null | undefined): boolean =>
  status === "in_progress" || status === "not_started";

const editable = { edit: true, delete: true, publish: true };

/** The record of a pair in the listing of states. */
export function toListed({ pair, attempts, status, lastSuccess, ...state }: PairState) {
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

/** One element of `indexing_statuses`. */
export type Listed = ReturnType<typeof toListed>;

/** The record of one pair in full. */
export function toDetail({ pair, attempts, status, lastSuccess, ...state }: PairState) {
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
