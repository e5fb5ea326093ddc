import { plainText } from "../../documents/text/heading-text.ts";
import { scanStructure } from "../../documents/text/structure.ts";
import type { DocumentRef } from "./result.ts";

/** What a question is drafted from. */
interface PageWords {
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

/** A case that a person must review. */
export interface DraftCase {
  /** What the id is made of. */
  name: string;
  group: string | undefined;
  question: string;
  /** What the case expects. */
  mustRetrieve: readonly DocumentRef[];
  /** Why the question is here, as a comment. */
  remark?: string | undefined;
  /** Documents that may be right: written as a comment, because nobody has judged them. */
  proposed?: readonly { document: DocumentRef; title: string }[] | undefined;
}

// Text that YAML reads as text without quotes, also within braces.
const unquotedText = /^\p{L}[\p{L}\p{N} .'’?!()/_-]*$/u;
const otherMeaning = /^(?:true|false|null|yes|no|on|off|y|n)$/i;

/** A text as a YAML scalar. */
function scalar(text: string): string {
  if (unquotedText.test(text) && text === text.trim() && !otherMeaning.test(text)) return text;
  return JSON.stringify(text.toWellFormed()).replace(
    // JSON leaves them as they are, and YAML allows them only as escapes.
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function reference(ref: DocumentRef): string {
  if ("path" in ref) return scalar(ref.path);
  return "id" in ref ? `{ id: ${scalar(ref.id)} }` : `{ link: ${scalar(ref.link)} }`;
}

/** A comment of one line, whatever the text is. */
function comment(text: string): string {
  return `# ${text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ").slice(0, 200)}`;
}

const longestId = 90;
/** Of the schema of suites; a deep folder is longer. */
const longestGroup = 100;

/** Makes ids of names: only allowed characters, each id once, whatever its case. */
function createIds(): (name: string) => string {
  const taken = new Set<string>();
  return (name) => {
    const base =
      name
        .normalize("NFC")
        .replace(/[^A-Za-z0-9\u00C0-\u1FFF\u2C00-\uD7FF]+/g, "-")
        .slice(0, longestId)
        .replace(/^-+|-+$/g, "") || "case";
    let id = base;
    for (let number = 2; taken.has(id.toLowerCase()); number++) id = `${base}-${number}`;
    taken.add(id.toLowerCase());
    return id;
  };
}

function caseLines(draft: DraftCase, id: string): string[] {
  const { group, question, mustRetrieve, remark, proposed = [] } = draft;
  // A question that contains {{ would otherwise name a variable.
  const asked = question.replaceAll("{{", "{{open}}");
  return [
    ...(remark === undefined ? [] : [`  ${comment(remark)}`]),
    `  - id: ${scalar(id)}`,
    ...(group === undefined ? [] : [`    group: ${scalar(group.slice(0, longestGroup))}`]),
    `    question: ${scalar(asked)}`,
    ...(mustRetrieve.length === 0 ? [] : ["    must_retrieve:"]),
    ...mustRetrieve.map((ref) => `      - ${reference(ref)}`),
    ...(proposed.length === 0
      ? []
      : ["    # The stored answer cites these. Check them, and keep the right ones:"]),
    ...(proposed.length === 0 ? [] : ["    # must_retrieve:"]),
    ...proposed.map(({ document, title }) => `    #   - ${reference(document)} ${comment(title)}`),
    "    review: true",
  ];
}

/**
 * The text of a drafted suite. `origin` says what it was drafted from; `steps` what a person does
 * with each case.
 */
export function draftSuite(
  drafts: readonly DraftCase[],
  origin: string,
  steps: readonly string[],
): string {
  const idOf = createIds();
  const usesBraces = drafts.some(({ question }) => question.includes("{{"));
  const lines = [
    `# Drafted by \`knowctl eval init\` from ${origin}.`,
    "# No case counts yet. For each case:",
    ...steps.map((step, index) => `# ${index + 1}. ${step}`),
    "version: 1",
    ...(usesBraces ? ['variables: { open: "{{" }'] : []),
    "cases:",
    ...drafts.flatMap((draft) => caseLines(draft, idOf(draft.name))),
  ];
  return `${lines.join("\n")}\n`;
}
