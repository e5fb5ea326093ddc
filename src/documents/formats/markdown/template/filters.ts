import {
  isMap,
  monthNames,
  textOf,
  type Value,
  weekdayNames,
} from "../../../front-matter/values.ts";
import { slugOf } from "../../../site/jekyll.ts";
import type { Known, Scope } from "./scope.ts";

/** A filter of Liquid, Jekyll or Nunjucks. Undefined for a result that is not known. */
type Filter = (value: Value, values: readonly Value[], scope: Scope) => Known;

const text = (value: Value | undefined): string => textOf(value) ?? "";
const list = (value: Value): Value[] =>
  Array.isArray(value) ? value : value === null ? [] : [value];

// A template that appends a value to itself doubles it with each line.
const longest = 1_000_000;
const mostItems = 20_000;

const onText =
  (change: (of: string, ...values: string[]) => string): Filter =>
  (value, values) => {
    if (Array.isArray(value) || (value !== null && isMap(value))) return undefined;
    const result = change(text(value), ...values.map(text));
    return result.length > longest ? undefined : result;
  };

const onNumbers =
  (count: (one: number, other: number) => number): Filter =>
  (value, [other]) => {
    const result = count(Number(text(value)), Number(text(other)));
    return Number.isFinite(result) ? String(result) : undefined;
  };

/** The date of a value with a day, in UTC; undefined for `now` and other words. */
function dateOf(value: Value): Date | undefined {
  const written = /^\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2})?)?/.exec(text(value))?.[0];
  if (written === undefined) return undefined;
  const date = new Date(written.length > 10 ? `${written.replace(" ", "T")}Z` : written);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

const pad = (number: number, width = 2, fill = "0"): string => String(number).padStart(width, fill);

/** A date as Ruby's strftime writes it; undefined for a mark that is not known here. */
function formatted(date: Date, format: string): string | undefined {
  let isKnown = true;
  const [month = "", day = ""] = [monthNames[date.getUTCMonth()], weekdayNames[date.getUTCDay()]];
  const marks: Readonly<Record<string, string>> = {
    Y: pad(date.getUTCFullYear(), 4),
    y: pad(date.getUTCFullYear() % 100),
    m: pad(date.getUTCMonth() + 1),
    B: month,
    b: month.slice(0, 3),
    d: pad(date.getUTCDate()),
    e: pad(date.getUTCDate(), 2, " "),
    A: day,
    a: day.slice(0, 3),
    H: pad(date.getUTCHours()),
    I: pad(date.getUTCHours() % 12 || 12),
    M: pad(date.getUTCMinutes()),
    S: pad(date.getUTCSeconds()),
    p: date.getUTCHours() < 12 ? "AM" : "PM",
    F: date.toISOString().slice(0, 10),
    "%": "%",
  };
  const result = format.replace(/%(-?)([A-Za-z%])/g, (_, dash: string, mark: string) => {
    isKnown &&= Object.hasOwn(marks, mark);
    const shown = marks[mark] ?? "";
    return dash === "-" ? shown.replace(/^[0 ]+(?=.)/, "") : shown;
  });
  return isKnown ? result : undefined;
}

const dateAs =
  (format: string): Filter =>
  (value) => {
    const date = dateOf(value);
    return date && formatted(date, format);
  };

const escaped = (of: string): string =>
  of
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");

/** jekyllrb.com, "Liquid filters": an address is put below the base of the site. */
const relative: Filter = (value, _, scope) => {
  const base = scope.lookUp(["site", "baseurl"]);
  const path = text(value);
  if (base === undefined) return undefined;
  if (/^(?:[a-z][a-z\d+.-]*:|\/\/)/i.test(path)) return path;
  return `${text(base).replace(/\/+$/, "")}/${path.replace(/^\/+/, "")}`.replace(/^(?!\/)/, "/");
};

const absolute: Filter = (value, values, scope) => {
  const url = text(scope.lookUp(["site", "url"]) ?? null).replace(/\/+$/, "");
  const path = relative(value, values, scope);
  return typeof path === "string" && path.startsWith("/") ? url + path : path;
};

const membersOf = (value: Value, key: Value | undefined): Value[] =>
  list(value).map((each) => (each !== null && isMap(each) ? (each[text(key)] ?? null) : null));

