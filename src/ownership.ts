import type { Stats } from "node:fs";

/** Which owners a file may have that comes with a checkout and is believed. */
export interface OwnerRules {
  /** Id of the user who runs this; -1 where files have no owner (Windows). */
  uid: number;
  /** KNOWCTL_TRUST_PROJECT: a file of any owner counts. */
  trustAll: boolean;
}

/** Whether a file belongs to another user, and so could say what this user never meant. */
export function isForeign(stats: Pick<Stats, "uid">, { uid, trustAll }: OwnerRules): boolean {
  return !trustAll && uid >= 0 && stats.uid !== uid;
}
