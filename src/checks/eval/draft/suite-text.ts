import type { DocumentRef } from "../result.ts";

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
