import { isComment, valueOf, writtenTemplate } from "./mdx-expression.ts";
import { skipBraces } from "./mdx-js.ts";
import { strip, write } from "./mdx-lines.ts";
import { writeImport } from "./mdx-markup.ts";
import type { Scan } from "./mdx-scan.ts";

/** Handles an expression at a "{"; false if there is none. */
export function scanExpression(scan: Scan): boolean {
  const { text, at, lines, page } = scan;
  // A heading id of Docusaurus is no expression.
  const end = /^\{#[^\s{}]+\}/.test(text.slice(at, at + 200))
    ? -1
    : skipBraces(text, at, scan.fuel);
  if (end === -1) return false;
  scan.at = end;
  const code = text.slice(at + 1, end - 1);
  const [, slash] = /^\/\*[ \t]*(\/?)knowctl:ignore[ \t]*\*\/$/.exec(code.trim()) ?? [];
  if (slash !== undefined) {
    write(lines, `<!-- ${slash}knowctl:ignore -->`);
    scan.ignored = Math.max(0, scan.ignored + (slash === "" ? 1 : -1));
    return true;
  }
  // MDX writes a blank or a brace as `{" "}` or `{'{'}`.
  const value = valueOf(code, page.scope);
  const imported = page.imports.get(code.trim());
  if (value !== undefined) write(lines, value);
  else if (imported?.kind === "code") writeImport(scan, imported, new Map(), [at, end]);
  else {
    const template = writtenTemplate(code);
    if (template === undefined) strip(lines, false);
    else write(lines, template);
    if (scan.ignored === 0) {
      if (!isComment(code)) page.log.add("expression", `{${code}}`, at);
      else if (code.trim() !== "") page.log.add("comment", "", at);
    }
  }
  return true;
}
