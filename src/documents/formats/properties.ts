import { parseDate, parseOwners, type Value, type ValueMap } from "../front-matter/values.ts";
import type { FrontMatter } from "../front-matter/front-matter.ts";

/** The properties of a file from an office program, as written. */
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

/**
 * Removes control characters and replaces half surrogate pairs: XML, JSON and the service cannot
 * contain them.
 */
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

/** Titles that programs insert if the author sets none. */
const noTitle =
  /^(?:untitled|presentation|document\d*|microsoft (?:word|powerpoint) - .*|(?:\S+ ){0,3}power ?point(?:[ -]\S+)?|.*\.(?:docx?|dvi|tex|indd))$/i;

const listOf = (text: string, separator: RegExp): string[] =>
  text.split(separator).flatMap((each) => (each.trim() === "" ? [] : [each.trim()]));

/**
 * Converts properties to front matter, so that the same rules turn them into fields. Drops empty
 * values, placeholders and invalid dates: authors seldom check properties, so that a bad value must
 * not fail a file.
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
