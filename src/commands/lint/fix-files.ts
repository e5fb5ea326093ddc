import type { Context } from "../../context.ts";
import { fixFile, type FixOutcome, type Fix } from "../../checks/lint/fix.ts";
import { createRealPlaces } from "../../documents/files/real-place.ts";
import { readSourceText } from "../../documents/inspect/read.ts";
import { neutraliseLine } from "../../output/terminal/neutralise.ts";
import type { Output } from "../../output/terminal/output.ts";
import { countOf } from "../../output/terminal/progress.ts";
import type { DocumentSource } from "../ingest/options/settings.ts";
import type { Linted } from "./run-rules.ts";

const changedMeanwhile = "it changed after it was read";
const isGone = "it can no longer be read";

/** The fixes of one file after the other. */
function* fixesByPath({ findings }: Pick<Linted, "findings">): Generator<[string, Fix[]]> {
  let open: [string, Fix[]] | undefined;
  for (const { path, rule, span, fix } of findings) {
    if (!span || fix === undefined) continue;
    if (open?.[0] !== path) {
      if (open) yield open;
      open = [path, []];
    }
    open[1].push({ rule, span, fix });
  }
  if (open) yield open;
}

function changesText({ applied, left }: FixOutcome): string {
  const places = applied.map(({ rule, places }) => `${rule}, ${countOf(places, "place")}`);
  const again = left === 0 ? "" : `; ${countOf(left, "fix", "fixes")} left: run it again`;
  return `fixed ${places.join("; ")}${again}`;
}

/** Numbers of files. */
export interface FixedFiles {
  changed: number;
  /** Files with fixes that could not be changed. */
  refused: number;
}

/**
 * Applies the fixes of a run and says what it changed, and why it left a file alone. Throws CliError
 * `local` if the disk fails.
 */
export async function fixFiles(
  { signal }: Pick<Context, "signal">,
  output: Output,
  { settings, shown }: Pick<DocumentSource, "settings" | "shown">,
  linted: Pick<Linted, "findings" | "contents">,
): Promise<FixedFiles> {
  const { root } = settings;
  const realPlaceOf = createRealPlaces(root);
  const counts = { changed: 0, refused: 0 };
  for (const [path, fixes] of fixesByPath(linted)) {
    signal.throwIfAborted();
    const absolutePath = realPlaceOf(path);
    const read = readSourceText({ path, absolutePath }, settings);
    const isSame = read !== undefined && read.content === linted.contents.get(path);
    const outcome: FixOutcome = isSame
      ? fixFile({ root, path, absolutePath, source: read.text, fixes })
      : { path, applied: [], left: 0, refused: read ? changedMeanwhile : isGone };
    const name = neutraliseLine(shown(path));
    if (outcome.refused === undefined) {
      counts.changed++;
      await output.note(`${name}: ${changesText(outcome)}`);
    } else {
      counts.refused++;
      await output.warn(`${name}: not fixed: ${outcome.refused}`);
    }
  }
  return counts;
}
