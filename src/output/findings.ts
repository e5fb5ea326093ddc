import { neutralise, neutraliseLine } from "./terminal/neutralise.ts";
import type { Output } from "./terminal/output.ts";
import { wrapWords } from "./terminal/width.ts";
import { bold, dim, green, red, magenta, type Text } from "./terminal/text.ts";

export type FindingStatus = "ok" | "warning" | "failure" | "skipped";

/** Result of one check. */
export interface Finding {
  check: string;
  status: FindingStatus;
  /** One line. */
  message: string;
  /** Steps to fix the problem, a line each. */
  fixes: string[];
  /** Evidence for the message, a line each. */
  details: string[];
  /** For a skipped check: the failed check that it depends on. */
  because?: string;
  /** Duration in milliseconds. */
  ms: number;
}

const plain = (...parts: Text[]): Text => ({ parts });
const paints: Record<FindingStatus, (...parts: Text[]) => Text> = {
  ok: green,
  warning: magenta,
  failure: red,
  skipped: dim,
};

const statusWidth = 9;
const nameWidth = 15;
/** On a narrower terminal the text is below the name of the check, not beside it. */
const minColumnsBeside = 76;

interface Layout {
  /** Columns of the text; infinite without a terminal. */
  width: number;
  indent: number;
}

function layoutOf(output: Output): Layout {
  const columns = output.isTerminal ? output.columns() : Number.POSITIVE_INFINITY;
  const indent = columns < minColumnsBeside ? 2 : statusWidth + nameWidth;
  return { width: Math.max(16, columns - indent - 1), indent };
}

/** Writes a text in rows, the first after `mark`; `paint` styles each row. */
async function writeRows(
  output: Output,
  layout: Layout,
  mark: string,
  text: string,
  paint: (...parts: Text[]) => Text,
): Promise<void> {
  const space = " ".repeat(layout.indent);
  const rows = wrapWords(output.secrets.redact(neutraliseLine(text)), layout.width - mark.length);
  for (const [index, row] of rows.entries()) {
    const lead = index === 0 ? mark : " ".repeat(mark.length);
    await output.line(space, paint(`${lead}${row}`));
  }
}

/**
 * Writes one finding for people: status as a word (readable without colour), check
 * and message, then the fixes. Details follow a warning or failure, other statuses
 * only `withDetails`.
 */
export async function writeFinding(
  output: Output,
  finding: Finding,
  withDetails: boolean,
): Promise<void> {
  const { check, status, message, fixes, details } = finding;
  const layout = layoutOf(output);
  const paint = paints[status];
  const head: Text[] = [paint(status.padEnd(statusWidth)), bold(check.padEnd(nameWidth))];
  const paintMessage = status === "skipped" ? dim : plain;
  if (layout.indent < statusWidth) {
    await output.line(paint(status), " ", bold(check));
    await writeRows(output, layout, "", message, paintMessage);
  } else {
    const whole = output.secrets.redact(neutraliseLine(message));
    const [first = "", ...rest] = wrapWords(whole, layout.width);
    await output.line(...head, paintMessage(first));
    for (const row of rest) await output.line(" ".repeat(layout.indent), paintMessage(row));
  }
  const shown = withDetails || status === "warning" || status === "failure" ? details : [];
  for (const detail of shown) await writeRows(output, layout, "", detail, dim);
  for (const fix of fixes) await writeRows(output, layout, "→ ", fix, plain);
}

/** Writes the checks that one failed check caused to be skipped, as one finding. */
export async function writeSkipped(
  output: Output,
  names: readonly string[],
  because: string,
): Promise<void> {
  const [first = "", ...others] = names;
  const which = others.length === 0 ? "" : `: ${names.join(", ")}`;
  const message = `depends on ${because}, which failed${which}`;
  const check = others.length === 0 ? first : "other checks";
  const finding = { check, status: "skipped", message } as const;
  await writeFinding(output, { ...finding, fixes: [], details: [], ms: 0 }, false);
}

/** Writes the names of checks that passed or did not apply, without what they found. */
export async function writeNames(
  output: Output,
  status: FindingStatus,
  names: readonly string[],
): Promise<void> {
  const rows = wrapWords(names.join(", "), output.columns() - statusWidth - 1);
  for (const [index, row] of rows.entries()) {
    await output.line(paints[status]((index === 0 ? status : "").padEnd(statusWidth)), row);
  }
}

/** The findings as plain text, for a file. */
export function findingsText(findings: readonly Finding[]): string {
  const lines = findings.flatMap(({ check, status, message, fixes, details }) => [
    `${status.padEnd(statusWidth)}${check.padEnd(nameWidth)}${neutraliseLine(message)}`,
    ...details.map((detail) => `  ${neutraliseLine(detail)}`),
    ...fixes.map((fix) => `  → ${neutraliseLine(fix)}`),
  ]);
  return neutralise(`${lines.join("\n")}\n`);
}
