import type { FolderRule } from "../../rule.ts";
import { documentName } from "../../folder/document-name.ts";
import { findRepeated } from "../../folder/repeated.ts";

// observed-service.md 3.3: a space becomes "_". The percent-encoding after that keeps ids apart.
const withoutSpaces = (id: string): string => id.toWellFormed().replaceAll(" ", "_");

/** Different ids that the service stores as one. */
export const collidingId: FolderRule<string> = {
  kind: "folder",
  name: "colliding-id",
  group: "identity",
  severity: "warning",
  summary: "The ids of two documents differ only in spaces and underscores",
  advice:
    "The service stores each space of an id as `_`. Both documents get the same stored id, and one " +
    "overwrites the other. Rename one of the files, or set another `id`.",
  bad: "<!-- file: leave days.md -->\n# Leave days\n\n<!-- file: leave_days.md -->\n# Leave days of 2023\n",
  good: "<!-- file: leave days.md -->\n# Leave days\n\n<!-- file: leave-days-2023.md -->\n# Leave days of 2023\n",
  // Ids without these characters are stored as they are: most of them need not be kept.
  collect: ({ document }) =>
    document && /[ _\p{Cs}\ufffd]/u.test(document.id) ? document.id : undefined,
  *compare(facts) {
    for (const [later, first] of findRepeated(facts, ({ fact }) => withoutSpaces(fact))) {
      if (later.fact === first.fact) continue;
      const { path, part, row } = later;
      const message = `the service stores the document under the id of ${documentName(first)}`;
      yield { path, part, row, message };
    }
  },
};
