import { zuluTime } from "./documents.ts";
import type { PairRecord } from "../../api/schemas.ts";
import { adminCaller } from "./access.ts";

type AttemptStatus =
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
