import { keyOf, spanOfKey } from "../../page/keys.ts";
import { quoted } from "../../page/matches.ts";
import type { PageRule } from "../../rule.ts";

// observed-service.md 3.2: key and value together.
const longest = 255;
/** Metadata that nobody filters by: texts for readers and search engines. */
const prose = /(?:^|[._-])(?:description|summary|abstract|excerpt|lead|subtitle|teaser|intro)$/i;

export const longTag: PageRule = {
  kind: "page",
  name: "long-tag",
  group: "metadata",
  severity: "warning",
  summary: `A metadata key and its value are longer than ${longest} characters together`,
  advice:
    "The service stores it and no filter finds it, without an error. Write a shorter value, or a list of shorter ones. " +
    "Keys for texts, such as `description`, are not reported: nobody filters by them.",
  bad: `---\nteam: ${"facilities and services ".repeat(11)}\n---\n\nThe desk on floor 1 is open from 8:00 to 17:00 on working days.\n`,
  good: "---\nteam: facilities and services\n---\n\nThe desk on floor 1 is open from 8:00 to 17:00 on working days.\n",
  *check(page) {
    for (const [key, value] of Object.entries(page.document?.metadata ?? {})) {
      if (prose.test(key)) continue;
      const values = typeof value === "string" ? [value] : value;
      const long = values.find((each) => key.length + each.length > longest);
      if (long === undefined) continue;
      const top = keyOf(page, [key, key.split(".", 1)[0] ?? ""]);
      yield {
        message: `${key} has ${key.length + long.length} characters with its value, and a filter finds at most ${longest}: ${quoted(long)}`,
        span: top === undefined ? undefined : spanOfKey(page, top),
      };
    }
  },
};
