import type { Commit } from "../../git/last-commits.ts";
import type { CodeOwner } from "../../git/parse-code-owners.ts";

/**
 * Facts about a file from outside the file; only those that the settings need. Plain data: it is
 * sent with the file to the thread that reads it.
 */
export interface FileFacts {
  /** The commit that last changed it. */
  commit?: Commit | undefined;
  /** Owners that CODEOWNERS names. */
  owners?: readonly CodeOwner[] | undefined;
}

/** For `explain`: `git commit abc1234`. */
export function commitOrigin({ id }: Commit): string {
  return `git commit ${id.slice(0, 7)}`;
}
