/** Text written line by line, without the gaps of removed constructs. */
export interface Lines {
  done: string[];
  /** The line that is being written. */
  line: string[];
  hasText: boolean;
  /** Something was removed from this line. */
  isStripped: boolean;
  /** The text ends in a gap: a further blank line would only widen it. */
  isGap: boolean;
}

export function createLines(): Lines {
  return { done: [], line: [], hasText: false, isStripped: false, isGap: true };
}

const isBlank = (text: string): boolean => text.trim() === "";

export function write(lines: Lines, text: string): void {
  lines.line.push(text);
  lines.hasText ||= !isBlank(text);
}

/** Ends the line. A line with nothing left counts as blank. */
export function endLine(lines: Lines): void {
  const whole = lines.line.join("");
  const text = lines.isStripped ? whole.trimEnd() : whole;
  if (!isBlank(text)) {
    lines.done.push(text);
    lines.isGap = false;
  } else {
    const isDouble = lines.isGap || (lines.isStripped && lines.done.at(-1) === "");
    if (!isDouble) lines.done.push("");
    lines.isGap ||= lines.isStripped;
  }
  lines.line = [];
  lines.hasText = false;
  lines.isStripped = false;
}

/** Records that something was removed. `separates` keeps the words on both sides separate. */
export function strip(lines: Lines, separates: boolean): void {
  lines.isStripped = true;
  const last = lines.line.at(-1) ?? "";
  if (separates && lines.hasText && !/\s$/.test(last)) lines.line.push(" ");
}

/** Writes a text of several lines in place of the line, with its indentation. */
export function writeBlock(lines: Lines, text: string): void {
  const indent = lines.line.join("");
  for (const [index, row] of text.split("\n").entries()) {
    if (index > 0) endLine(lines);
    lines.line = row === "" ? [] : [indent, row];
    lines.hasText = row.trim() !== "";
    // A blank line of the block is content.
    lines.isGap = false;
  }
}
