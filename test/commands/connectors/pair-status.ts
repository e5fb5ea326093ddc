/** A record of the listing of states, as the observed service sends it. */
export function statusOf(id: number, more: Record<string, unknown> = {}) {
  return {
    cc_pair_id: id,
    name: `Pair ${id}`,
    source: "web",
    access_type: "public",
    cc_pair_status: "ACTIVE",
    in_progress: false,
    in_repeated_error_state: false,
    last_finished_status: null,
    last_status: null as string | null,
    last_success: "2026-01-02T00:00:00Z" as string | null,
    is_editable: true,
    permissions: {},
    docs_indexed: 3,
    latest_index_attempt_docs_indexed: null,
    ...more,
  };
}

/** The answer of the listing: one group. */
export function groupOf(statuses: readonly object[]) {
  return [
    {
      source: "web",
      summary: {
        total_connectors: statuses.length,
        active_connectors: 0,
        public_connectors: 0,
        total_docs_indexed: 0,
      },
      current_page: 1,
      total_pages: 1,
      indexing_statuses: statuses,
    },
  ];
}
