import { addConstant } from "./mdx-expression.ts";
import { skipImport, skipStatement } from "./mdx-js.ts";
import { endLine, strip, write } from "./mdx-lines.ts";
import { excessOf, lineEndOf } from "./mdx-literal.ts";
import type { Import, Scan } from "./mdx-scan.ts";

const fence = /^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})(.*)$/;
const listItem = /^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+/;
const exportForm =
  /export\s+(?:(?:default|const|let|var|async|function|class|type|interface|enum)\b|[{*])/y;
// `import A, { toc as aToc } from "./a.mdx"`, as Docusaurus shows it for partials.
const importForm =
  /^import\s+(?:([\w$]+)(?:\s*,\s*(?:\{[^{}]*\}|\*\s*as\s+[\w$]+))?|\{\s*(?:Content|default)\s+as\s+([\w$]+)\s*\})\s*\bfrom\s*["']([^"'\n]+)["']/;

/** Copies a fence up to the line that closes it, or to the end. */
function copyFence(scan: Scan, first: string, marks: string): void {
  const { text, lines } = scan;
  const excess = listItem.test(first) ? 0 : excessOf(first, scan.listIndent);
  const closing = new RegExp(`^[ \\t>]*${marks[0] === "~" ? "~" : "`"}{${marks.length},}[ \\t]*$`);
  for (let isFirst = true; scan.at < text.length; isFirst = false) {
    const end = lineEndOf(text, scan.at);
    const line = text.slice(scan.at, end);
    const indent = /^[ \t]*/.exec(line)?.[0].length ?? 0;
    write(lines, line.slice(Math.min(excess, indent)));
    // Blank lines in a fence are content.
    lines.isGap = false;
    scan.at = end;
    if (!isFirst && closing.test(line)) return;
    if (end === text.length) return;
    endLine(lines);
    scan.at = end + 1;
  }
}

/** The file behind an import: Markdown, or one that a bundler gives as text. */
function importOf(source: string): Import | undefined {
  // webpack: `!!raw-loader!./a.js`; Vite: `./a.js?raw`.
  const [, loaded] = /^!?!?raw-loader!(.+)$/.exec(source) ?? /^(.+)\?raw$/.exec(source) ?? [];
  if (loaded !== undefined) return { target: loaded, kind: "code" };
  return /\.mdx?$/i.test(source) ? { target: source, kind: "text" } : undefined;
}

function skipEsm({ text, at, fuel, page }: Scan): number {
  if (text.startsWith("import", at)) {
    const end = skipImport(text, at, fuel);
    const [, byDefault, content, source = ""] =
      (end !== -1 && importForm.exec(text.slice(at, end))) || [];
    const name = byDefault ?? content;
    const imported = importOf(source);
    if (name !== undefined && imported) page.imports.set(name, imported);
    return end;
  }
  exportForm.lastIndex = at;
  if (!text.startsWith("export", at) || !exportForm.test(text)) return -1;
  const end = skipStatement(text, at, fuel);
  if (end !== -1) addConstant(text.slice(at, end), page.scope);
  return end;
}

/** Handles constructs that can only begin a line: statements, fences, list items, directives. */
export function scanLineStart(scan: Scan): void {
  const { text, at, lines } = scan;
  const line = text.slice(at, lineEndOf(text, at));
  const isBlank = line.trim() === "";
  const esm = scan.isFresh ? skipEsm(scan) : -1;
  if (esm !== -1) {
    scan.at = esm;
    strip(lines, false);
    endLine(lines);
    return;
  }
  const wasFresh = scan.isFresh;
  scan.isFresh = isBlank;
  const marks = line.includes("```") || line.includes("~~~") ? fence.exec(line) : undefined;
  const item = listItem.exec(line)?.[0];
  if (marks?.[1] && !(marks[1].startsWith("`") && marks[2]?.includes("`"))) {
    if (item) scan.listIndent = item.replaceAll("\t", "    ").length;
    copyFence(scan, line, marks[1]);
    scan.isFresh = true;
  } else if (item) scan.listIndent = item.replaceAll("\t", "    ").length;
  else if (!isBlank) {
    if (!/^[ \t]/.test(line) && wasFresh) scan.listIndent = 0;
    scan.at += excessOf(line, scan.listIndent);
    // A directive: `:::note{title="x"}`. Its braces are no expression.
    if (line.includes(":::") && /^[ \t]*:{3,}/.test(line)) {
      write(lines, text.slice(scan.at, at + line.length));
      scan.at = at + line.length;
      scan.isFresh = true;
    }
  }
}
