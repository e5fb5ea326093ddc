import type { ComparedFindings } from "../../checks/lint/baseline.ts";
import type { FixOutcome } from "../../checks/lint/fix-file.ts";
import type { ShownPath } from "../paths.ts";
import { neutraliseLine } from "../terminal/neutralise.ts";
import { countOf, formatCount } from "../terminal/progress.ts";

const maxLines = 20;

function firstLines(lines: readonly string[]): string[] {
  const shown = lines.slice(0, maxLines).map((line) => neutraliseLine(line));
  const hidden = lines.length - shown.length;
  return hidden > 0 ? [...shown, `  and ${formatCount(hidden)} more`] : shown;
}

/**
 * What a baseline did, as lines for people: the number of known findings, and the entries that no
 * longer occur. Empty if it did nothing. `name` is the name of the file as typed.
 */
export function baselineLines(
  { known, fixed }: ComparedFindings,
  name: string,
  shown: ShownPath = (path) => path,
): string[] {
  const left = known === 0 ? [] : [`${countOf(known, "known finding")} left out: ${name}`];
  if (fixed.length === 0) return left;
  const total = fixed.reduce((sum, { fingerprints }) => sum + fingerprints.length, 0);
  const entries = fixed.map(
    ({ path, rule, fingerprints }) =>
      `  fixed ${shown(path)}: ${rule}, ${formatCount(fingerprints.length)}`,
  );
  return [
    ...left,
    `${countOf(total, "finding")} of the baseline no longer ${total === 1 ? "occurs" : "occur"}; add --write-baseline to remove ${total === 1 ? "it" : "them"}`,
    ...firstLines(entries),
  ];
}

/** What `--fix` did, a line for each file that it changed or left alone. */
export function fixLines(
  outcomes: readonly FixOutcome[],
  shown: ShownPath = (path) => path,
): string[] {
  const lines: string[] = [];
  let left = 0;
  for (const outcome of outcomes) {
    const path = shown(outcome.path);
    left += outcome.left;
    if (outcome.refused !== undefined) lines.push(`not fixed ${path}: ${outcome.refused}`);
    else if (outcome.applied.length > 0) {
      const rules = outcome.applied.map(
        ({ rule, places }) => `${rule}, ${countOf(places, "place")}`,
      );
      lines.push(`fixed ${path}: ${rules.join("; ")}`);
    }
  }
  if (left > 0) {
    lines.push(`${countOf(left, "fix", "fixes")} would overlap with another: run --fix again`);
  }
  return lines.map((line) => neutraliseLine(line));
}
