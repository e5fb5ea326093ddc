import type { Span } from "./rule.ts";

/** A change that a rule proposes: `fix` replaces the span. */
export interface Fix {
  rule: string;
  span: Span;
  fix: string;
}

export interface FixedText {
  text: string;
  /** The fixes in the text, in the order of their places. */
  applied: Fix[];
  /** Fixes that touch an applied one. A second run finds them again if they are still needed. */
  left: Fix[];
}

const isEmpty = ({ start, end }: Span): boolean => start === end;

/** Whether two fixes, the first not behind the second, change the same place. */
function overlap(first: Span, second: Span): boolean {
  if (second.start < first.end) return true;
  // Of two insertions at one place, the right order is unknown.
  return second.start === first.start && isEmpty(first) && isEmpty(second);
}

function checkSpan({ rule, span: { start, end } }: Fix, length: number): void {
  const isValid = Number.isInteger(start) && Number.isInteger(end) && 0 <= start && start <= end;
  if (!isValid || end > length) {
    throw new RangeError(`rule ${rule}: fix from ${start} to ${end} of ${length} characters`);
  }
}

/**
 * Applies the fixes that do not overlap; of two that do, the earlier one wins. Offsets are those of
 * `source`, in UTF-16 units.
 */
export function applyFixes(source: string, fixes: readonly Fix[]): FixedText {
  const sorted = fixes.toSorted(({ span: a }, { span: b }) => a.start - b.start || a.end - b.end);
  const applied: Fix[] = [];
  const left: Fix[] = [];
  let text = "";
  let at = 0;
  for (const each of sorted) {
    checkSpan(each, source.length);
    const last = applied.at(-1);
    if (last && overlap(last.span, each.span)) {
      left.push(each);
      continue;
    }
    text += source.slice(at, each.span.start) + each.fix;
    at = each.span.end;
    applied.push(each);
  }
  return { text: text + source.slice(at), applied, left };
}
