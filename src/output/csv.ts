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
 * One line of csv: quotes as RFC 4180, but the line ends with LF, as every
 * reader takes it. Text that a spreadsheet might read as a formula is left as
 * it is: this is data, and changing it would break every other reader.
 */
export function csvLine(values: readonly unknown[]): string {
  const cells = values.map((value) => {
    const text = cellText(value);
    return /[",\n\r]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  });
  // A line of one empty cell would be an empty line, which readers skip.
  return `${cells.length === 1 && cells[0] === "" ? '""' : cells.join(",")}\n`;
}

/** One line of tsv. The format has no quotes: tabs and line breaks in a value become spaces. */
export function tsvLine(values: readonly unknown[]): string {
  return `${values.map((value) => cellText(value).replace(/[\t\n\r]+/g, " ")).join("\t")}\n`;
}
