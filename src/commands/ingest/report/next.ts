import { dialects } from "../../../api/dialects.ts";
import type { Context } from "../../../context.ts";
import type { UploadCounts } from "../../../output/terminal/progress.ts";
import type { IngestOptions } from "../ingest-options.ts";
import { givenFlags, selectionFlags, shapingFlags } from "../options/mapping-flags.ts";
import { unsavableFlag } from "../options/saved-options.ts";
import type { Session } from "../session.ts";

/** Whether plain `knowctl ingest` would repeat this upload once its options are saved. */
function isWorthSaving(options: IngestOptions): boolean {
  const { saveOptions, state, shard, since, flagSources } = options;
  if (saveOptions || state === false || shard || since !== undefined) return false;
  if (unsavableFlag(options)) return false;
  const isTargetGiven = (["ccPairId", "connector"] as const).some(
    (name) => options[name] !== undefined && flagSources?.[name] !== "env",
  );
  return isTargetGiven || givenFlags(options, [...shapingFlags, ...selectionFlags]).length > 0;
}

/**
 * After an upload that sent documents: the commands that help now. `firstOptions` are the options
 * of a first upload to this target. Prints nothing in CI, where nobody runs the next command.
 */
export async function printNext(
  context: Context,
  { output, source }: Pick<Session, "output" | "source">,
  { created, updated, verified }: UploadCounts,
  firstOptions?: IngestOptions,
): Promise<void> {
  if (created + updated === 0 || context.trialFiles || context.env["CI"]) return;
  if (firstOptions && context.stderr.isTTY && isWorthSaving(firstOptions)) {
    return await output.note(
      "next: use --save-options once, and plain `knowctl ingest` repeats this upload",
    );
  }
  if (verified === undefined && dialects[source.config.dialect].paths.documentSize) {
    await output.note("next: check that the index has the documents with `knowctl verify`");
  }
  await output.note('next: ask about the documents with `knowctl chat "…"`');
}
