import type { SearchFilters } from "./schemas.ts";

export type DialectName = "standard" | "onyx";

/** How to recognise a paged listing and find its next page. */
export type PageForm =
  /** `more` is true if a page follows; `parameter` carries the `cursor` of the last row. */
  | { by: "cursor"; rows: string; more: string; cursor: string; parameter: string }
  /** `parameter` numbers the pages from 0; `total` counts the rows of all pages. */
  | { by: "number"; rows: string; total: string; parameter: string };

/**
 * All differences between two deployments of the interface. Paths are relative to
 * the base URL. A missing feature is undefined; no other code depends on the name of
 * the dialect.
 */
export interface Dialect {
  readonly name: DialectName;
  /** Where a person gets a key, for messages. */
  readonly keyOrigin: string;
  readonly paths: {
    readonly connectorStatus: string;
    /** POST: creates a connector, an empty credential and their pair at once. */
    readonly createConnector?: string;
    /** PUT: pauses a pair. */
    readonly pairState?: (ccPairId: number) => string;
    /** POST: removes a paused pair with its connector. */
    readonly removePair?: string;
    readonly ingestion: string;
    readonly chat: string;
    readonly tools: string;
    readonly chatFileUpload: string;
    readonly chatFiles: string;
    readonly imageUpload: string;
    /** GET: every ingested document. */
    readonly ingestedDocuments?: string;
    /** DELETE. `storedId` is the id as the service returned it. */
    readonly ingestedDocument?: (storedId: string) => string;
    /** GET: documents of one pair. */
    readonly pairDocuments?: (ccPairId: number) => string;
    /** GET: chunks of one document in the index; 404 if the index holds none. */
    readonly documentSize?: (storedId: string) => string;
    /** GET: one chunk of a document in the index, from 0. */
    readonly documentChunk?: (storedId: string, number: number) => string;
    /** POST: search without a language model. */
    readonly indexedSearch?: string;
    /** POST: the administrators' search by keywords, without a language model. */
    readonly keywordSearch?: string;
    /** POST: search with several calls of a language model. */
    readonly assistedSearch?: string;
    /** POST: the state of all pairs. */
    readonly pairStatuses?: string;
    /** GET: one pair in full. */
    readonly pair?: (ccPairId: number) => string;
    /** GET: the runs of a crawled pair, newest first. */
    readonly pairAttempts?: (ccPairId: number) => string;
    /** GET: the documents that the runs of a pair could not index. */
    readonly pairErrors?: (ccPairId: number) => string;
    /** GET: when each document of a pair changed, and when the index got the change. */
    readonly pairSync?: (ccPairId: number) => string;
    readonly stopChat?: (sessionId: string) => string;
    readonly sessions?: string;
    readonly session?: (sessionId: string) => string;
    readonly createSession?: string;
    readonly renameSession?: string;
    readonly deleteSession?: (sessionId: string) => string;
    readonly resumeChat?: (sessionId: string) => string;
    /** GET: bytes of a file that a tool made. */
    readonly madeFile: (id: string) => string;
    /** GET: one uploaded file, for polling its status. */
    readonly chatFile?: (id: string) => string;
    readonly agents?: string;
    readonly me?: string;
    /** GET: the groups that the caller sees; with its own ones. */
    readonly groups?: string;
    /** GET: model providers, by the names that a chat request uses. */
    readonly providers?: string;
    readonly version?: string;
  };
  /** Absent: no listing is paged. */
  readonly pages?: readonly PageForm[];
  /** Member of the chat request that carries the filters. */
  readonly filtersMember: "search_filters" | "internal_search_filters";
  /** A filter may name several values of one tag key. */
  readonly repeatsTagKeys: boolean;
  writeTags(tags: readonly (readonly [string, string])[]): NonNullable<SearchFilters["tags"]>;
  /** A null parent message starts again from the root of the session's tree. */
  readonly startsAtRoot?: true;
  /** Request header whose value the service writes to its log. */
  readonly requestIdHeader?: string;
  /** A document may say when it was created. */
  readonly storesCreation?: true;
  /** The service ignores a document with unchanged text whose date is not later. */
  readonly skipsUnadvanced?: true;
  /** The id under which the service stores a document. Documents with the same stored id overwrite each other. */
  readonly storedId?: (id: string) => string;
}

const segment = encodeURIComponent;

const madeFile = (id: string): string => `/api/chat/file/${segment(id)}`;

/** Exactly the interface of service-interface.md. */
const standard: Dialect = {
  name: "standard",
  // service-interface.md 4.1 and 5: the listing is an administrator's, ingestion takes an API key.
  keyOrigin:
    "an administrator makes an API key in the admin panel of the service; " +
    "ask for one that may list connectors and upload documents",
  paths: {
    connectorStatus: "/api/manage/admin/connector/status",
    ingestion: "/api/svc-api/ingestion",
    chat: "/api/chat/send-chat-message",
    tools: "/api/tool",
    chatFileUpload: "/api/user/projects/file/upload",
    chatFiles: "/api/user/projects/file/",
    imageUpload: "/api/user/file/upload",
    madeFile,
  },
  filtersMember: "search_filters",
  repeatsTagKeys: false,
  writeTags: (tags) => Object.fromEntries(tags),
};

