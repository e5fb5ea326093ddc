/** What `verify` found for a document. */
export type VerifyResult =
  | "current"
  | "present"
  | "stale"
  | "missing"
  | "listed-only"
  | "hidden"
  | "unknown";

/** One request and what its response proves. */
export interface Evidence {
  /** `GET /document/document-size-info`, without the address of the service. */
  request: string;
  /** HTTP status; null if no response arrived. */
  status: number | null;
  proves: string;
}

/** A checked document, as in the JSON output. */
export interface VerifiedDocument {
  id: string;
  /** Relative to the project root; null for a document from stdin. */
  path: string | null;
  result: VerifyResult;
  reason: string;
  evidence: readonly Evidence[];
  /** ISO 8601; null without a record. */
  sentAt: string | null;
  verifiedAt: string;
}
