const maxChars = 500;

/** Collapses white space and cuts the text to `limit` characters without splitting one. */
export function shorten(text: string, limit: number = maxChars): string {
  // Collapsing a huge body costs time, and only its beginning is kept.
  const line = text
    .slice(0, limit * 8)
    .replace(/\s+/g, " ")
    .trim();
  if (line.length <= limit) return line;
  return `${line.slice(0, limit).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
