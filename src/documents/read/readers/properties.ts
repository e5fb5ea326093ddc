import { parseDate } from "../../map/dates.ts";
import type { FrontMatter } from "../../front-matter/front-matter.ts";
import { parseOwners } from "../../map/owners.ts";
import type { Value, ValueMap } from "../../front-matter/values.ts";

/** What a file of an office program says about itself, as it stands there. */
export interface Properties {
  title?: string | undefined;
  /** Names, separated by semicolons. */
  author?: string | undefined;
  /** ISO 8601. */
  updated?: string | undefined;
  /** Separated by commas or semicolons. */
  keywords?: string | undefined;
  subject?: string | undefined;
}

const maxChars = 1000;

/** Text without what XML, JSON and the service cannot hold: controls and halves of pairs. */
export function cleanText(text: string): string {
  return text.toWellFormed().replace(/[\0-\x08\x0B\x0C\x0E-\x1F\x7F\uFFFE\uFFFF]/g, "");
}

function oneLine(text: string | undefined): string {
  return cleanText(text ?? "")
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, maxChars)
    .toWellFormed();
}

/** What programs fill in when nobody gave a title. */
const noTitle =
  /^(?:untitled|document\d*|microsoft (?:word|powerpoint) - .*|.*\.(?:docx?|dvi|tex|indd))$/i;

const listOf = (text: string, separator: RegExp): string[] =>
  text.split(separator).flatMap((each) => (each.trim() === "" ? [] : [each.trim()]));

/**
 * Properties as front matter, so that they become fields by the same rules;
 * what is empty, a placeholder or no date is left out: these are seldom looked
 * at by those who write, and must not fail a file.
 */
export function frontMatterOf(properties: Properties): FrontMatter | undefined {
  const data = Object.create(null) as ValueMap;
  const set = (key: string, value: Value | undefined): void => {
    if (value !== undefined && value !== "" && !(Array.isArray(value) && value.length === 0)) {
      data[key] = value;
    }
  };
  const title = oneLine(properties.title);
  set("title", noTitle.test(title) ? undefined : title);
  const authors = listOf(oneLine(properties.author), /;/);
  set("author", parseOwners(authors) ? authors : undefined);
  set("updated", parseDate(oneLine(properties.updated)));
  set("keywords", listOf(oneLine(properties.keywords), /[,;]/));
  set("subject", oneLine(properties.subject));
  if (Object.keys(data).length === 0) return undefined;
  return { data, format: "json", block: "", firstLine: 1, noun: "document property" };
}
