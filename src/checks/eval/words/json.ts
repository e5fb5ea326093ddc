import { runWithin } from "../../time-limit.ts";
import { findMismatch, type JsonSchema } from "./json-schema.ts";
import type { Word } from "./word.ts";

const limitMs = 1000;

/** The whole answer is JSON, and valid against the schema if there is one. */
export const isJson: Word<true | JsonSchema> = {
  judge(schema, { answer }) {
    let value: unknown;
    try {
      value = JSON.parse(answer);
    } catch {
      return { passed: false, detail: "the answer is not JSON" };
    }
    if (schema === true) return { passed: true };
    // The schema may have patterns.
    const checked = runWithin(limitMs, () => findMismatch(schema, value));
    if (!checked) return { error: "the JSON Schema takes too long on this answer" };
    return { passed: checked.value === undefined, detail: checked.value };
  },
};
