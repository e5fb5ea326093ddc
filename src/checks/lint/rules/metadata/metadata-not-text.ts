import { isMap, type Value } from "../../../../documents/front-matter/values.ts";
import { spanOfKey } from "../../page/keys.ts";
import type { PageRule } from "../../rule.ts";

/** The first list with an object or a list in it: its path from the key, `hero.actions`. */
function listOfObjects(name: string, value: Value): string | undefined {
  if (Array.isArray(value)) {
    const isNested = value.some((each) => Array.isArray(each) || (each !== null && isMap(each)));
    return isNested ? name : undefined;
  }
  if (value === null || !isMap(value)) return undefined;
  for (const [key, member] of Object.entries(value)) {
    const found = listOfObjects(`${name}.${key}`, member);
    if (found !== undefined) return found;
  }
  return undefined;
}

export const metadataNotText: PageRule = {
  kind: "page",
  name: "metadata-not-text",
  group: "metadata",
  severity: "note",
  summary: "A list in the front matter has objects or lists as items",
  advice:
    "The service stores text. Such an item is sent as JSON text, and no filter finds it. " +
    "Write a list of words, or an object without a list: `lead.name` becomes a key of its own.",
  bad: "---\ncontacts:\n  - name: Ada\n    room: 12\n---\n\nThe library lends books for four weeks. You return them on level 1.\n",
  good: "---\ncontacts:\n  - Ada\n---\n\nThe library lends books for four weeks. You return them on level 1.\n",
  *check(page) {
    const data = page.parsed.frontMatter?.data;
    if (!data || !page.document) return;
    const { metadata } = page.document;
    for (const [key, value] of Object.entries(data)) {
      if (value === null || typeof value !== "object") continue;
      const name = listOfObjects(key, value);
      // A key with a meaning of its own is no metadata.
      if (name === undefined || !Object.hasOwn(metadata, name)) continue;
      yield {
        message: `${name} is a list of objects or lists, which are sent as JSON text`,
        span: spanOfKey(page, key),
      };
    }
  },
};
