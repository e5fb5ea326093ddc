import type { Output } from "../../output/output.ts";
import { countOf, formatCount } from "../../output/progress.ts";
import type { PlanEntry, PlanTable } from "../../sync/plan-table.ts";
import { shownText } from "../../output/paths.ts";
import type { Session } from "./session.ts";
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

/** Warnings of the files that were read, and how many images their texts refer to. */
export async function tellWarnings(
  { output, source }: Pick<Session, "output" | "source">,
  { shown, count }: ReturnType<PlanTable["warnings"]>,
  images: number,
): Promise<void> {
  for (const { path, message } of shown) {
    await output.warn(shownText(path, message, source.shown));
  }
  if (count > shown.length) await output.warn(`… and ${formatCount(count - shown.length)} more`);
  if (images > 0) await output.note(`${countOf(images, "image")} in the text left out`);
}

/** Why an entry of the plan failed; the reason often names the file itself. */
export function problemOf({ path, detail }: PlanEntry, { shown }: DocumentSource): string {
  return detail.startsWith(path) ? shownText(path, detail, shown) : `${shown(path)}: ${detail}`;
}
