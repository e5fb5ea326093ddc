/** What happens to a document although its upload is answered with 200: observed-service.md 3.7. */
export interface IndexFault {
  /**
   * `nothing`: neither row nor text is stored, so an earlier version stays. `row`: the row is
   * stored, the text is not. `old`: an update is lost, a new document is stored.
   */
  keeps?: "nothing" | "row" | "old";
  /** Moves the document to a private pair of somebody else. */
  private?: boolean;
  /** Hides the document from every caller, except in the administrators' search. */
  hidden?: boolean;
  /** Leaves the document out of the listings. */
  unlisted?: boolean;
  /** The text becomes visible after this time, or after this many look-ups. */
  delayMs?: number;
  delayRequests?: number;
}

/** Changes to one response. Members combine: a delay, another response, a cut. */
interface FaultAnswer {
  /** Responds with this status instead, before anything is stored. */
  status?: number;
  headers?: Record<string, string>;
  /** Text and bytes are sent unchanged, any other value as JSON. */
  body?: unknown;
  /** Responds with a redirect (302 unless `status` is set). */
  redirect?: string;
  /** Waits before the request is handled. */
  delayMs?: number;
  /** Resets the connection after this many bytes of the body. */
  cutAfterBytes?: number;
  /** Sends the body in pieces of `chunkBytes` (default 1), with this pause before each piece. */
  dripMs?: number;
  chunkBytes?: number;
  /** Only for uploads. */
  index?: IndexFault;
}

export type FaultAction =
  | FaultAnswer
  /** Resets the connection, before the request is handled or after it was stored. */
  | "reset-before-store"
  | "reset-after-store"
  /** A web page with status 200, as from a wrong address or a proxy. */
  | "html"
  /** Never responds. */
  | "hang";

export interface FaultRule {
  /** All members must match. Without members, every request below /api matches. */
  when?: {
    method?: string;
    /** Beginning of the path. */
    path?: string;
    /** `document.id` of an ingestion, as the client sends it. */
    documentId?: string;
    /** Only requests with this key. */
    key?: string;
    /** Only these matching requests, counted from 1. */
    nth?: number | readonly number[];
    /** Only the first N matching requests. */
    first?: number;
    /** Only matching requests after the first N. */
    after?: number;
  };
  do: FaultAction;
}

/** Probabilities per request between 0 and 1, and a latency for all requests. */
export interface FaultRates {
  latencyMs?: number;
  /** By HTTP status. */
  statuses?: Record<number, number>;
  cut?: number;
  reset?: number;
  html?: number;
  hang?: number;
}

/** Probabilities per upload, and a delay for all uploads. */
export interface IndexRates {
  swallow?: number;
  swallowRow?: number;
  oldVersion?: number;
  private?: number;
  hidden?: number;
  unlisted?: number;
  delayMs?: number;
  delayRequests?: number;
}

export interface FaultSpec {
  rules?: readonly FaultRule[];
  rates?: FaultRates;
  index?: IndexRates;
  /** Paths below /api that every key is refused (403), or that do not exist (404). */
  denied?: readonly string[];
  missing?: readonly string[];
  /** Makes the rates repeatable. */
  seed?: number;
}

/** The faults of one request; without members there are none. */
export interface FaultPlan extends FaultAnswer {
  reset?: "before" | "after";
  hang?: boolean;
}

export interface FaultSubject {
  method: string;
  path: string;
  documentId(): string | undefined;
  /** The key of the request. */
  key?: string;
}
