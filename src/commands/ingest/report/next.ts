import { dialects } from "../../../api/dialects.ts";
import type { Context } from "../../../context.ts";
import type { UploadCounts } from "../../../output/terminal/progress.ts";
import type { IngestOptions } from "../ingest-options.ts";
import { givenFlags, selectionFlags, shapingFlags } from "../options/mapping-flags.ts";
import { flagOutsideFile } from "../options/options-for-file.ts";
import type { Session } from "../session.ts";

/** Whether a project file would repeat this upload. */
function isWorthSaving(options: IngestOptions): boolean {
  const { state, shard, since, flagSources } = options;
  if (state === false || shard || since !== undefined) return false;
  if (flagOutsideFile(options)) return false;
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
      "next: the same command with --print-config prints a project file for plain `knowctl ingest`",
    );
  }
  if (verified === undefined && dialects[source.config.dialect].paths.documentSize) {
    await output.note("next: check that the index has the documents with `knowctl verify`");
  }
  await output.note('next: ask about the documents with `knowctl chat "…"`');
}
