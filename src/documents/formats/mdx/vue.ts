import { strip, write, type Scan } from "./mdx-scan.ts";
import { addConstant, valueOf, type Scope } from "./mdx-js.ts";

// Markdown with components of Vue, as VitePress and VuePress read it (vitepress.dev, "Using Vue in
// Markdown"; vuejs.org, "Template Syntax").

// A constant of a template is on the first level of its script.
const constantLine = /^(?:export )?const [\w$]+ = (?:["'`\d-][^\n]*|\{[^\n]*\});?$/gm;
const mostScript = 100_000;

/** Adds the constants with plain values that the scripts of a page define. */
export function addScriptConstants(text: string, scope: Scope): void {
  for (let at = text.indexOf("<script"); at !== -1;) {
    const end = text.indexOf("</script>", at);
    if (end === -1) return;
    const code = text.slice(at, Math.min(end, at + mostScript));
    for (const [line] of code.matchAll(constantLine)) addConstant(line, scope);
    at = text.indexOf("<script", end);
  }
}

const longestExpression = 10_000;

/** Handles `{{ expression }}` at a "{"; false if there is none. */
export function scanInterpolation(scan: Scan): boolean {
  const { text, at, lines, page } = scan;
  if (!text.startsWith("{{", at) || at < scan.rawUntil || scan.missing.has("}}")) return false;
  const close = text.indexOf("}}", at + 2);
  if (close === -1) scan.missing.add("}}");
  if (close === -1 || close - at > longestExpression) return false;
  const code = text.slice(at + 2, close);
  // A paragraph ends at a blank line, and Vue sees the text of one paragraph.
  if (/\n[ \t]*\n/.test(code)) return false;
  scan.at = close + 2;
  const value = valueOf(code, page.scope);
  if (value !== undefined) write(lines, value);
  else strip(lines, false);
  if (value === undefined && scan.ignored === 0) page.log.add("expression", `{{${code}}}`, at);
  return true;
}

/** `::: v-pre` up to its end: expressions in it are text. */
const rawContainer = /^[ \t]*(:{3,})[ \t]*v-pre[ \t]*$/;

/** Handles lines of their own: `[[toc]]`, which is a list of links to this page, and `::: v-pre`. */
export function scanVueLine(scan: Scan, line: string): boolean {
  if (/^ {0,3}\[\[_?toc_?\]\][ \t]*$/i.test(line)) {
    scan.at += line.length;
    strip(scan.lines, false);
    return true;
  }
  const [, marks] = (line.includes("v-pre") && rawContainer.exec(line)) || [];
  if (marks !== undefined && scan.at >= scan.rawUntil) {
    const end = scan.text.indexOf(`\n${marks}`, scan.at + line.length);
    scan.rawUntil = end === -1 ? scan.text.length : end;
  }
  return false;
}
