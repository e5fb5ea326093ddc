const segmenter = new Intl.Segmenter();

// Node's segmenter takes quadratic time over a long text: it is given pieces. A character as a
// reader sees it that is longer than a piece is cut, which nobody who writes one will mind.
const piece = 512;

/** The characters of a text as a reader sees them, each with its index. */
export function* graphemesOf(text: string): Generator<{ segment: string; index: number }> {
  let at = 0;
  while (at < text.length) {
    // Half of a surrogate pair at the end would look like a character of its own.
    const part = text.slice(at, at + piece).replace(/[\ud800-\udbff]$/, "") || text.slice(at);
    const isLast = at + part.length === text.length;
    const found = [...segmenter.segment(part)];
    // The last one may go on in the next piece.
    if (!isLast && found.length > 1) found.pop();
    for (const { segment, index } of found) yield { segment, index: at + index };
    const end = found.at(-1)!;
    at += end.index + end.segment.length;
  }
}

/** Where the character before `index` begins. */
export function graphemeBefore(text: string, index: number): number {
  if (index <= 0) return 0;
  const start = Math.max(0, index - piece);
  return (
    start + (segmenter.segment(text.slice(start, index)).containing(index - start - 1)?.index ?? 0)
  );
}

/** Where the character at `index` ends. */
export function graphemeAfter(text: string, index: number): number {
  const found = segmenter.segment(text.slice(index, index + piece)).containing(0);
  return found ? index + found.segment.length : text.length;
}
