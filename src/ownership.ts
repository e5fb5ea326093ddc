import type { Stats } from "node:fs";

/** Which owners of a file in a checkout are trusted. */
export interface OwnerRules {
  /** Effective user id; -1 where files have no owner (Windows). */
  uid: number;
  /** KNOWCTL_TRUST_PROJECT: files of any owner are trusted. */
  trustAll: boolean;
}

/** Whether a file belongs to another user, so its contents are not trusted. */
export function isForeign(stats: Pick<Stats, "uid">, { uid, trustAll }: OwnerRules): boolean {
  return !trustAll && uid >= 0 && stats.uid !== uid;
}