/**
 * The filters whose result is known. shopify.github.io/liquid and jekyllrb.com, "Liquid filters";
 * `safe`, `url` and calls with parentheses are of Nunjucks and Eleventy.
 */
export const filters: Readonly<Record<string, Filter>> = {
  relative_url: relative,
  absolute_url: absolute,
  url: (value) => value,
  safe: (value) => value,
  prepend: onText((of, before = "") => before + of),
  append: onText((of, after = "") => of + after),
  downcase: onText((of) => of.toLowerCase()),
  lower: onText((of) => of.toLowerCase()),
  upcase: onText((of) => of.toUpperCase()),
  upper: onText((of) => of.toUpperCase()),
  capitalize: onText((of) => of.charAt(0).toUpperCase() + of.slice(1)),
  replace: onText((of, from = "", to = "") => of.slice(0, 100_000).split(from).join(to)),
  replace_first: onText((of, from = "", to = "") => of.replace(from, () => to)),
  remove: onText((of, part = "") => of.replaceAll(part, "")),
  remove_first: onText((of, part = "") => of.replace(part, "")),
  strip: onText((of) => of.trim()),
  trim: onText((of) => of.trim()),
  lstrip: onText((of) => of.trimStart()),
  rstrip: onText((of) => of.trimEnd()),
  strip_newlines: onText((of) => of.replace(/\r?\n/g, "")),
  normalize_whitespace: onText((of) => of.replace(/\s+/g, " ")),
  strip_html: onText((of) => of.replace(/<[^<>]*>/g, "")),
  escape: onText(escaped),
  xml_escape: onText(escaped),
  url_encode: onText((of) => encodeURIComponent(of.toWellFormed())),
  cgi_escape: onText((of) => encodeURIComponent(of.toWellFormed())),
  markdownify: onText((of) => of),
  smartify: onText((of) => of),
  slugify: onText(slugOf),
  slug: onText(slugOf),
  date: (value, [format]) => {
    const date = dateOf(value);
    return date && formatted(date, text(format));
  },
  date_to_string: dateAs("%d %b %Y"),
  date_to_long_string: dateAs("%d %B %Y"),
  default: (value, [other]) =>
    value === null || value === "" || text(value) === "false" ? (other ?? null) : value,
  size: (value) =>
    value === null ? "0" : Array.isArray(value) ? String(value.length) : String(text(value).length),
  first: (value) => (Array.isArray(value) ? (value[0] ?? null) : null),
  last: (value) => (Array.isArray(value) ? (value.at(-1) ?? null) : null),
  join: (value, [mark = " "]) => list(value).map(text).join(text(mark)),
  split: (value, [mark]) => text(value).split(text(mark) === "" ? " " : text(mark)),
  reverse: (value) => list(value).toReversed(),
  uniq: (value) => [...new Map(list(value).map((each) => [JSON.stringify(each), each])).values()],
  compact: (value) => list(value).filter((each) => each !== null),
  concat: (value, [other = null]) => {
    const [one, two] = [list(value), list(other)];
    return one.length + two.length > mostItems ? undefined : [...one, ...two];
  },
  map: (value, [key]) => membersOf(value, key),
  where: (value, [key, wanted]) => {
    const members = membersOf(value, key);
    return list(value).filter(
      (_, at) => text(members[at]) === text(wanted) && members[at] !== null,
    );
  },
  group_by: (value, [key]) => {
    const groups = new Map<string, Value[]>();
    const members = membersOf(value, key);
    for (const [at, each] of list(value).entries()) {
      const name = text(members[at]);
      groups.set(name, [...(groups.get(name) ?? []), each]);
    }
    return [...groups].map(([name, items]) => ({ name, items, size: String(items.length) }));
  },
  sort: (value, [key]) => {
    const members = key === undefined ? list(value) : membersOf(value, key);
    return list(value)
      .map((each, at) => ({ each, by: text(members[at]) }))
      .toSorted((one, other) => (one.by < other.by ? -1 : one.by > other.by ? 1 : 0))
      .map(({ each }) => each);
  },
  plus: onNumbers((one, other) => one + other),
  minus: onNumbers((one, other) => one - other),
  times: onNumbers((one, other) => one * other),
};
