import type { RetrievedDocument } from "./result.ts";

/** What the judge said about one expectation. */
export interface Judgement {
  /** Position of the expectation in `expect`, from 0. */
  index: number;
  /** From 0 to 1; undefined if the judge failed. */
  score?: number | undefined;
  reason?: string | undefined;
  /** Why there is no score. */
  error?: string | undefined;
}

/** What the service returned for one attempt at a case, before it is judged. */
export interface Reply {
  /** Answers only. */
  answer?: string | undefined;
  retrieved: readonly RetrievedDocument[];
  cited: readonly RetrievedDocument[];
  /** From the start of the last request to the end of its response. */
  elapsedMs: number;
  /** Model calls, as far as known. */
  calls: number;
  /** Why the reply cannot be judged. */
  error?: string | undefined;
  judgements?: readonly Judgement[] | undefined;
}

/** All replies to a case. */
export interface CaseReplies {
  /** In the order of the repetitions. */
  runs: readonly Reply[];
  /** Of a leak test: what the profile of the run gets for the same question. */
  control?: Reply | undefined;
}
