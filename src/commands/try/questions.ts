import type { IngestionDocument } from "../../api/schemas.ts";

/** What questions are made from: a title, and the headings of its sections. */
export interface Headed {
  title: string;
  headings: readonly string[];
}

// `--sections headings` begins the text of a section with this line: TITLE > HEADING > …
const between = " > ";

function headingOf(text: string, title: string): string | undefined {
  const [first = ""] = text.split("\n", 1);
  if (!first.startsWith(title + between)) return undefined;
  return first
    .slice(title.length + between.length)
    .split(between)
    .at(-1)
    ?.trim();
}

/** Title and headings of a document that was uploaded with `--sections headings`. */
export function headedOf(document: IngestionDocument): Headed {
  const title = document.title ?? document.semantic_identifier;
  const found = document.sections.map((each) => headingOf(each.text ?? "", title));
  return { title, headings: [...new Set(found)].filter((each) => each !== undefined) };
}

function questionOf({ title, headings }: Headed, number: number): string {
  const heading = headings[number % Math.max(1, headings.length)];
  if (heading === undefined) return `What is in "${title}"?`;
  return heading.endsWith("?") ? heading : `What about "${heading}" in "${title}"?`;
}

const most = 3;

/** Up to three questions, about different documents where there are so many; those with headings come first. */
export function questionsOf(documents: readonly Headed[]): string[] {
  const withHeadings = documents.filter(({ headings }) => headings.length > 0);
  const ordered = [...withHeadings, ...documents.filter((each) => !withHeadings.includes(each))];
  const step = Math.max(1, Math.floor(withHeadings.length / most));
  const questions = new Set<string>();
  for (let number = 0; questions.size < most && number < most * ordered.length; number++) {
    const document = ordered[(number * step) % ordered.length];
    if (document) questions.add(questionOf(document, number));
  }
  return [...questions];
}
