/** Edits (insert, delete, replace, swap of neighbours) that turn one word into the other. */
function distance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      let best = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      if (
        row > 1 &&
        column > 1 &&
        from[row - 1] === to[column - 2] &&
        from[row - 2] === to[column - 1]
      ) {
        best = Math.min(best, (beforeLast[column - 2] ?? 0) + 1);
      }
      current.push(best);
    }
    beforeLast = last;
    last = current;
  }
  return last[to.length] ?? 0;
}

const plain = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[-_\s]/g, "")
    .slice(0, 64);

/** The known words by their similarity to `word`, most similar first. Ignores case, `-` and `_`. */
export function bySimilarity(word: string, known: readonly string[]): string[] {
  const typed = plain(word);
  return known
    .map((name) => ({ name, edits: distance(typed, plain(name)) }))
    .toSorted((one, other) => one.edits - other.edits)
    .map(({ name }) => name);
}

/** The known word most similar to `word`, or undefined if none is similar. Ignores case, `-` and `_`. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const typed = plain(word);
  let found: { name: string; edits: number } | undefined;
  for (const name of known) {
    const edits = distance(typed, plain(name));
    if (edits > Math.max(1, Math.floor(plain(name).length / 3))) continue;
    if (!found || edits < found.edits) found = { name, edits };
  }
  return found?.name;
}
