export interface Item {
  /** Equal for the items of one list. */
  marker: string;
  text: string;
  isNumbered: boolean;
  /** The number that is written; undefined without one. */
  number?: number;
  /** Of a description list. */
  term?: string;
}

const marked = /^[ \t]*(-|\*{1,20}|\.{1,20}|\d{1,9}\.|[A-Za-z]\.|[ivxIVX]{1,8}\))[ \t]+(\S.*)$/;
const callout = /^<(?:\d{1,9}|\.)>[ \t]+(\S.*)$/;
const description = /(:{2,4}|;;)(?:[ \t]+|$)/;

/** The list item that a line begins; undefined for none. */
export function itemOf(line: string): Item | undefined {
  const [, mark, text = ""] = marked.exec(line) ?? [];
  if (mark !== undefined) {
    const isNumbered = mark !== "-" && !mark.startsWith("*");
    const marker = /^\d/.test(mark) ? "1." : /^[A-Za-z]/.test(mark) ? "a." : mark;
    if (marker === "1.") return { marker, text, isNumbered, number: Number.parseInt(mark, 10) };
    return { marker, text, isNumbered };
  }
  const [, called] = callout.exec(line) ?? [];
  if (called !== undefined) return { marker: "<1>", text: called, isNumbered: true };
  const found = line.includes("::") || line.includes(";;") ? description.exec(line) : null;
  if (!found || line.startsWith("//")) return undefined;
  const term = line.slice(0, found.index).trim();
  if (term === "") return undefined;
  const rest = line.slice(found.index + found[0].length).trim();
  return { marker: found[1] ?? "", text: rest, isNumbered: false, term };
}
