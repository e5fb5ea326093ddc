import { parseDate } from "../../../map/dates.ts";
import type { FrontMatter } from "../../../front-matter/front-matter.ts";
import { toValue, type ValueMap } from "../../../front-matter/values.ts";

type Attributes = ReadonlyMap<string, string>;

/** Metadata from the head of a page by name. The first value of each name counts. */
export type Meta = Map<string, string>;

const clean = (text: string): string => text.replace(/\s+/g, " ").trim();

// Names of `<meta>` by the front matter key that they become, first choice first.
const names: readonly (readonly [string, readonly string[]])[] = [
  ["description", ["description", "og:description"]],
  ["author", ["author"]],
  ["keywords", ["keywords"]],
  [
    "updated",
    ["article:modified_time", "og:updated_time", "last-modified", "dcterms.modified", "date"],
  ],
];
const known = new Set(names.flatMap(([, each]) => each));

function keep(meta: Meta, name: string, value: string | undefined): void {
  const text = clean(value ?? "");
  if (text !== "" && !meta.has(name)) meta.set(name, text);
}

/** Stores the text of `<title>`. */
export function takeTitle(meta: Meta, text: string): void {
  keep(meta, "title", text.slice(0, 10_000));
}

/** Stores the values of `<meta>`, `<link>` and `<html>`. */
export function takeTag(meta: Meta, tag: string, attributes: Attributes): void {
  if (tag === "html") keep(meta, "lang", attributes.get("lang") ?? attributes.get("xml:lang"));
  if (tag === "link" && /(?:^|\s)canonical(?:\s|$)/i.test(attributes.get("rel") ?? "")) {
    keep(meta, "canonical", attributes.get("href"));
  }
  if (tag !== "meta") return;
  const name = attributes.get("name") ?? attributes.get("property") ?? attributes.get("itemprop");
  const key = name?.toLowerCase();
  if (key !== undefined && known.has(key)) keep(meta, key, attributes.get("content"));
}

/**
 * Converts the metadata to front matter: title, description, author, keywords, link, updated and
 * lang. Drops values that front matter would refuse (a date in another form, a relative link): the
 * page was not written for this tool.
 */
export function toFrontMatter(meta: Meta): FrontMatter | undefined {
  const data: Record<string, string> = {};
  const title = meta.get("title");
  if (title !== undefined) data["title"] = title;
  for (const [key, sources] of names) {
    const found = sources
      .map((each) => meta.get(each))
      .filter((each) => each !== undefined)
      .find((each) => key !== "updated" || parseDate(each) !== undefined);
    if (found !== undefined) data[key] = found;
  }
  const link = meta.get("canonical");
  // A relative link needs the address of the page, which the file does not contain.
  if (link !== undefined && /^https?:\/\/[^\s/]/i.test(link)) data["link"] = link;
  const lang = meta.get("lang");
  if (lang !== undefined) data["lang"] = lang;
  if (Object.keys(data).length === 0) return undefined;
  // Format json, because then the text `null` stays text. There is no block with line numbers.
  return { data: toValue(data) as ValueMap, format: "json", block: "", firstLine: 1 };
}
