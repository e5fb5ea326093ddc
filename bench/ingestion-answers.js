// What the receivers of uploads answer with.
const times = { time_created: "2026-01-01T08:00:00Z", time_updated: "2026-06-01T12:30:00Z" };
/** A connector with cc_pair_id 2. */
const record = {
  cc_pair_id: 2,
  name: "Bench",
  connector: {
    id: 1,
    name: "Bench",
    source: "ingestion_api",
    input_type: "load_state",
    connector_specific_config: {},
    credential_ids: [1],
    ...times,
    refresh_freq: null,
    prune_freq: null,
    indexing_start: null,
  },
  credential: {
    id: 1,
    name: "Bench",
    source: "ingestion_api",
    credential_json: {},
    admin_public: true,
    curator_public: false,
    user_id: null,
    user_email: null,
    groups: [],
    ...times,
  },
  access_type: "public",
  groups: [],
};

/** The listing of connectors. */
export const listing = [record];
/** The result of each upload. */
export const result = { document_id: "x", already_existed: false };
