// Answers every request with 50 connector records: what is measured is the tool, not a service.
import { createServer } from "node:http";

const record = (id) => ({
  cc_pair_id: id,
  name: `Connector ${id}`,
  connector: {
    id,
    name: `Connector ${id}`,
    source: "ingestion_api",
    input_type: "load_state",
    connector_specific_config: { base: "https://wiki.example.com", space: "ENG" },
    credential_ids: [id],
    time_created: "2026-01-01T08:00:00Z",
    time_updated: "2026-06-01T12:30:00Z",
    refresh_freq: 86_400,
    prune_freq: null,
    indexing_start: null,
  },
  credential: {
    id,
    name: `Credential ${id}`,
    source: "ingestion_api",
    credential_json: { token: "abcd...wxyz" },
    admin_public: true,
    curator_public: false,
    user_id: "5b1e0c5e-0000-4000-8000-000000000000",
    user_email: "admin@example.com",
    groups: [],
    time_created: "2026-01-01T08:00:00Z",
    time_updated: "2026-06-01T12:30:00Z",
  },
  access_type: "public",
  groups: [],
});

const body = JSON.stringify(Array.from({ length: 50 }, (_, index) => record(index + 2)));
const server = createServer((_request, response) => {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(body);
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
