import type { PageRule } from "../rule.ts";

/** A file that is skipped because nothing is left to send. */
export const empty: PageRule = {
  kind: "page",
  name: "empty",
  group: "content",
  severity: "warning",
  summary: "The page has no text after cleaning",
  advice:
    "An upload skips the page, so nobody finds it. Write text, or set `ingest: false` in its front matter.",
  bad: "---\ntitle: Releases\n---\n\n<ReleaseTable />\n",
  good: "---\ntitle: Releases\n---\n\nWe release on the first Monday of each month.\n",
  *check({ skipped }) {
    if (skipped?.startsWith("empty")) yield { message: `an upload skips this page: ${skipped}` };
  },
};
