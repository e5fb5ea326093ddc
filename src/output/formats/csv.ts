/** Any value as text: objects as JSON, null as empty text. */
export function plainValue(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  return typeof value === "bigint" ? value.toString() : (JSON.stringify(value) ?? "");
}

/**
 * The text of a value in a csv or tsv cell: null is empty, a list of plain values
 * is joined with commas, other objects are JSON.
 */
export function cellText(value: unknown, separator = ","): string {
  if (Array.isArray(value) && value.every((each) => typeof each !== "object" || each === null)) {
    return value.map((each) => cellText(each)).join(separator);
  }
  return plainValue(value);
}

/**
 * Puts an apostrophe, which spreadsheets hide, before text that they would run as a
 * formula (CSV injection, OWASP); not before plain numbers. Other formats keep the data.
 */
function escapeFormula(text: string): string {
  return /^[=+\-@\t\r]/.test(text) && !/^[-+]?\d+(?:[.,]\d+)*$/.test(text) ? `'${text}` : text;
}

/**
 * One line of csv for spreadsheets: quoted as in RFC 4180, but it ends with LF, which
 * every reader accepts, and no cell is a formula.
 */
export function csvLine(values: readonly unknown[]): string {
  const cells = values.map((value) => {
    const text = escapeFormula(cellText(value));
    return /[",\n\r]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  });
  // Without quotes, a single empty cell would be an empty line, which readers skip.
  return `${cells.length === 1 && cells[0] === "" ? '""' : cells.join(",")}\n`;
}

/** One line of tsv. The format has no quotes: tabs and line breaks in a value become spaces. */
export function tsvLine(values: readonly unknown[]): string {
  return `${values.map((value) => cellText(value).replace(/[\t\n\r]+/g, " ")).join("\t")}\n`;
}
