import type { Database } from "../../database.ts";
import { tombstoneMark } from "./records.ts";

/** Prefix of the fingerprint of a document whose last request got no response. */
export const doubtMark = "~";

/** Whether the version of a document on the service is unknown. */
export function isInDoubt(whole: string): boolean {
  return whole.startsWith(doubtMark);
}

/** A recorded document that the next request changes. */
export interface Doubtful {
  target: string;
  id: string;
  /** The version that the request sends: a record of the same version is not marked. */
  sent?: string;
}

/**
 * Returns a function that marks recorded documents as in doubt. Call it before a request that
 * changes them: if the response is lost, the recorded version must not count as the version on
 * the service. A tombstone stays one: what another pair sends under its id is not a document of
 * this pair. The caller opens the transaction.
 */
export function createDoubt(database: Database): (documents: readonly Doubtful[]) => void {
  const update = database.prepare(
    `UPDATE accepted SET whole = '${doubtMark}' || whole
      WHERE target = ? AND id = ? AND whole NOT IN (?, '${tombstoneMark}')
        AND substr(whole, 1, 1) <> '${doubtMark}'`,
  );
  return (documents) => {
    for (const { target, id, sent = "" } of documents) update.run(target, id, sent);
  };
}
