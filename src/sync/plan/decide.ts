import { changedFields, type Fingerprint } from "../../documents/payload/payload.ts";
import { isInDoubt } from "../state/records.ts";
import { hash } from "node:crypto";

/**
 * Decides whether a document is sent. A pure function:
 *
 * | recorded as accepted | same fingerprint | force | action    |
 * |----------------------|------------------|-------|-----------|
 * | no                   | –                | –     | new       |
 * | yes                  | no               | –     | changed   |
 * | yes                  | yes              | no    | unchanged |
 * | yes                  | yes              | yes   | changed   |
 * | yes, but in doubt    | –                | –     | changed   |
 */
export function decide(
  accepted: Fingerprint | undefined,
  current: Fingerprint,
  force: boolean,
): { action: "new" | "changed" | "unchanged"; detail: string } {
  if (!accepted) return { action: "new", detail: "" };
  if (accepted.whole === current.whole) {
    return force ? { action: "changed", detail: "forced" } : { action: "unchanged", detail: "" };
  }
  const fields = changedFields(accepted.fields, current.fields);
  const isLost = fields.length === 0 && isInDoubt(accepted.whole);
  return { action: "changed", detail: isLost ? "its last response was lost" : fields.join(", ") };
}

/** One of `count` equal parts of all documents; `index` from 1. */
export interface Shard {
  index: number;
  count: number;
}

/**
 * Whether a document belongs to a shard. Uses only the SHA-256 of the id, so that every
 * machine and every version divides documents in the same way.
 */
export function isInShard(id: string, { index, count }: Shard): boolean {
  const number = Number.parseInt(hash("sha256", id, "hex").slice(0, 12), 16);
  return number % count === index - 1;
}
