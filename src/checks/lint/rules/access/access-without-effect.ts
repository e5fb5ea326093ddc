import { restricts } from "../../../../documents/map/access.ts";
import { spanOfKey } from "../../page/keys.ts";
import type { PageRule } from "../../rule.ts";

export const accessWithoutEffect: PageRule = {
  kind: "page",
  name: "access-without-effect",
  group: "access",
  severity: "warning",
  summary: "A key of the front matter seems to restrict who can read the page, and has no effect",
  advice:
    "The pair alone decides who can read a document; the key becomes metadata. " +
    "Send the page to a pair with this access, or exclude it. " +
    "If your keys mean something else, name yours in `ingest.accessKeys`.",
  bad: "---\nvisibility: managers\n---\n\nBonuses are paid in March. Your manager tells you the amount in February.\n",
  good: "---\nvisibility: public\n---\n\nBonuses are paid in March. Your manager tells you the amount in February.\n",
  *check(page) {
    const { document, parsed, settings } = page;
    const data = parsed.frontMatter?.data;
    if (!document || !data) return;
    for (const key of settings.accessKeys) {
      if (!Object.hasOwn(data, key) || !restricts(data[key])) continue;
      yield {
        message: `${key} has no effect: the pair alone decides who can read the page`,
        span: spanOfKey(page, key),
      };
    }
  },
};
