import type { Found, LintPage } from "../rule.ts";
import { keyOf, spanOfKey } from "./keys.ts";

/**
 * Findings in the title and the metadata of a page, each at the line of its key. `problemIn` returns
 * what is wrong with a text.
 */
export function* findInFields(
  page: LintPage,
  problemIn: (text: string) => string | undefined,
): Generator<Found> {
  const { document, settings } = page;
  if (!document) return;
  const { title, semanticIdentifier } = settings.keys;
  const titleKey = keyOf(page, [...title, ...semanticIdentifier]);
  const fields = Object.entries(document.metadata);
  // A title from a heading is part of the body.
  if (titleKey !== undefined) {
    fields.push([titleKey, [document.title ?? "", document.semantic_identifier]]);
  }
  for (const [name, value] of fields) {
    const problem = problemIn(typeof value === "string" ? value : value.join("\n"));
    if (problem === undefined) continue;
    const key = keyOf(page, [name, name.split(".", 1)[0] ?? ""]);
    yield {
      message: `in ${name}: ${problem}`,
      span: key === undefined ? undefined : spanOfKey(page, key),
    };
  }
}
