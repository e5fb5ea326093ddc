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

/** Everything that decides the result of one document; see the table below. */
export interface Facts {
  /** Chunks that this reader sees: document-size-info. */
  chunks: "some" | "none" | "refused" | "failed";
  /** The chunks compared with the sent text. `more`, `unsure`: see TextVerdict. */
  text?: "same" | "other" | "more" | "unsure" | "unread" | "unasked";
  /** The search for the version in the metadata missed it; unset without a search. */
  version?: "not found";
  /** Whether the profile's own key sees chunks; only if `reader` is another key. */
  ownKey?: "some" | "none";
  /** The administrators' search, which also finds hidden documents. `visible`: found, not hidden. */
  search?: "found" | "visible" | "not found" | "unavailable";
  /** The service's list of documents. */
  list?: "in this pair" | "in another pair" | "no" | "unavailable";
  /** Whether this reader may read the pair that holds the document. */
  access?: "yes" | "no" | "unknown";
}

interface Row {
  when: { readonly [Name in keyof Facts]?: Facts[Name] | readonly Facts[Name][] };
  result: VerifyResult;
  reason: string;
}

/** The first row whose conditions all hold decides. A condition that is not named holds always. */
export const decisions: readonly Row[] = [
  { when: { chunks: "failed" }, result: "unknown", reason: "the request failed" },
  { when: { chunks: "refused" }, result: "unknown", reason: "this key may not ask (403)" },
  // Chunks exist.
  {
    when: { chunks: "some", text: "same", version: "not found" },
    result: "unknown",
    reason: "the index holds the text, but no document has its version as metadata",
  },
  { when: { chunks: "some", text: "same" }, result: "current", reason: "" },
  {
    when: { chunks: "some", text: "other" },
    result: "stale",
    reason: "the index holds another text",
  },
  {
    when: { chunks: "some", text: "more" },
    result: "unknown",
    reason:
      "the index holds the sent text and more: a removed paragraph, or context that the service adds",
  },
  {
    when: { chunks: "some", text: "unsure" },
    result: "unknown",
    reason: "the index holds this text, or an older one that resembles it",
  },
  {
    when: { chunks: "some", text: "unread" },
    result: "unknown",
    reason: "indexed, but the chunks cannot be compared",
  },
  { when: { chunks: "some" }, result: "present", reason: "" },
  // No chunk for this reader: not indexed, not this reader's, hidden, or not refreshed yet.
  {
    when: { chunks: "none", ownKey: "some" },
    result: "hidden",
    reason: "the profile's own key finds it, the reader's key does not",
  },
  {
    when: { chunks: "none", search: "visible" },
    result: "unknown",
    reason: "a search finds it, the look-up does not: it may just have been indexed",
  },
  {
    when: { chunks: "none", search: "found" },
    result: "hidden",
    reason: "an administrator has hidden it",
  },
  {
    when: { chunks: "none", list: "no" },
    result: "missing",
    reason: "the service has neither a chunk nor a row of it",
  },
  {
    when: { chunks: "none", access: "no", list: "in another pair" },
    result: "hidden",
    reason: "in a private pair that this reader may not read",
  },
  {
    when: { chunks: "none", access: "no" },
    result: "hidden",
    reason: "its pair is private, and this reader may not read it",
  },
  {
    when: { chunks: "none", access: ["unknown", undefined] },
    result: "unknown",
    reason: "no chunk for this key; whether the key may read the pair is unknown",
  },
  {
    when: { chunks: "none", search: ["unavailable", undefined] },
    result: "unknown",
    reason:
      "not indexed, or hidden: only a search with an administrator's key can tell, for rare words",
  },
  {
    when: { chunks: "none", list: ["in this pair", "in another pair"] },
    result: "listed-only",
    reason: "the service lists it, but the index has no chunk",
  },
  {
    when: { chunks: "none" },
    result: "missing",
    reason: "the index has nothing of it",
  },
];

/** Result and reason for the facts, by the table. */
export function decideResult(facts: Facts): { result: VerifyResult; reason: string } {
  const row = decisions.find(({ when }) =>
    (Object.keys(when) as (keyof Facts)[]).every((name) =>
      [when[name]].flat().includes(facts[name]),
    ),
  );
  return row ?? { result: "unknown", reason: "no rule decides this" };
}

/** How a check ended: trust.md 4, exit codes 0, 13 and 10. */
export type CheckStatus = "passed" | "failed" | "partial";

/** Results that fail a check. `unknown` alone is another exit code. */
const failing: ReadonlySet<VerifyResult> = new Set(["missing", "stale", "listed-only", "hidden"]);

/** Whether a result is what the command expects, a failed check, or undecided. */
export function outcomeOf(
  result: VerifyResult,
  expectsHidden: boolean,
): "expected" | "failed" | "undecided" {
  if (expectsHidden) {
    if (result === "hidden") return "expected";
    return result === "current" || result === "present" || result === "stale"
      ? "failed"
      : "undecided";
  }
  if (failing.has(result)) return "failed";
  return result === "unknown" ? "undecided" : "expected";
}
