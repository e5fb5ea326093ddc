import type { LintPage, Span } from "../rule.ts";

/** A reference of reStructuredText to a name that no target of its page has. */
export interface MissingTarget {
  name: string;
  span?: Span | undefined;
}

const [mostTargets, longest] = [200, 300];
const escaped = (text: string): string =>
  text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&").replace(/\s+/g, "\\s+");

/** The references of a page that lead nowhere, with their places in the file. */
export function missingTargets({ parsed, source = "" }: LintPage): MissingTarget[] | undefined {
  if (!parsed.unknownTargets) return undefined;
  const lastEnds = new Map<string, number>();
  return parsed.unknownTargets.slice(0, mostTargets).map(({ name, written }): MissingTarget => {
    if (written.length > longest) return { name };
    const pattern = new RegExp(`(?<![\\p{L}\\p{N}_])${escaped(written)}(?![\\p{L}\\p{N}_])`, "gu");
    pattern.lastIndex = lastEnds.get(written) ?? 0;
    const found = pattern.exec(source);
    if (!found) return { name };
    const end = found.index + found[0].length;
    lastEnds.set(written, end);
    return { name, span: { start: found.index, end } };
  });
}
