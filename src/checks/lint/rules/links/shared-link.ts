import type { FolderRule, LintPage } from "../../rule.ts";
import { createFields } from "../../../../documents/front-matter/fields.ts";
import { documentLink } from "../../../../documents/map/link/document-link.ts";
import { effectiveFor } from "../../../../documents/map/effective.ts";
import { documentName } from "../../folder/document-name.ts";
import { findRepeated } from "../../folder/repeated.ts";

/** The link of a document, without the fragments that sections add to it. */
function linkOf({ path, part, parsed, settings, document }: LintPage): string | undefined {
  const first = document?.sections.find(({ link }) => link)?.link;
  if (!first || !document || part !== 0) return first;
  const fields = createFields(parsed.frontMatter, path);
  const effective = effectiveFor(path, settings);
  const made = documentLink({ path, fields, settings, effective, id: document.id })?.result;
  return made && "link" in made && first.startsWith(made.link) ? made.link : first;
}

/** Documents whose citations lead to one page. */
export const sharedLink: FolderRule<string> = {
  kind: "folder",
  name: "shared-link",
  group: "links",
  severity: "warning",
  summary: "Two documents have the same link",
  advice:
    "Citations of both documents lead to one page, so a reader cannot check the answer. Correct the " +
    "`link` of one page, or the template of `ingest.link`: it needs the path of the page.",
  bad: "<!-- file: leave.md -->\n---\nlink: https://docs.example.com/people\n---\n# Leave\n\nEmployees ask for leave in the portal.\n\n<!-- file: travel.md -->\n---\nlink: https://docs.example.com/people\n---\n# Travel\n\nEmployees book trips in the portal.\n",
  good: "<!-- file: leave.md -->\n---\nlink: https://docs.example.com/people/leave\n---\n# Leave\n\nEmployees ask for leave in the portal.\n\n<!-- file: travel.md -->\n---\nlink: https://docs.example.com/people/travel\n---\n# Travel\n\nEmployees book trips in the portal.\n",
  collect: linkOf,
  *compare(facts) {
    for (const [{ path, part, row }, first] of findRepeated(facts, ({ fact }) => fact)) {
      yield { path, part, row, message: `the document has the link of ${documentName(first)}` };
    }
  },
};
