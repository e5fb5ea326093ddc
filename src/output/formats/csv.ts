/** Any value as text: objects as JSON, null as nothing. */
export function plainValue(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  return typeof value === "bigint" ? value.toString() : (JSON.stringify(value) ?? "");
}

/**
 * The text of a value in a cell of csv and tsv: null is empty, a list of plain
 * values is joined with commas, other objects are JSON.
 */
export function cellText(value: unknown, separator = ","): string {
  if (Array.isArray(value) && value.every((each) => typeof each !== "object" || each === null)) {
    return value.map((each) => cellText(each)).join(separator);
  }
  return plainValue(value);
}

/**
 * Text that a spreadsheet would run as a formula (CSV injection, OWASP) behind an
 * apostrophe, which it hides; plain numbers are none. Other formats keep the data.
 */
function withoutFormula(text: string): string {
  return /^[=+\-@\t\r]/.test(text) && !/^[-+]?\d+(?:[.,]\d+)*$/.test(text) ? `'${text}` : text;
}

/**
 * One line of csv, which is for spreadsheets: quotes as RFC 4180, but the line ends
 * with LF, as every reader takes it, and no cell is a formula.
 */
export function csvLine(values: readonly unknown[]): string {
  const cells = values.map((value) => {
    const text = withoutFormula(cellText(value));
    return /[",\n\r]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  });
  // A line of one empty cell would be an empty line, which readers skip.
  return `${cells.length === 1 && cells[0] === "" ? '""' : cells.join(",")}\n`;
}

/** One line of tsv. The format has no quotes: tabs and line breaks in a value become spaces. */
export function tsvLine(values: readonly unknown[]): string {
  return `${values.map((value) => cellText(value).replace(/[\t\n\r]+/g, " ")).join("\t")}\n`;
}
