import { plainText } from "../../../documents/text/heading-text.ts";
import { scanStructure } from "../../../documents/text/structure.ts";

/** What a question is drafted from. */
export interface PageWords {
  title: string;
  /** Markdown texts of the document's sections. */
  texts: readonly string[];
}

const longest = 200;

// Headings that name no topic, in the languages of most documents.
const generic = new Set(
  (
    "overview introduction intro summary contents table of contents see also notes note references faq " +
    "prerequisites requirements usage example examples conclusion background general more changelog " +
    "übersicht einleitung einführung zusammenfassung inhalt siehe auch hinweise aperçu sommaire résumé " +
    "resumen introducción índice"
  ).split(" "),
);

const isTopic = (heading: string): boolean =>
  heading
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .some((word) => word.length > 2 && !generic.has(word));

const isQuestion = (text: string): boolean => /[?？]$/.test(text);

/** One line without characters that people do not see. */
function clean(text: string): string {
  return (
    plainText(text)
      // Icons of MkDocs and GitHub: `:simple-github:`.
      .replace(/(?<![^\s(]):[a-z0-9_+-]+:(?:\{[^{}]*\})?/g, "")
      .replace(/[\p{Cf}\p{Co}\p{Cn}]/gu, "")
      .replace(/[\p{Cc}\s]+/gu, " ")
      .trim()
  );
}

function headingsOf(text: string): string[] {
  return scanStructure(text)
    .headings.map((heading) => clean(heading.text))
    .filter((heading) => heading !== "" && heading.length <= longest);
}

/** Titles of instructions, as people search for them: "How to upgrade". */
const isTask = (title: string): boolean => /^how to\s/i.test(title);

/**
 * A first question about a document: its first heading that is a question, else its title if that is
 * one or names a task, else a question about its first heading with a topic.
 */
export function draftQuestion({ title, texts }: PageWords): string {
  const name = clean(title).slice(0, longest);
  const headings = texts.flatMap(headingsOf);
  const asked = [...headings, name].find(isQuestion);
  if (asked !== undefined) return asked;
  if (isTask(name)) return `${name}?`;
  const topic = headings.find(
    (heading) => isTopic(heading) && heading.toLowerCase() !== name.toLowerCase(),
  );
  return topic === undefined ? `What is in ${name}?` : `What does ${name} say about ${topic}?`;
}
