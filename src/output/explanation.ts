import type { Explanation } from "../documents/inspect/explain.ts";
import { neutraliseLine } from "./terminal/neutralise.ts";
import type { Output } from "./terminal/output.ts";
import { shownText, type ShownPath } from "./paths.ts";
import { formatCount } from "./terminal/progress.ts";
import { bold, dim, green, magenta } from "./terminal/text.ts";

const minValueWidth = 16;

function shorten(value: string, width: number): string {
  const line = neutraliseLine(value);
  return line.length > width ? `${line.slice(0, width - 1)}…` : line;
}

/**
 * Writes an explanation for people: the exact payload, then verdict and fields with their origins,
 * which a long payload would move off the screen.
 */
export async function writeExplanation(
  output: Output,
  explanation: Explanation,
  facts: { state: string; target: string | number | undefined; shown: ShownPath },
): Promise<void> {
  const { path, isIncluded, reason, fields, document } = explanation;
  if (document) {
    await output.line(dim("payload"));
    await output.line(JSON.stringify(document, undefined, 2));
    await output.line();
  }
  const shownPath = facts.shown(path);
  await output.line(
    bold(explanation.row === undefined ? shownPath : `${shownPath}#${explanation.row}`),
    isIncluded ? green("  is included: ") : magenta("  is skipped: "),
    reason,
  );
  await output.line(
    dim("target   "),
    String(facts.target ?? "none: set --cc-pair-id or --connector"),
  );
  await output.line(dim("state    "), facts.state);
  if (explanation.site !== undefined) await output.line(dim("site     "), explanation.site);
  if (explanation.rules.length > 0)
    await output.line(dim("rules    "), explanation.rules.join("; "));
  const size = `${formatCount(explanation.sourceBytes)} bytes read, ${formatCount(explanation.documentBytes)} sent`;
  await output.line(dim("size     "), size);
  if (explanation.images > 0) {
    await output.line(dim("images   "), `${explanation.images} skipped`);
  }
  for (const { kind, count, first } of explanation.leftOut) {
    const example = first === "" ? "" : ` (first: ${neutraliseLine(first)})`;
    await output.line(dim("left out "), `${kind} × ${formatCount(count)}${example}`);
  }
  for (const warning of explanation.warnings) {
    await output.warn(shownText(path, warning, facts.shown));
  }
  if (!document) return;
  await output.line();
  const nameWidth = Math.max(...fields.map(({ name }) => name.length));
  for (const { name, value, origin } of fields) {
    const from = `  ← ${neutraliseLine(origin)}`;
    const width = output.columns() - nameWidth - from.length - 3;
    const shown = shorten(output.secrets.redact(value), Math.max(minValueWidth, width));
    await output.line(bold(name.padEnd(nameWidth)), "  ", shown, dim(from));
  }
}
