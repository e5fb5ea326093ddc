import { keyOf, spanOfKey } from "../../page/keys.ts";
import { quoted } from "../../page/matches.ts";
import type { PageRule } from "../../rule.ts";

export const ownerWithoutEmail: PageRule = {
  kind: "page",
  name: "owner-without-email",
  group: "metadata",
  severity: "note",
  summary: "An owner has no mail address",
  advice:
    "A name alone does not tell readers whom to ask, and two people can share it. " +
    "Write `Ada Example <ada@example.com>`.",
  bad: "---\nowner: Ada\n---\n\nThe garage has 40 places. A place costs 80 euros a month.\n",
  good: "---\nowner: Ada Example <ada@example.com>\n---\n\nThe garage has 40 places. A place costs 80 euros a month.\n",
  *check(page) {
    const { document, settings } = page;
    if (!document) return;
    const { primary_owners: primary = [], secondary_owners: secondary = [] } = document;
    // Authors are not asked to answer: a blog names them without an address.
    const { owners, secondaryOwners } = settings.keys;
    for (const [list, keys] of [
      [primary, owners],
      [secondary, secondaryOwners],
    ] as const) {
      const owner = list.find((each) => !each.email?.includes("@"));
      if (!owner) continue;
      const { display_name: display, first_name: first, last_name: last } = owner;
      const name = display ?? [first, last].filter((each) => each !== undefined).join(" ");
      const key = keyOf(page, keys);
      // Owners of CODEOWNERS have their place in another file.
      if (key === undefined) continue;
      yield {
        message: `the owner ${quoted(name)} has no mail address`,
        span: spanOfKey(page, key),
      };
    }
  },
};
