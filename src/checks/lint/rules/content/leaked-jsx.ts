import { bodyOf } from "../../page/body.ts";
import { atMost, findInProse, isWrittenAsMarkdown, quoted } from "../../page/matches.ts";
import type { Found, LintPage, PageRule } from "../../rule.ts";

const tag = /<[A-Z][\w.]{0,60}(?:\s[^<>]{0,500})?>/g;
const statement =
  /^import\s(?:[\w$*{}, \t]{1,200}\sfrom\s+)?["'][^"'\n]{1,200}["'];?[ \t]*$|^export\s+(?:default\s|(?:const|let|function|async function)\s+[\w$]+)/gm;
// Not the comment of Hugo's templates.
const comment = /(?<!\{)\{\/\*/g;
// A search for a line break is cheap, one at each line is not.
const marks = ["\nimport ", "\nexport "];
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

function* leaksIn(page: LintPage): Generator<Found> {
  const { text } = bodyOf(page);
  const hasStatements = /^(?:im|ex)port /.test(text) || marks.some((mark) => text.includes(mark));
  if (hasStatements) yield* findInProse(page, statement, leak);
  if (text.includes("{/*")) yield* findInProse(page, comment, leak);
  if (!/<[A-Z]/.test(text)) return;
  const closed = closedNames(text);
  yield* findInProse(page, tag, (found) => (isComponent(found, closed) ? leak(found) : undefined));
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
