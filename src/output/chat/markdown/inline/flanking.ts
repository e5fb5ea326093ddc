const space = /^\s?$/;
const punctuation = /^[\p{P}\p{S}]/u;

/**
 * Whether a run of marks between the characters `before` and `after` (empty at
 * the edge of the text) can open or close emphasis, by the rules of CommonMark
 * 0.31, 6.2.
 */
export function readFlanks(
  kind: string,
  before: string,
  after: string,
): { opens: boolean; closes: boolean } {
  const left =
    !space.test(after) &&
    (!punctuation.test(after) || space.test(before) || punctuation.test(before));
  const right =
    !space.test(before) &&
    (!punctuation.test(before) || space.test(after) || punctuation.test(after));
  if (kind !== "_") return { opens: left, closes: right };
  // Inside a word an underscore is part of a name.
  return {
    opens: left && (!right || punctuation.test(before)),
    closes: right && (!left || punctuation.test(after)),
  };
}
