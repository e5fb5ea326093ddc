import type { PairRecord } from "../../../api/schemas.ts";
import { adminCaller } from "../access.ts";

interface Seed {
  id: number;
  name: string | null;
  source: string;
  input: string;
  config?: Record<string, unknown>;
  secrets?: Record<string, unknown>;
  credentialName?: string;
  /** Whose account made the credential; default: the administrator. */
  owner?: "other" | "nobody";
  refresh?: number;
  prune?: number;
  start?: string;
  access?: string;
  groups?: number[];
}

const seeds: readonly Seed[] = [
  {
    id: 2,
    name: "Handbook uploads",
    source: "ingestion_api",
    input: "load_state",
    credentialName: "Upload credential",
  },
  {
    id: 3,
    name: "Public website",
    source: "web",
    input: "load_state",
    config: { base_url: "https://www.example.com/", web_connector_type: "recursive" },
    credentialName: "PUBLIC",
    refresh: 86_400,
    prune: 604_800,
    start: "2026-01-01T00:00:00Z",
  },
  {
    id: 4,
    name: "Shared drive",
    source: "google_drive",
    input: "poll",
    config: { include_shared_drives: true, include_my_drives: false },
    secrets: { google_tokens: "ya29...k3Qw", google_primary_admin: "admin@example.com" },
    owner: "nobody",
  },
  {
    id: 5,
    name: "Support channels",
    source: "slack",
    input: "poll",
    config: { channels: ["support", "incidents"], channel_regex_enabled: false },
    secrets: { slack_bot_token: "xoxb...9f2c" },
    credentialName: "Slack bot",
    refresh: 1_800,
    prune: 2_592_000,
    owner: "other",
    access: "private",
    groups: [7, 12],
  },
  {
    id: 6,
    name: "Engineering wiki",
    source: "confluence",
    input: "poll",
    config: { wiki_base: "https://wiki.example.com", space: "ENG", is_cloud: false },
    secrets: { confluence_username: "reader", confluence_access_token: "ATAT...77d1" },
    owner: "nobody",
    refresh: 3_600,
    prune: 604_800,
    access: "sync",
  },
  {
    id: 7,
    name: "Release notes",
    source: "ingestion_api",
    input: "load_state",
    secrets: { note: "••••••" },
    credentialName: "Second upload credential",
  },
  {
    id: 8,
    name: "Policies",
    source: "file",
    input: "load_state",
    config: { file_locations: ["policies.zip"], zip_metadata: null },
    credentialName: "File credential",
    prune: 2_592_000,
  },
];

const otherAdmin = { id: "9c1d5e7a-42f3-4a86-b5d0-6e8f7a913b27", email: "bo@example.com" };

function toStatus(seed: Seed): PairRecord {
  const times = { time_created: "2026-01-05T09:00:00Z", time_updated: "2026-06-01T12:30:00Z" };
  const owners = { own: adminCaller, other: otherAdmin, nobody: undefined };
  const user = owners[seed.owner ?? "own"];
  return {
    cc_pair_id: seed.id,
    name: seed.name,
    connector: {
      id: seed.id + 10,
      name: seed.name ?? "policies.zip",
      source: seed.source,
      input_type: seed.input,
      connector_specific_config: seed.config ?? {},
      credential_ids: [seed.id + 20],
      ...times,
      refresh_freq: seed.refresh ?? null,
      prune_freq: seed.prune ?? null,
      indexing_start: seed.start ?? null,
    },
    credential: {
      id: seed.id + 20,
      name: seed.credentialName ?? null,
      source: seed.source,
      credential_json: seed.secrets ?? {},
      admin_public: true,
      curator_public: false,
      user_id: user?.id ?? null,
      user_email: user?.email ?? null,
      groups: [],
      ...times,
    },
    access_type: seed.access ?? "public",
    groups: seed.groups ?? [],
  };
}

/**
 * The pairs of a fresh sandbox: two for uploads, crawled pairs with and without pruning, some with null members.
 * observed-service.md 4.1. Pair 1, the hidden default pair, is not listed.
 */
export const defaultPairs: readonly PairRecord[] = seeds.map(toStatus);
