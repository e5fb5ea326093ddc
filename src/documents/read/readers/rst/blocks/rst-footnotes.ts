/** What footnotes show. */
export interface Footnotes {
  /** For a reference: `1`, `#`, `#name`, or the name of a citation. */
  ofReference: (label: string) => string;
  /** For the footnote at this place among all footnotes. */
  ofNote: (index: number) => string;
}

/** Numbers the footnotes: one with `#` gets the next number that no other footnote has. */
export function numberFootnotes(labels: readonly string[]): Footnotes {
  const taken = new Set(labels);
  const numbers: string[] = [];
  const named = new Map<string, string>();
  const unnamed: string[] = [];
  let last = 0;
  for (const label of labels) {
    if (label.startsWith("#")) {
      do last++;
      while (taken.has(String(last)));
    }
    const shown = label.startsWith("#") ? String(last) : label;
    numbers.push(shown);
    if (label === "#") unnamed.push(shown);
    else if (!named.has(label)) named.set(label, shown);
  }
  let next = 0;
  return {
    ofReference: (label) => (label === "#" ? unnamed[next++] : named.get(label)) ?? label,
    ofNote: (index) => numbers[index] ?? "",
  };
}
