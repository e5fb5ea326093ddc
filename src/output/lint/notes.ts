import type { BaselineEntry } from "../../checks/lint/baseline.ts";
import type { ShownPath } from "../paths.ts";
import { neutraliseLine } from "../terminal/neutralise.ts";
import { countOf, formatCount } from "../terminal/progress.ts";

const maxLines = 20;

/**
 * The entries of a baseline that no longer occur, as lines for people: how many findings, then file
 * and rule of the first 20. Empty for none.
 */
export function fixedLines(fixed: readonly BaselineEntry[], shown: ShownPath): string[] {
  if (fixed.length === 0) return [];
  const total = fixed.reduce((sum, { fingerprints }) => sum + fingerprints.length, 0);
  const [verb, them] = total === 1 ? ["occurs", "it"] : ["occur", "them"];
  const lines = fixed.slice(0, maxLines).map(({ path, rule, fingerprints }) => {
    const count = fingerprints.length === 1 ? "" : `, ${formatCount(fingerprints.length)} findings`;
    return neutraliseLine(`  ${shown(path)}: ${rule}${count}`);
  });
  const hidden = fixed.length - lines.length;
  return [
    `${countOf(total, "finding")} of the baseline no longer ${verb}: remove ${them} with --write-baseline`,
    ...lines,
    ...(hidden > 0 ? [`  and ${formatCount(hidden)} more`] : []),
  ];
}
