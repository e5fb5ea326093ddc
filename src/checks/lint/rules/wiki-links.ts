import { basename } from "node:path/posix";
import { withoutExtension } from "../../../documents/files/file-name.ts";
import { siteOf } from "../../../documents/site/sites.ts";
import { findInProse, isUnescaped, isWrittenAsMarkdown, quoted } from "../page/spans.ts";
import type { FolderRule, LintPage, Span } from "../rule.ts";

interface WikiLink {
  text: string;
  span?: Span | undefined;
}

interface WikiFact {
  links: WikiLink[];
  count: number;
  /** A site whose generator has no such links: only the name of a file makes one. */
  isOfSite: boolean;
}

// `[[Page]]`, `![[image.png|300]]`; not `[[text]](address)`.
const wikiLink = /!?\[\[\p{L}[^\][\n"'=,]{0,100}\]\](?!\()/gu;
const tableOfContents = /^\[\[_?toc_?\]\]$/i;
// TOML, "Array of Tables": a line of its own before a key and its value.
const arrayOfTables = /^\[\[[\w.-]{1,100}\]\][ \t]*\n\s{0,20}[\w.-]{1,100}[ \t]*=/;
const mostKept = 100;

const nameOf = (path: string): string => withoutExtension(basename(path)).toLowerCase();

/** `![[Folder/Page#Heading|words]]` leads to `Page`. */
const targetOf = (text: string): string =>
  nameOf(text.replace(/^!?\[\[|\]\]$/g, "").replace(/[#|][^]*$/, ""));

function collect(page: LintPage): WikiFact {
  const isOfSite = siteOf(page.path, page.settings) !== undefined;
  const fact: WikiFact = { links: [], count: 0, isOfSite };
  const { source = "", parsed } = page;
  if (!parsed.isMarkdown || !isWrittenAsMarkdown(page) || !source.includes("[[")) return fact;
  const found = findInProse(page, wikiLink, (text, at, body) => {
    const isTable = tableOfContents.test(text) || arrayOfTables.test(body.slice(at, at + 400));
    return isTable || !isUnescaped(source, text) ? undefined : text;
  });
  for (const { message, span } of found) {
    if (fact.count++ < mostKept) fact.links.push({ text: message, span });
  }
  return fact;
}

const countOfPages = (count: number): string => (count === 1 ? "1 page" : `${count} pages`);

/** Links of notes in a folder that is no vault: one setting resolves all of them. */
export const wikiLinks: FolderRule<WikiFact> = {
  kind: "folder",
  name: "wiki-link",
  group: "links",
  severity: "warning",
  summary: "Links of a wiki are sent as they stand",
  advice:
    "An answer quotes `[[Leave]]`, and its reader cannot follow it. If the folder is a vault of Obsidian, " +
    "set `ingest.generator` to `obsidian`; else write a link with a path. A folder has one finding. In the folder " +
    "of another site generator, only names of files count.",
  bad: "# Travel\n\nTrips of more than five days count as [[Leave]] in part.\n",
  good: "# Travel\n\nTrips of more than five days count as leave in part: ask your team lead.\n",
  collect,
  *compare(facts) {
    const names = new Set(facts.map(({ path }) => nameOf(path)));
    const raw = facts.flatMap(({ fact: { links, count, isOfSite }, ...page }) => {
      if (!isOfSite) return links[0] ? [{ ...page, ...links[0], count }] : [];
      const named = links.filter(({ text }) => names.has(targetOf(text)));
      return named[0] ? [{ ...page, ...named[0], count: named.length }] : [];
    });
    const [first] = raw;
    if (!first) return;
    const { path, part, row, text, span } = first;
    const count = raw.reduce((sum, each) => sum + each.count, 0);
    const what =
      count === 1
        ? `${quoted(text)} is sent as it stands`
        : `${count} links of a wiki in ${countOfPages(raw.length)} are sent as they stand, such as ${quoted(text)}`;
    yield { path, part, row, span, message: `${what}; ingest.generator: obsidian resolves it` };
  },
};
