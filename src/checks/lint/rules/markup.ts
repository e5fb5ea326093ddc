import { posix } from "node:path";
import { bodyOf, type Body, createProseTest } from "../page/body.ts";
import {
  atMost,
  findInProse,
  isUnescaped,
  isWrittenAsMarkdown,
  quoted,
  createFindSpan,
} from "../page/spans.ts";
import { formatOf, formats } from "../../../documents/formats/formats.ts";
import { siteOf } from "../../../documents/site/sites.ts";
import { createLookup, mathOf } from "../../../documents/text/structure.ts";
import { isAdoc } from "../page/anchors.ts";
import type { Cause, Found, LintPage, PageRule } from "../rule.ts";

const tag = /<[A-Z][\w.]{0,60}(?:\s[^<>]{0,500})?>/g;
const statement =
  /^import\s(?:[\w$*{}, \t]{1,200}\sfrom\s+)?["'][^"'\n]{1,200}["'];?[ \t]*$|^export\s+(?:default\s|(?:const|let|function|async function)\s+[\w$]+)/gm;
// Not the comment of Hugo's templates.
const comment = /(?<!\{)\{\/\*/g;
// A search for a line break is cheap, one at each line is not.
const statementMarks = ["\nimport ", "\nexport "];
const hasAttribute = /\s[\w:@.-]+=["'{]/;
// `<A HREF="…">`, as HTML was once written.
const isHtml = (name: string): boolean => /^[A-Z][A-Z\d]*$/.test(name);

/** Names with an end tag: `<Name>` without one is a placeholder for a name. */
function closedNames(text: string): Set<string> {
  return new Set([...text.matchAll(/<\/([A-Z][\w.]{0,60})>/g)].map(([, name = ""]) => name));
}

/** Whether a tag opens a component: `<Card title="…">`, `<Card />`, or `<Card>` with an end tag. */
function isComponent(found: string, closed: ReadonlySet<string>): boolean {
  const name = /^<([\w.]+)/.exec(found)?.[1] ?? "";
  if (isHtml(name)) return false;
  return found.endsWith("/>") || hasAttribute.test(found) || closed.has(name);
}

const leak = (found: string): string => `code of a component is sent as text: ${quoted(found)}`;

/** Pages with one component have one finding for it. */
const componentCause = (message: string): Cause => ({
  key: /<[\w.]+/.exec(message)?.[0] ?? message,
  least: 0,
  what: "places show it",
});

function* leaksIn(page: LintPage): Generator<Found> {
  const { text } = bodyOf(page);
  const hasStatements =
    /^(?:im|ex)port /.test(text) || statementMarks.some((mark) => text.includes(mark));
  if (hasStatements) yield* findInProse(page, statement, leak);
  if (text.includes("{/*")) yield* findInProse(page, comment, leak);
  if (!/<[A-Z]/.test(text)) return;
  const closed = closedNames(text);
  const leaks = findInProse(page, tag, (found) =>
    isComponent(found, closed) ? leak(found) : undefined,
  );
  for (const each of leaks) yield { ...each, cause: componentCause(each.message) };
}

export const leakedJsx: PageRule = {
  kind: "page",
  name: "leaked-jsx",
  group: "content",
  severity: "warning",
  summary: "Code of components is sent as text: imports, exports, tags or comments of JSX",
  advice:
    "An upload removes it from MDX, and from Markdown that begins with imports. In other Markdown it is text. " +
    "Name the file `.mdx`, write plain Markdown, or put an example in code marks.",
  bad: '# Badges\n\n<Badge type="tip">New</Badge> Order a second badge at the desk on floor 1, with your ID card.\n',
  good: "# Badges\n\n**New:** Order a second badge at the desk on floor 1, with your ID card.\n",
  *check(page) {
    // In other formats, such a text is an example: code of their components is never text.
    if (isWrittenAsMarkdown(page)) {
      yield* atMost(leaksIn(page), "pieces of code of components are sent as text");
    }
  },
};

// `- todo: the directive has options` is an entry of a list.
const todo = String.raw`TODO:.*|(?:TODO|[Tt]odo|TBD|TBA|FIXME)[^\p{L}]*`;
const later =
  "[Tt]o be (?:written|done|defined|determined|announced|completed|added)|[Cc]oming soon|[Ww]ork in progress|[Uu]nder construction";
/** A line that is only a placeholder, as a paragraph or an item of a list. */
const placeholderLine = new RegExp(
  String.raw`^[\s>]*(?:[-*+]\s+)?[*_]{0,3}\[?(?:${todo}|(?:${later})[^\p{L}]*)$`,
  "u",
);
const dummyText = /\blorem ipsum dolor\b/i;
const dummyTexts = new RegExp(dummyText, "gi");
// What all placeholders begin with, after their marks: few other lines need the pattern.
const firstLetters = /^[\s>*_[+-]{0,20}(?:to|tb|fi|co|wo|un)/i;
const longestLine = 200;

// A line that goes on with the one before it is the end of a sentence, or an entry of a list of words.
const isContinued = (before: string): boolean => /^[^#=]*[\p{L}\d,]\s*$/u.test(before);
const anywhere = /^[\s>]*(?:[-*+]\s|[*_[]|TODO:)/;

// Between the code of an example and its dummy text are only tags and images.
const afterCode =
  /(?:^|\n)[ \t>]*(?:`{3,}|~{3,})[ \t]*\n\s*[<!:][^\n]*\n(?:[ \t>]*(?:[<!:][^\n]*)?\n)*[^\n]*$/;

/** Whether a page shows dummy text as code as well or behind code, as the result of its example. */
function isExample(body: Body): boolean {
  const isProse = createProseTest(body);
  const isResult = (at: number): boolean =>
    afterCode.test(body.text.slice(Math.max(0, at - 500), at));
  return [...body.text.matchAll(dummyTexts)].some(
    ({ index }) => !isProse(index) || isResult(index),
  );
}

/** A placeholder, and its offset in the line. */
interface Placeholder {
  found: string;
  at: number;
}

function placeholderIn(
  line: string,
  before: string,
  hasDummyText: boolean,
): Placeholder | undefined {
  const short = line.slice(0, longestLine);
  let whole = firstLetters.test(short) ? placeholderLine.exec(line.slice(0, 1000)) : undefined;
  if (whole && !anywhere.test(line) && isContinued(before.slice(-longestLine))) whole = null;
  const found = whole?.[0] ?? (hasDummyText ? dummyText.exec(line)?.[0] : undefined);
  if (found === undefined) return undefined;
  return { found: found.trim(), at: line.indexOf(found.trim()) };
}

export const placeholder: PageRule = {
  kind: "page",
  name: "placeholder",
  group: "content",
  severity: "note",
  summary: "The text contains a placeholder where text is still missing",
  advice:
    'A question about this subject finds the page, and the page has no answer: "to be written" is not one. ' +
    "Write the text, or remove the heading until you do.",
  bad: "# Printers\n\nEvery floor has a printer next to the kitchen.\n\n## Colour\n\nTBD\n",
  good: "# Printers\n\nEvery floor has a printer next to the kitchen.\n\n## Colour\n\nThe printer on floor 3 prints in colour.\n",
  *check(page) {
    const body = bodyOf(page);
    const { text } = body;
    const hasDummyText = text.includes("orem ip") && !isExample(body);
    const isProse = createProseTest(body);
    const find = createFindSpan(page);
    let before = "";
    for (let start = 0; start < text.length;) {
      const next = text.indexOf("\n", start);
      const end = next === -1 ? text.length : next;
      const line = text.slice(start, end);
      const missing = placeholderIn(line, before, hasDummyText);
      before = line;
      const at = start + (missing?.at ?? 0);
      start = end + 1;
      if (!missing || !isProse(at)) continue;
      const { found } = missing;
      // The label of a box that its reader writes: `> [!todo]`.
      const [label] = /\*\*[^*]+\*\*$/.exec(found) ?? [];
      if (label !== undefined && page.source?.includes(label) === false) continue;
      yield { message: `a placeholder: ${quoted(found)}`, span: find(at, at + found.length) };
    }
  },
};

// Jinja, Liquid, Vue, Hugo; ERB and EJS; properties of build tools; tables of contents. A name in
// `${name}` stands for a value of the reader's in most texts.
const template =
  /\{\{[^{}\n]{1,200}\}\}|\{%[^%\n]{1,300}%\}|<%[^%\n]{1,200}%>|\$\{[a-z_]\w{0,60}\.[\w.-]{1,60}\}|^[ \t]*\[(?:\[_?toc_?\]|toc)\][ \t]*$/gim;
// Of `{{ }}` and `{{ and }}`, the text speaks about the marks.
const isExpression = (found: string): boolean =>
  !found.startsWith("{{") || /^\{\{-?\s*(?!(?:and|or)\b)[\w$.("'/_<%]/.test(found);
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

const templateMarks = ["{{", "{%", "<%", "${", "[[", "[TOC]", "[toc]"];

const longestTag = 500;

/** Whether an offset is in an HTML tag: a quoted value there is no quotation. */
function isInTag(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - longestTag), at);
  return before.lastIndexOf("<") > before.lastIndexOf(">");
}

/** What a message says of a mark that its reader leaves in the text. */
export const sentAsIs = (found: string): string => `${quoted(found)} is sent as it stands`;

const isRst = ({ path, settings }: LintPage): boolean =>
  formatOf(path, settings.format) === formats.rst;

// Roles of MyST: `{ref}`label``.
const role = /\{[a-z]+(?:[:-][a-z]+)*\}`[^`\n]{1,200}`/gu;

/** What only another generator would turn into text. */
function* rawMarkup(page: LintPage, text: string): Generator<Found> {
  const { source = "" } = page;
  if (!isWrittenAsMarkdown(page) || !text.includes("}`")) return;
  yield* findInProse(page, role, (found) =>
    isUnescaped(source, found) ? sentAsIs(found) : undefined,
  );
}

/** Names in expressions of a page that nothing sets: its reader left them out. */
function* namesWithoutValue({ parsed, source = "", path, settings }: LintPage): Generator<Found> {
  if (siteOf(path, settings)?.generator !== "jekyll") return;
  let at = 0;
  for (const { kind, what } of parsed.leftOut ?? []) {
    if (kind !== "undefined") continue;
    const start = source.indexOf(what, at);
    const span = start === -1 ? undefined : { start, end: start + what.length };
    at = span?.end ?? at;
    const message = `nothing sets ${quoted(what)}: the page shows nothing there`;
    yield { message, span, cause: { key: what, least: 0, what: "pages name it" } };
  }
}

/** A folder of HTML with expressions is one of templates. */
function templatesOf({ path, settings }: LintPage): Cause | undefined {
  if (formatOf(path, settings.format) !== formats.html) return undefined;
  const folder = posix.dirname(path);
  return { key: folder, least: 0, what: `findings in ${folder}: exclude it if it has templates` };
}

export const templateText: PageRule = {
  kind: "page",
  name: "template-text",
  group: "content",
  severity: "warning",
  summary: "The text contains a template expression or a role that nothing has filled in",
  advice:
    "The site generator replaces it; an upload sends it as it stands, and an answer quotes it. A name of Jekyll " +
    "that nothing sets leaves a hole in the sentence. Write the value, send the built pages, or put an example in code marks.",
  bad: "# Download\n\nThe current version is {{ site.version }}. It needs 200 MB of disk space.\n",
  good: "# Download\n\nThe current version is 4.2. It needs 200 MB of disk space.\n",
  ofMost: (count) => `template expressions are sent as they stand in ${count} documents`,
  *check(page) {
    const { text } = bodyOf(page);
    // Without marks for code, a text cannot tell its examples from its mistakes.
    if (page.source === undefined || !page.parsed.isMarkdown) return;
    yield* atMost(rawMarkup(page, text), "marks of other generators are sent as they stand");
    yield* namesWithoutValue(page);
    if (isAdoc(page) || isRst(page) || !templateMarks.some((mark) => text.includes(mark))) return;
    const parts = partsOfAddresses(text);
    // `$\\frac{a}{{b}}$`: braces of TeX.
    const isInMath = createLookup(text.includes("$") ? mathOf(text) : []);
    // Their reader resolves or counts them: what is left is `v-pre`, which the page shows. In a page of
    // Hugo, only shortcodes are no text.
    const { generator = "" } = siteOf(page.path, page.settings) ?? {};
    const isShown = generator === "vitepress" || generator === "hugo";
    const found = findInProse(page, template, (each, at) => {
      if (isInMath(at)) return undefined;
      if (parts.has(each) || (isShown && each.startsWith("{{"))) return undefined;
      const around = text.charAt(at - 1) + text.charAt(at + each.length);
      if (!isExpression(each) || (quotes.test(around) && !isInTag(text, at))) return undefined;
      if (isMeant(each, text, at)) return undefined;
      return sentAsIs(each);
    });
    const cause = templatesOf(page);
    const all = Array.from(found, (each) => ({ ...each, cause }));
    yield* atMost(all, "template expressions are sent as they stand");
  },
};
