import { plainText } from "../../../documents/markdown/heading-text.ts";
import { removeIgnored } from "../../../documents/markdown/ignore-regions.ts";
import {
  scanStructure,
  type Heading,
  type Structure,
} from "../../../documents/markdown/structure.ts";
import type { LintPage } from "../rule.ts";
import { oncePerPage } from "./once.ts";

/** The text from a heading of level 1 to 3 to the next one: `sections: headings` sends it as a section. */
export interface PageSection {
  /** The headings above it and its own, top first; empty above the first heading. */
  path: readonly Heading[];
  /** Level of the next heading in the text; undefined at the end of the page. */
  nextLevel: number | undefined;
  /** Offset where the text begins, below the heading. */
  start: number;
  end: number;
}

/** The text of a page as an upload sends it, before it is split into sections. */
export interface Body {
  text: string;
  /** Undefined if the body is not Markdown. */
  structure: Structure | undefined;
  /** Of Markdown alone. */
  sections: readonly PageSection[];
}

const splitLevels = 3;
const none: Body = { text: "", structure: undefined, sections: [] };

function sectionsOf(text: string, { headings }: Structure): PageSection[] {
  const cuts = headings.filter(({ level }) => level <= splitLevels);
  const end = cuts[0]?.start ?? text.length;
  const sections: PageSection[] = [{ path: [], nextLevel: cuts[0]?.level, start: 0, end }];
  let path: Heading[] = [];
  for (const [index, heading] of cuts.entries()) {
    const next = cuts[index + 1];
    path = [...path.filter(({ level }) => level < heading.level), heading];
    sections.push({
      path,
      nextLevel: next?.level,
      start: heading.end,
      end: next?.start ?? text.length,
    });
  }
  return sections;
}

function read({ document, parsed, path }: LintPage): Body {
  if (!document) return none;
  const { body, isMarkdown, bodyLine } = parsed;
  if (!isMarkdown) {
    const texts = document.sections.map(({ text = "" }) => text);
    return { ...none, text: texts.join("\n\n") };
  }
  const text = removeIgnored(body, path, bodyLine);
  // No getters: each object with its own keeps its page in memory until a full collection.
  const structure = scanStructure(text);
  return { text, structure, sections: sectionsOf(text, structure) };
}

/** The text of a page. A page that is skipped has none. */
export const bodyOf = oncePerPage(read);

/** The plain texts of the headings of a section, top first. */
export const titlesOf = ({ path }: PageSection): string[] =>
  path.map(({ text }) => plainText(text));
