import type { Context } from "../../context.ts";
import { fixFile, type FixOutcome } from "../../checks/lint/fix-file.ts";
import type { Fix } from "../../checks/lint/fix.ts";
import { createRealPlaces } from "../../documents/find/real-place.ts";
import { readSourceText } from "../../documents/read/source-text.ts";
import { neutraliseLine } from "../../output/terminal/neutralise.ts";
import type { Output } from "../../output/terminal/output.ts";
import { countOf } from "../../output/terminal/progress.ts";
import type { DocumentSource } from "../ingest/options/settings.ts";
import type { Linted } from "./run-rules.ts";

const changedMeanwhile = "it changed after it was read";

function fixesByPath({ findings }: Linted): Map<string, Fix[]> {
  const fixes = new Map<string, Fix[]>();
  for (const { path, rule, span, fix } of findings) {
    if (!span || fix === undefined) continue;
    const known = fixes.get(path);
    if (known) known.push({ rule, span, fix });
    else fixes.set(path, [{ rule, span, fix }]);
  }
  return fixes;
}

function outcomeText({ applied, refused, left }: FixOutcome): string {
  if (refused !== undefined) return `not changed: ${refused}`;
  const places = applied.map(({ rule, places }) => `${rule}, ${countOf(places, "place")}`);
  const again = left === 0 ? "" : `; ${countOf(left, "fix", "fixes")} left: run it again`;
  return `fixed ${places.join("; ")}${again}`;
}

/**
 * Applies the fixes of a run and says what it changed. Returns the number of changed files. Throws
 * CliError `local` if the disk fails.
 */
export async function fixFiles(
  { signal }: Pick<Context, "signal">,
  output: Output,
  { settings, shown }: Pick<DocumentSource, "settings" | "shown">,
  linted: Linted,
): Promise<number> {
  const { root } = settings;
  const realPlaceOf = createRealPlaces(root);
  let changed = 0;
  for (const [path, fixes] of fixesByPath(linted)) {
    signal.throwIfAborted();
    const absolutePath = realPlaceOf(path);
    const read = readSourceText({ path, absolutePath }, settings);
    const isSame = read !== undefined && read.content === linted.contents.get(path);
    const outcome = isSame
      ? fixFile({ root, path, absolutePath, source: read.text, fixes })
      : { path, applied: [], left: 0, refused: changedMeanwhile };
    if (outcome.applied.length > 0) changed++;
    await output.note(neutraliseLine(`${shown(path)}: ${outcomeText(outcome)}`));
  }
  return changed;
}
