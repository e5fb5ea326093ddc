/** Text that grows line by line, without the gaps that stripped constructs leave. */
export interface Lines {
  done: string[];
  /** The line that is being written. */
  line: string[];
  hasText: boolean;
  /** Something was taken out of this line. */
  isStripped: boolean;
  /** Blank lines that follow here would only make a gap wider. */
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

/** Ends the line; one of which nothing is left counts as blank. */
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

/** Says that something was taken out; words on both sides stay apart when `parts` is set. */
export function strip(lines: Lines, parts: boolean): void {
  lines.isStripped = true;
  const last = lines.line.at(-1) ?? "";
  if (parts && lines.hasText && !/\s$/.test(last)) lines.line.push(" ");
}