/** The public deployment described in observed-service.md 1 to 6. */
const onyx: Dialect = {
  name: "onyx",
  // observed-service.md 6.1
  keyOrigin:
    "an administrator makes an API key (on_…) in the admin panel, in a group that may manage connectors; " +
    "your own settings make a personal access token (onyx_pat_…), which acts as you: leave out scopes to upload with it",
  paths: {
    connectorStatus: "/api/manage/admin/connector/status",
    createConnector: "/api/manage/admin/connector-with-mock-credential",
    pairState: (ccPairId) => `/api/manage/admin/cc-pair/${ccPairId}/status`,
    removePair: "/api/manage/admin/deletion-attempt",
    ingestion: "/api/onyx-api/ingestion",
    chat: "/api/chat/send-chat-message",
    tools: "/api/tool",
    chatFileUpload: "/api/user/projects/file/upload",
    chatFiles: "/api/user/files/recent",
    imageUpload: "/api/manage/admin/connector/file/upload",
    ingestedDocuments: "/api/onyx-api/ingestion",
    // The stored id is percent-encoded already and must be encoded once more (observed-service.md 3.3).
    ingestedDocument: (storedId) => `/api/onyx-api/ingestion/${segment(storedId)}`,
    pairDocuments: (ccPairId) => `/api/onyx-api/connector-docs/${ccPairId}`,
    documentSize: (storedId) => `/api/document/document-size-info?document_id=${segment(storedId)}`,
    documentChunk: (storedId, number) =>
      `/api/document/chunk-info?document_id=${segment(storedId)}&chunk_id=${number}`,
    indexedSearch: "/api/search/send-search-message",
    keywordSearch: "/api/admin/search",
    assistedSearch: "/api/search",
    pairStatuses: "/api/manage/admin/connector/indexing-status",
    pair: (ccPairId) => `/api/manage/admin/cc-pair/${ccPairId}`,
    pairAttempts: (ccPairId) => `/api/manage/admin/cc-pair/${ccPairId}/index-attempts`,
    pairErrors: (ccPairId) => `/api/manage/admin/cc-pair/${ccPairId}/errors`,
    pairSync: (ccPairId) => `/api/manage/admin/cc-pair/${ccPairId}/get-docs-sync-status`,
    stopChat: (sessionId) => `/api/chat/stop-chat-session/${segment(sessionId)}`,
    sessions: "/api/chat/get-user-chat-sessions",
    session: (sessionId) => `/api/chat/get-chat-session/${segment(sessionId)}`,
    createSession: "/api/chat/create-chat-session",
    renameSession: "/api/chat/rename-chat-session",
    deleteSession: (sessionId) => `/api/chat/delete-chat-session/${segment(sessionId)}`,
    madeFile,
    resumeChat: (sessionId) =>
      `/api/chat/chat-session/${segment(sessionId)}/resume-stream?cursor=0`,
    chatFile: (id) => `/api/user/projects/file/${segment(id)}`,
    agents: "/api/persona",
    me: "/api/me",
    groups: "/api/manage/user-groups/minimal",
    providers: "/api/llm/provider",
    version: "/api/version",
  },
  // observed-service.md 4.2 and 5
  pages: [
    {
      by: "cursor",
      rows: "sessions",
      more: "has_more",
      cursor: "time_updated",
      parameter: "before",
    },
    { by: "number", rows: "items", total: "total_items", parameter: "page_num" },
  ],
  filtersMember: "internal_search_filters",
  repeatsTagKeys: true,
  writeTags: (tags) => tags.map(([tag_key, tag_value]) => ({ tag_key, tag_value })),
  // observed-service.md 1.6
  startsAtRoot: true,
  requestIdHeader: "X-Onyx-Request-ID",
  // observed-service.md 3.1
  storesCreation: true,
  skipsUnadvanced: true,
  // Spaces become "_", the rest is percent-encoded (observed-service.md 3.3).
  storedId: (id) =>
    segment(id.toWellFormed().replaceAll(" ", "_")).replace(
      /[!'()*]/g,
      (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
    ),
};

/**
 * The ids under which a service may store a document. What is stored in the standard dialect is not
 * known before an upload: unchanged, or as in the other dialect.
 */
export function storedIdsOf(dialect: DialectName, id: string): string[] {
  const { storedId } = dialects[dialect];
  if (storedId) return [storedId(id)];
  return [...new Set([id, ...(onyx.storedId ? [onyx.storedId(id)] : [])])];
}

/** For what only the onyx dialect can: standard is the default, and may be the wrong one. */
export const onyxHint = "use --dialect onyx (KNOWCTL_DIALECT) if the service is an onyx one";

export const dialects: Record<DialectName, Dialect> = { standard, onyx };

/** The removal that a service can do: one that cannot delete gets a notice in place of the text. */
export const pruneCommand = (dialect: DialectName): string =>
  dialects[dialect].paths.ingestedDocument ? "knowctl prune" : "knowctl prune --tombstone";
