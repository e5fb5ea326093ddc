import type { LintPage } from "../rule.ts";
import { createFields } from "../../../documents/front-matter/fields.ts";
import { readableName } from "../../../documents/map/map-fields.ts";
import { plainText } from "../../../documents/markdown/heading-text.ts";
import { scanStructure, type Heading } from "../../../documents/markdown/structure.ts";

function hasOwnTitle({ parsed, path, settings }: LintPage): boolean {
  const { title, semanticIdentifier } = settings.keys;
  const fields = createFields(parsed.frontMatter, path);
  if (fields.take(title) ?? fields.take(semanticIdentifier)) return true;
  if (parsed.title !== undefined && parsed.title.trim() !== "") return true;
  if (!parsed.isMarkdown) return false;
  const isTitle = ({ level, text }: Heading): boolean => level === 1 && plainText(text) !== "";
  const last = scanStructure(parsed.body, isTitle).headings.at(-1);
  return last !== undefined && isTitle(last);
}

/** Whether the name of the file replaces the title of a page, because it has none. */
export function isNamedByFile(page: LintPage): boolean {
  const { path, part, document } = page;
  const made = readableName(path) + (part === 0 ? "" : ` ${part}`);
  return document?.title === made && !hasOwnTitle(page);
}
