import { isAdoc } from "../page/anchors.ts";
import { bodyOf } from "../page/body.ts";
import { findInProse, isUnescaped } from "../page/spans.ts";
import type { ComparedPage, FolderRule, LintPage, Span } from "../rule.ts";
import { sentAsIs } from "./markup.ts";

/** The attributes that a page names and nothing defines: the first place of each. */
type AttributeFact = Record<string, Span | null>;

// docs.asciidoctor.org, "Handle unresolved references".
const attribute = /\{[a-z][\w-]{1,60}\}/gi;
const mostKept = 100;

function collect(page: LintPage): AttributeFact | undefined {
  const { text } = bodyOf(page);
  const { source } = page;
  if (source === undefined || !isAdoc(page) || !text.includes("{")) return undefined;
  const found = findInProse(page, attribute, (name, at) => {
    // `/users/{id}`: a part of an address; `@{upstream}`, `^{tree}`: the syntax of a program.
    const isPart = /[\w/={$@^-]/.test(text.charAt(at - 1)) || text.charAt(at + name.length) === "/";
    return isPart || !isUnescaped(source, name) ? undefined : name;
  });
  const fact = new Map<string, Span | null>();
  for (const { message: name, span } of found) {
    // The author protects the name: `\{name}`.
    if (span && source[span.start - 1] === "\\") continue;
    if (fact.size < mostKept && !fact.has(name)) fact.set(name, span ?? null);
  }
  return fact.size === 0 ? undefined : Object.fromEntries(fact);
}

/** An attribute, where it is first, and how many pages name it. */
interface Undefined extends ComparedPage {
  span: Span | undefined;
  pages: number;
}

/** Attributes of AsciiDoc that a build or a configuration would define: one finding for each name. */
export const undefinedAttribute: FolderRule<AttributeFact> = {
  kind: "folder",
  name: "undefined-attribute",
  group: "content",
  severity: "warning",
  summary: "Pages of AsciiDoc name an attribute that nothing defines",
  advice:
    "A build may define it, and an upload knows only the page and the configuration of its site: an answer quotes `{name}`. " +
    "Set the value in `ingest.attributes`, or put an example in code marks. An attribute has one finding in a project.",
  bad: "<!-- file: rooms.adoc -->\n= Rooms\n\nRelease {release-name} of the plan shows all four floors of the house.\n",
  good: "<!-- file: rooms.adoc -->\n= Rooms\n:release-name: Aare\n\nRelease {release-name} of the plan shows all four floors of the house.\n",
  collect,
  *compare(facts) {
    const names = new Map<string, Undefined>();
    for (const { fact, ...page } of facts) {
      for (const [name, span] of Object.entries(fact)) {
        const known = names.get(name);
        if (known) known.pages++;
        else names.set(name, { ...page, span: span ?? undefined, pages: 1 });
      }
    }
    for (const [name, { pages, ...first }] of names) {
      const where = pages === 1 ? "" : ` in ${pages} pages; this is the first`;
      yield { ...first, message: sentAsIs(name) + where };
    }
  },
};
