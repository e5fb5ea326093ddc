import type { Explanation } from "../documents/inspect/explain.ts";
import { neutraliseLine } from "./terminal/neutralise.ts";
import type { Output } from "./terminal/output.ts";
import { shownText, type ShownPath } from "./paths.ts";
import { formatCount } from "./terminal/progress.ts";
import { bold, dim, green, magenta } from "./terminal/text.ts";
import { displayWidth, fit, wrapWords } from "./terminal/width.ts";

const minValueWidth = 16;
const labelWidth = 9;

/** Writes a fact; its further rows begin below its first word. */
async function writeFact(output: Output, label: string, fact: string): Promise<void> {
  const text = output.secrets.redact(neutraliseLine(fact));
  const [first = "", ...rest] = wrapWords(text, output.columns() - labelWidth);
  await output.line(dim(label.padEnd(labelWidth)), first);
  for (const row of rest) await output.line(" ".repeat(labelWidth), row);
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
  const fact = (label: string, text: string): Promise<void> => writeFact(output, label, text);
  await fact("target", String(facts.target ?? "none: set --cc-pair-id or --connector"));
  await fact("state", facts.state);
  if (explanation.site !== undefined) await fact("site", explanation.site);
  if (explanation.rules.length > 0) await fact("rules", explanation.rules.join("; "));
  const size = `${formatCount(explanation.sourceBytes)} bytes read, ${formatCount(explanation.documentBytes)} sent`;
  await fact("size", size);
  if (explanation.images > 0) await fact("images", `${explanation.images} skipped`);
  for (const { kind, count, first } of explanation.leftOut) {
    const example = first === "" ? "" : ` (first: ${neutraliseLine(first)})`;
    await fact("left out", `${kind} × ${formatCount(count)}${example}`);
  }
  for (const warning of explanation.warnings) {
    await output.warn(shownText(path, warning, facts.shown));
  }
  if (!document) return;
  await output.line();
  const nameWidth = Math.max(...fields.map(({ name }) => name.length));
  for (const { name, value, origin } of fields) {
    const from = `  ← ${neutraliseLine(origin)}`;
    const width = output.columns() - nameWidth - displayWidth(from) - 3;
    const text = neutraliseLine(output.secrets.redact(value));
    const shown = fit(text, Math.max(minValueWidth, width));
    await output.line(bold(name.padEnd(nameWidth)), "  ", shown, dim(from));
  }
}
