import type { Commit } from "../../git/last-commits.ts";
import type { CodeOwner } from "../../git/parse-code-owners.ts";

/**
 * What is known of a file that it does not say itself. Plain data: it travels
 * with the file to the thread that reads it. Only what the settings ask for.
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
