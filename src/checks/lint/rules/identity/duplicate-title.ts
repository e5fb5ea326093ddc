import type { FolderRule, LintPage, PageFact } from "../../rule.ts";
import { documentName } from "../../folder/document-name.ts";
import { languageOf, versionOf } from "../../folder/edition.ts";
import { isNamedByFile } from "../../folder/own-title.ts";
import { findRepeated } from "../../folder/repeated.ts";

// A translation or another version of a page has the same title for a reason.
const keyOf = ({ path, fact }: PageFact<string>): string =>
  `${languageOf(path)}\n${versionOf(path)}\n${fact.toLowerCase()}`;

// Longer titles are shown in part nowhere: redaction could not recognise a truncated key.
const longestShown = 80;

function collect(page: LintPage): string | undefined {
  const title = page.document?.title?.replace(/\s+/g, " ").trim();
  // The rule missing-title reports a page without a title.
  return title && !isNamedByFile(page) ? title : undefined;
}

/** Documents that a list of sources cannot tell apart. */
export const duplicateTitle: FolderRule<string> = {
  kind: "folder",
  name: "duplicate-title",
  group: "identity",
  severity: "note",
  summary: "Two documents have the same title",
  advice:
    "Search results and citations show the title. Readers cannot tell the documents apart, and neither " +
    "can a model. Add what the page is about: `Overview of travel` instead of `Overview`. " +
    "Translations and versions in folders of their own are not compared.",
  bad: "<!-- file: leave.md -->\n# Overview\n\n<!-- file: travel.md -->\n# Overview\n",
  good: "<!-- file: leave.md -->\n# Leave at a glance\n\n<!-- file: travel.md -->\n# Travel at a glance\n",
  collect,
  *compare(facts) {
    for (const [{ path, part, row, fact }, first] of findRepeated(facts, keyOf)) {
      const title = fact.length > longestShown ? "" : ` "${fact}"`;
      yield {
        path,
        part,
        row,
        message: `the title${title} is also that of ${documentName(first)}`,
      };
    }
  },
};
