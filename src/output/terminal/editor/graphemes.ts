const segmenter = new Intl.Segmenter();

// Node's segmenter takes quadratic time, so a long text is split into pieces. A longer grapheme
// is cut; no real text contains one.
const pieceLength = 512;

/** The graphemes of a text, each with its index. */
export function* graphemesOf(text: string): Generator<{ segment: string; index: number }> {
  let at = 0;
  while (at < text.length) {
    // Half of a surrogate pair at the end would count as a separate character.
    const part = text.slice(at, at + pieceLength).replace(/[\ud800-\udbff]$/, "") || text.slice(at);
    const isLast = at + part.length === text.length;
    const found = [...segmenter.segment(part)];
    // The last grapheme may continue in the next piece.
    if (!isLast && found.length > 1) found.pop();
    for (const { segment, index } of found) yield { segment, index: at + index };
    const end = found.at(-1)!;
    at += end.index + end.segment.length;
  }
}

/** Start of the grapheme before `index`. */
export function graphemeBefore(text: string, index: number): number {
  if (index <= 0) return 0;
  const start = Math.max(0, index - pieceLength);
  return (
    start + (segmenter.segment(text.slice(start, index)).containing(index - start - 1)?.index ?? 0)
  );
}

/** End of the grapheme at `index`. */
export function graphemeAfter(text: string, index: number): number {
  const found = segmenter.segment(text.slice(index, index + pieceLength)).containing(0);
  return found ? index + found.segment.length : text.length;
}
