import * as z from "zod/mini";
import { RetrievedDocument } from "./result.ts";

/** What the judge said about one expectation. */
const Judgement = z.strictObject({
  /** Position of the expectation in `expect`, from 0. */
  index: z.int(),
  /** From 0 to 1; absent if the judge failed. */
  score: z.optional(z.number()),
  reason: z.optional(z.string()),
  /** Why there is no score. */
  error: z.optional(z.string()),
});
export type Judgement = z.infer<typeof Judgement>;

/** What the service returned for one attempt at a case, before it is judged. */
const Reply = z.strictObject({
  /** Answers only. */
  answer: z.optional(z.string()),
  retrieved: z.array(RetrievedDocument),
  cited: z.array(RetrievedDocument),
  /** From the start of the last request to the end of its response. */
  elapsedMs: z.number(),
  /** Model calls, as far as known. */
  calls: z.int(),
  /** Why the reply cannot be judged. */
  error: z.optional(z.string()),
  judgements: z.optional(z.array(Judgement)),
});
export type Reply = z.infer<typeof Reply>;

export const repliesShape = {
  /** In the order of the repetitions. */
  runs: z.array(Reply),
  /** Of a leak test: what the profile of the run gets for the same question. */
  control: z.optional(Reply),
};
const CaseReplies = z.strictObject(repliesShape);
/** All replies to a case. */
export type CaseReplies = z.infer<typeof CaseReplies>;
