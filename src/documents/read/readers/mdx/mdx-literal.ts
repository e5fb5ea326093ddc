/** The end of each code span by its start: the next run of the same length in the paragraph. */
export function findSpans(text: string): Map<number, number> {
  const last = new Map<number, number>();
  const spans = new Map<number, number>();
  for (const { 0: run, index } of text.matchAll(/`+|\n[ \t]*\n/g)) {
    if (!run.startsWith("`")) last.clear();
    else {
      const open = last.get(run.length);
      // Nobody writes a text with so many spans.
      if (open !== undefined && spans.size < 1_000_000) spans.set(open, index + run.length);
      last.set(run.length, index);
    }
  }
  return spans;
}

/** Offset of the line break after `at`, or of the end. */
export function lineEndOf(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end;
}

/** The part of an indentation that Markdown would read as code: MDX has no indented code. */
export function excessOf(line: string, listIndent: number): number {
  const indent = /^[ \t]*/.exec(line)?.[0] ?? "";
  const width = indent.replaceAll("\t", "    ").length;
  return width >= listIndent + 4 ? Math.min(indent.length, width - listIndent) : 0;
}

/** Offset after text that must be copied unchanged: code, mathematics with braces, an escape. */
export function literalEnd(text: string, at: number, spans: ReadonlyMap<number, number>): number {
  const char = text[at];
  if (char === "\\") return text[at + 1] === "\n" ? at + 1 : Math.min(at + 2, text.length);
  if (char === "`") {
    const end = spans.get(at);
    return end ?? at + (/^`+/.exec(text.slice(at, at + 100))?.[0].length ?? 1);
  }
  if (char !== "$") return at + 1;
  if (text[at + 1] === "$") {
    const end = text.slice(at + 2, at + 10_000).indexOf("$$");
    return end === -1 ? at + 2 : at + end + 4;
  }
  const [line = ""] = text.slice(at + 1, at + 1000).split("\n", 1);
  const end = line.indexOf("$");
  return end > 0 && /[\\^_]/.test(line.slice(0, end)) ? at + end + 2 : at + 1;
}
