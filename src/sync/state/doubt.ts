import type { Database } from "../../database.ts";
import { tombstoneMark } from "./records.ts";

/** Stands before the fingerprint of a document whose last request may have been lost with its answer. */
export const doubtMark = "~";

/** Whether nobody knows which version of a document the service has. */
export function isInDoubt(whole: string): boolean {
  return whole.startsWith(doubtMark);
}

/** A recorded document that a request changes. */
export interface Doubtful {
  target: string;
  id: string;
  /** The version that the request sends: a record of that version stays as it is. */
  sent?: string;
}

/**
 * Prepares putting recorded documents in doubt, as before a request that changes them: should its
 * answer never come, the recorded version is not taken for the one that the service has. A removal
 * notice stays one: what another pair sends under its id is not a document of this pair. The
 * caller opens the transaction.
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
