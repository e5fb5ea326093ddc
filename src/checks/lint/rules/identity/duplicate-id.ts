import type { FolderRule } from "../../rule.ts";
import { documentName } from "../../folder/document-name.ts";
import { findRepeated } from "../../folder/repeated.ts";

/** Documents with one id would overwrite each other. */
export const duplicateId: FolderRule<string> = {
  kind: "folder",
  name: "duplicate-id",
  group: "identity",
  severity: "warning",
  summary: "Two documents have the same id",
  advice:
    "`ingest` refuses to send both: the second document would overwrite the first one. Set an id in one " +
    "of the pages that no other page has, or remove the `id` so that the path becomes the id.",
  bad: "<!-- file: leave.md -->\n---\nid: people\n---\n# Leave\n\n<!-- file: travel.md -->\n---\nid: people\n---\n# Travel\n",
  good: "<!-- file: leave.md -->\n---\nid: leave\n---\n# Leave\n\n<!-- file: travel.md -->\n---\nid: travel\n---\n# Travel\n",
  collect: ({ document }) => document?.id,
  *compare(facts) {
    for (const [later, first] of findRepeated(facts, ({ fact }) => fact)) {
      const { path, part, row } = later;
      const message = `the document has the id of ${documentName(first)}; ingest refuses to send both`;
      yield { path, part, row, message };
    }
  },
};
