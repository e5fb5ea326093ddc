/**
 * What kramdown reads otherwise than CommonMark, as CommonMark. kramdown.gettalong.org, "Syntax":
 * HTML blocks, the attribute `markdown`, abbreviations, extensions.
 */

const opening =
  /^ {0,3}<(div|table|dl|ul|ol|section|article|aside|main|header|footer|nav|details|figure|form|fieldset|center|blockquote|p)\b([^<>]*)>/i;
const isMarkdown = /\bmarkdown\s*=\s*["']?(?:1|block)\b/i;
const fence = /^ {0,3}(`{3,}|~{3,})/;
// `{::options toc_levels="2" /}`, `{::nomarkdown}`, `{:/nomarkdown}`, `*[HTML]: Hyper Text …`.
const silentLine =
  /^(?:\{::(?:options|nomarkdown)[^{}]*\}|\{:\/(?:options|nomarkdown)?\}|\*\[[^\]\n]+\]:.*)[ \t]*$/;
const toc = /^\{:[^{}]*\btoc\b(?!_)[^{}]*\}[ \t]*$/;
const item = /^(?:[-*+]|\d+\.)[ \t]/;

interface Blocks {
  rows: readonly string[];
  done: string[];
  /** Names of open elements whose content is Markdown. */
  open: string[];
  /** Names of elements that are never closed. */
  unclosed: Set<string>;
}

/** The row after the end of an element that begins in a row; undefined if it is never closed. */
function endOf({ rows, unclosed }: Blocks, first: number, name: string): number | undefined {
  if (unclosed.has(name)) return undefined;
  const tag = new RegExp(`<(/?)${name}\\b[^<>]*?(/?)>`, "gi");
  let depth = 0;
  for (let at = first; at < rows.length; at++) {
    for (const [, slash, alone] of (rows[at] ?? "").matchAll(tag)) {
      depth += slash === "/" ? -1 : alone === "/" ? 0 : 1;
    }
    if (depth <= 0) return at + 1;
  }
  unclosed.add(name);
  return undefined;
}

/**
 * The rows of HTML in Markdown: a blank line would end it, and indented lines would be code. Those of
 * `pre` and of a fence, in which Liquid puts code, stay as they are.
 */
export function compactBlock(rows: readonly string[]): string[] {
  let inPre = false;
  let marks: string | undefined;
  return rows.flatMap((row) => {
    const isKept = inPre;
    if (/<pre\b/i.test(row)) inPre = true;
    if (/<\/pre\s*>/i.test(row)) inPre = false;
    if (isKept) return [row];
    const text = row.trimStart();
    const [, found] = fence.exec(text) ?? [];
    if (marks === undefined && found !== undefined) {
      marks = found;
      return ["", text];
    }
    if (marks === undefined) return text === "" ? [] : [text];
    if (found?.startsWith(marks) !== true) return [row];
    marks = undefined;
    return [text, ""];
  });
}

/** Reads the HTML block at a row; returns the row after it, undefined for another row. */
function readHtml(blocks: Blocks, at: number): number | undefined {
  const { rows, done, open } = blocks;
  const row = rows[at] ?? "";
  const last = open.at(-1);
  if (last !== undefined && new RegExp(`^\\s*</${last}\\s*>`, "i").test(row)) {
    open.pop();
    done.push("", row.replace(/^\s*<\/[^<>]*>/, ""));
    return at + 1;
  }
  const [whole = "", written = "", attributes = ""] = opening.exec(row) ?? [];
  if (whole === "") return undefined;
  const name = written.toLowerCase();
  if (isMarkdown.test(attributes)) {
    const rest = row.slice(whole.length);
    const close = rest.lastIndexOf(`</${name}`);
    if (close === -1) open.push(name);
    done.push("", close === -1 ? rest : rest.slice(0, close), "");
    return at + 1;
  }
  const end = endOf(blocks, at, name);
  if (end === undefined) return undefined;
  const block = rows.slice(at, end);
  done.push(...compactBlock(block));
  if ((rows[end] ?? "").trim() !== "") done.push("");
  return end;
}

const mark = /^ {0,3}<|^\{:|^\*\[/m;

/** The Markdown of kramdown as other readers read it. The time is linear in the length of the text. */
export function readKramdown(text: string): string {
  if (!mark.test(text)) return text;
  const blocks: Blocks = { rows: text.split("\n"), done: [], open: [], unclosed: new Set() };
  const { rows, done } = blocks;
  let marks: string | undefined;
  for (let at = 0; at < rows.length;) {
    const row = rows[at] ?? "";
    const [, found] = fence.exec(row) ?? [];
    if (marks === undefined && found === undefined) {
      const end = readHtml(blocks, at);
      if (end !== undefined) {
        at = end;
        continue;
      }
      // The list above it gives way to the table of contents.
      if (toc.test(row) && item.test(done.at(-1) ?? "")) done.pop();
      if (!toc.test(row) && !silentLine.test(row)) done.push(row);
    } else {
      if (marks === undefined) marks = found;
      else if (found?.startsWith(marks) === true) marks = undefined;
      done.push(row);
    }
    at++;
  }
  return done.join("\n");
}
