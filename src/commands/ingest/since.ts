import type { Output } from "../../output/output.ts";
import { countOf, formatCount } from "../../output/progress.ts";
import type { DocumentSource } from "./settings.ts";

/** With `--since`: how many files changed, and what became of those that are gone. */
export async function tellSince(output: Output, { since }: DocumentSource): Promise<void> {
  if (!since) return;
  const { ref, changedCount, renamed, deleted } = since;
  const parts = [
    `${countOf(changedCount, "file")} changed` +
      (renamed.size > 0 ? ` (${formatCount(renamed.size)} renamed)` : ""),
    ...(deleted.size > 0 ? [`${formatCount(deleted.size)} deleted`] : []),
  ];
  await output.note(`since ${ref}: ${parts.join(", ")}`);
  if (renamed.size + deleted.size === 0) return;
  await output.note(
    "documents of deleted and renamed files are still there; with --dry-run they are listed",
  );
}
