import type { RetrievedDocument } from "../../../src/checks/eval/result.ts";

/** A retrieved document for tests. */
export function retrieved(part: Partial<RetrievedDocument> = {}): RetrievedDocument {
  return { rank: 1, id: null, title: null, link: null, path: null, snippet: null, ...part };
}
