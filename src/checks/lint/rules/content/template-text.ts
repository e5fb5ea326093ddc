import { bodyOf } from "../../page/body.ts";
import { atMost, findInProse, quoted } from "../../page/matches.ts";
import type { PageRule } from "../../rule.ts";

// Jinja, Liquid, Vue, Hugo; ERB and EJS; properties of build tools; tables of contents. A name in
// `${name}` stands for a value of the reader's in most texts.
const template =
  /\{\{[^{}\n]{1,200}\}\}|\{%[^%\n]{1,300}%\}|<%[^%\n]{1,200}%>|\$\{[a-z_]\w{0,60}\.[\w.-]{1,60}\}|^[ \t]*\[(?:\[_?toc_?\]|toc)\][ \t]*$/gim;
// Of `{{ }}` and `{{ and }}`, the text speaks about the marks.
const isExpression = (found: string): boolean =>
  !found.startsWith("{{") || /^\{\{-?\s*(?!(?:and|or)\b)[\w$.("'/_]/.test(found);
// `projects/{{project}}/places/{{place}}`: the parts of an address, which the reader fills in.
const addressParts = /\{\{\w+\}\}(?:\/[\w.-]{1,60}){0,5}\/\{\{\w+\}\}/g;

/** The expressions that stand for a part of an address. */
function partsOfAddresses(text: string): Set<string> {
  const found = text.includes("}}/") ? text.match(addressParts) : null;
  return new Set(found?.flatMap((each) => each.match(/\{\{\w+\}\}/g) ?? []));
}

const quotes = /^(?:""|''|“”|«»|‘’|\(\))$/;

const optionBefore = /(?:^|\s)--[\w-]+[= ]["'][^"'\n]*$/;
const styleOfJsx = /^\{\{\s*["']?[\w-]+["']?\s*:\s/;

/** Whether an expression is meant as it stands: in the option of a command, or an object in JSX. */
function isMeant(found: string, text: string, at: number): boolean {
  if (styleOfJsx.test(found)) return text.charAt(at - 1) === "=" && isInTag(text, at);
  return optionBefore.test(text.slice(Math.max(0, at - 100), at));
}

const marks = ["{{", "{%", "<%", "${", "[[", "[TOC]", "[toc]"];

const longestTag = 500;

/** Whether an offset is in an HTML tag: a quoted value there is no quotation. */
function isInTag(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - longestTag), at);
  return before.lastIndexOf("<") > before.lastIndexOf(">");
}

export const templateText: PageRule = {
  kind: "page",
  name: "template-text",
  group: "content",
  severity: "warning",
  summary: "The text contains a template expression or shortcode that nothing has filled in",
  advice:
    "The site generator replaces it; an upload sends it as it stands, and an answer quotes it. " +
    "Write the value, send the built pages, or put an example in code marks.",
  bad: "# Download\n\nThe current version is {{ site.version }}. It needs 200 MB of disk space.\n",
  good: "# Download\n\nThe current version is 4.2. It needs 200 MB of disk space.\n",
  *check(page) {
    const { text } = bodyOf(page);
    if (!marks.some((mark) => text.includes(mark))) return;
    // Without marks for code, a text cannot tell its examples from its mistakes.
    if (page.source === undefined || !page.parsed.isMarkdown) return;
    const parts = partsOfAddresses(text);
    const found = findInProse(page, template, (each, at) => {
      if (parts.has(each)) return undefined;
      const around = text.charAt(at - 1) + text.charAt(at + each.length);
      if (!isExpression(each) || (quotes.test(around) && !isInTag(text, at))) return undefined;
      if (isMeant(each, text, at)) return undefined;
      return `${quoted(each)} is sent as it stands`;
    });
    yield* atMost(found, "template expressions are sent as they stand");
  },
};
