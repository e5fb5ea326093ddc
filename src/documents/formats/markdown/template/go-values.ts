import { isMap, textOf, type Value, type ValueMap, valueAt } from "../../../front-matter/values.ts";

/** Something of Hugo that has members and methods: a page, a site, a folder of data. */
export interface GoObject {
  member(name: string, args: readonly GoValue[]): GoValue;
}

/** What a template's expression is worth: null is nil, undefined is a value that only Hugo knows. */
export type GoValue = Value | GoObject | undefined;

export const isObject = (value: GoValue): value is GoObject =>
  typeof value === "object" && value !== null && typeof (value as GoObject).member === "function";

/** Data: no object of Hugo, and known. */
export const asData = (value: GoValue): Value | undefined => (isObject(value) ? undefined : value);

export const text = (value: GoValue): string => textOf(asData(value)) ?? "";
const bool = (is: boolean): Value => (is ? "true" : "false");
const numberOf = (value: GoValue): number => Number(text(value));

export const isTrue = (value: GoValue): boolean => {
  if (value === null || value === undefined) return false;
  if (isObject(value)) return true;
  if (Array.isArray(value)) return value.length > 0;
  if (isMap(value)) return Object.keys(value).length > 0;
  return !/^(?:|false|0)$/.test(text(value));
};

/** A member of a value. gohugo.io, "Introduction to templating": of nil it is nil. */
export function memberOf(value: GoValue, name: string, args: readonly GoValue[] = []): GoValue {
  if (value === undefined || value === null) return value;
  if (isObject(value)) return value.member(name, args);
  if (Array.isArray(value)) return /^\d+$/.test(name) ? (value[Number(name)] ?? null) : undefined;
  if (!isMap(value)) return undefined;
  return Object.hasOwn(value, name) ? value[name] : (valueAt(value, name, true) ?? null);
}

// A template that joins a value with itself doubles it with each turn.
export const longestText = 100_000;
const mostItems = 10_000;

function printf(format: GoValue, ...values: GoValue[]): GoValue {
  const pieces = text(format);
  if (/%[^sdvqt%]/.test(pieces)) return undefined;
  let at = 0;
  return pieces.replace(/%([sdvqt%])/g, (_, mark: string) => {
    if (mark === "%") return "%";
    const value = text(values[at++]);
    return mark === "q" ? `"${value}"` : value;
  });
}

/** Values in the order of a member, of themselves without a key. Numbers count as such. */
function sorted(list: GoValue, key: GoValue = null, order: GoValue = "asc"): GoValue {
  if (!Array.isArray(list)) return undefined;
  const by = (each: Value): string => {
    const own = text(key);
    return text(own === "" || own === "value" ? each : memberOf(each, own));
  };
  const compare = (one: string, other: string): number => {
    const difference = Number(one) - Number(other);
    if (!Number.isNaN(difference) && one !== "" && other !== "") return difference;
    return one < other ? -1 : one > other ? 1 : 0;
  };
  const result = list.toSorted((one, other) => compare(by(one), by(other)));
  return text(order) === "desc" ? result.toReversed() : result;
}

const asIs = (...values: GoValue[]): GoValue => values.at(-1) ?? null;
const compared =
  (holds: (one: number) => boolean) =>
  (one: GoValue, other: GoValue): GoValue => {
    const numbers = numberOf(one) - numberOf(other);
    const texts = text(one) < text(other) ? -1 : text(one) > text(other) ? 1 : 0;
    return bool(holds(Number.isNaN(numbers) ? texts : numbers));
  };
const counted =
  (count: (one: number, other: number) => number) =>
  (...values: GoValue[]): GoValue => {
    const result = values.map(numberOf).reduce(count);
    return Number.isFinite(result) ? String(result) : undefined;
  };
const onText =
  (change: (of: string, ...others: string[]) => string) =>
  (...values: GoValue[]): GoValue => {
    const [of = "", ...others] = values.map(text);
    return change(of, ...others);
  };
const onList =
  (change: (list: Value[], count: number) => Value[]) =>
  (count: GoValue, list: GoValue): GoValue =>
    Array.isArray(list) ? change(list, numberOf(count)) : undefined;

function contains(whole: GoValue, part: GoValue): GoValue {
  if (whole === null) return "false";
  if (Array.isArray(whole)) return bool(whole.some((each) => text(each) === text(part)));
  return isObject(whole) ? undefined : bool(text(whole).includes(text(part)));
}

function sizeOf(value: GoValue): GoValue {
  if (value === null || value === undefined) return value === null ? "0" : undefined;
  if (isObject(value)) return undefined;
  if (Array.isArray(value) || !isMap(value))
    return String((Array.isArray(value) ? value : text(value)).length);
  return String(Object.keys(value).length);
}

function dict(...values: GoValue[]): GoValue {
  const map = Object.create(null) as Record<string, GoValue>;
  for (let at = 0; at + 1 < values.length; at += 2) map[text(values[at])] = values[at + 1];
  // Objects of Hugo may be members as well: `dict "page" .Page`.
  return map as ValueMap;
}

function joined(list: GoValue, mark: GoValue, last: GoValue = mark): GoValue {
  if (!Array.isArray(list)) return undefined;
  const texts = list.map(text);
  const end = texts.length > 1 ? text(last) + (texts.pop() ?? "") : "";
  return texts.join(text(mark)) + end;
}

/** gohugo.io, "where": `where LIST KEY VALUE`, with `=`, `!=` or `in` before the value. */
function where(list: GoValue, key: GoValue, ...rest: GoValue[]): GoValue {
  const [operator, value] = rest.length > 1 ? [text(rest[0]), rest[1]] : ["=", rest[0]];
  const names = text(key).replace(/^\./, "").split(".");
  const tests: Readonly<Record<string, (own: GoValue) => boolean>> = {
    "=": (own) => text(own) === text(value),
    "!=": (own) => text(own) !== text(value),
    in: (own) => isTrue(contains(value, own)),
  };
  const alias = operator.replace(/^(?:==|eq)$/, "=").replace(/^(?:<>|ne)$/, "!=");
  const test = tests[alias];
  if (!Array.isArray(list) || !test) return undefined;
  return list.filter((each) => test(names.reduce<GoValue>((at, name) => memberOf(at, name), each)));
}

function seq(...values: GoValue[]): GoValue {
  const [one = Number.NaN, two, three] = values.map(numberOf);
  const [from, step, to] =
    three !== undefined ? [one, two ?? 1, three] : two !== undefined ? [one, 1, two] : [1, 1, one];
  const length = Math.floor((to - from) / step) + 1;
  if (!(length >= 0 && length <= mostItems)) return undefined;
  return Array.from({ length }, (_, at) => String(from + at * step));
}

const anchor = (of: string): string =>
  of
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replace(/\s/g, "-");

/** gohugo.io, "Functions": those that change a text, count, compare, or make lists. */
export const functions: Readonly<Record<string, (...values: GoValue[]) => GoValue>> = {
  default: (other, value = null) => (isTrue(value) ? value : other),
  eq: (one, ...others) => bool(others.some((each) => text(each) === text(one))),
  ne: (one, other) => bool(text(one) !== text(other)),
  lt: compared((one) => one < 0),
  le: compared((one) => one <= 0),
  gt: compared((one) => one > 0),
  ge: compared((one) => one >= 0),
  not: (value) => bool(!isTrue(value)),
  cond: (is, one, other) => (isTrue(is) ? one : other),
  add: counted((one, other) => one + other),
  sub: counted((one, other) => one - other),
  mul: counted((one, other) => one * other),
  div: counted((one, other) => Math.trunc(one / other)),
  mod: counted((one, other) => one % other),
  len: sizeOf,
  in: contains,
  slice: (...values) => (values.some(isObject) ? undefined : (values as Value[])),
  dict,
  seq,
  sort: sorted,
  where,
  index: (value, ...keys) => {
    const names = keys.flatMap((key) => (Array.isArray(key) ? key.map(text) : [text(key)]));
    return names.reduce<GoValue>((at, name) => memberOf(at, name), value);
  },
  isset: (value, key) => {
    const found = memberOf(value, text(key));
    return found === undefined ? undefined : bool(found !== null);
  },
  first: onList((list, count) => list.slice(0, count)),
  last: onList((list, count) => list.slice(-count)),
  after: onList((list, count) => list.slice(count)),
  uniq: (list) =>
    Array.isArray(list) && list.every((each) => textOf(each) !== undefined)
      ? [...new Map(list.map((each) => [text(each), each])).values()]
      : undefined,
  append: (...values) => {
    const list = values.at(-1);
    if (!Array.isArray(list) || values.some(isObject)) return undefined;
    return [...list, ...(values.slice(0, -1) as Value[])];
  },
  split: (value, mark) =>
    text(mark) === "" ? undefined : text(value).split(text(mark)).slice(0, mostItems),
  delimit: joined,
  join: joined,
  lower: onText((of) => of.toLowerCase()),
  upper: onText((of) => of.toUpperCase()),
  title: onText((of) =>
    of.replace(
      /(^|\s)(\p{L})/gu,
      (_, before: string, letter: string) => before + letter.toUpperCase(),
    ),
  ),
  humanize: onText((of) => {
    const words = of.replace(/[-_]+/g, " ");
    return words.charAt(0).toUpperCase() + words.slice(1);
  }),
  trim: (value, marks = " \n\t\r") => {
    const set = new Set(text(marks));
    let [from, to] = [0, text(value).length];
    while (from < to && set.has(text(value)[from] ?? "")) from++;
    while (to > from && set.has(text(value)[to - 1] ?? "")) to--;
    return text(value).slice(from, to);
  },
  trimPrefix: onText((part, of = "") => (of.startsWith(part) ? of.slice(part.length) : of)),
  trimSuffix: onText((part, of = "") =>
    part !== "" && of.endsWith(part) ? of.slice(0, -part.length) : of,
  ),
  hasPrefix: (value, part) => bool(text(value).startsWith(text(part))),
  hasSuffix: (value, part) => bool(text(value).endsWith(text(part))),
  contains,
  replace: onText((of, from = "", to = "") => of.slice(0, 100_000).split(from).join(to)),
  substr: (value, from, length) => {
    const chars = [...text(value)].slice(numberOf(from));
    return chars.slice(0, length === undefined ? undefined : numberOf(length)).join("");
  },
  anchorize: onText(anchor),
  urlize: onText(anchor),
  print: (...values) => values.map(text).join(""),
  printf,
  // Nobody reads a hash: it makes ids.
  sha1: () => "0",
  sha256: () => "0",
  md5: () => "0",
  isMap: (value) => bool(value !== null && !isObject(value) && isMap(value as Value)),
  isSlice: (value) => bool(Array.isArray(value)),
  plainify: onText((of) => of.replace(/<[^<>]*>/g, "")),
  htmlEscape: asIs,
  htmlUnescape: asIs,
  relURL: asIs,
  absURL: asIs,
  relLangURL: asIs,
  absLangURL: asIs,
  warnf: () => "",
  errorf: () => "",
  ...Object.fromEntries(
    "string int float safeHTML safeURL safeHTMLAttr safeCSS safeJS emojify chomp"
      .split(" ")
      .map((name) => [name, asIs]),
  ),
};

/** Functions that leave a text as it is: the content of a shortcode may go through them unread. */
export const passes: ReadonlySet<string> = new Set(
  Object.keys(functions)
    .filter((name) => functions[name] === asIs)
    .concat("default", "print", "dict"),
);

/** The name of a function without its package: `strings.ToUpper`. gohugo.io, "Functions". */
export const nameOfFunction = (name: string): string => {
  const [, own = name] =
    /^(?:strings|transform|safe|urls|fmt|compare|collections|math|cast|reflect|crypto|lang|path)\.(\w+)$/.exec(
      name,
    ) ?? [];
  if (own === name) return name;
  const short = own.charAt(0).toLowerCase() + own.slice(1);
  const aliases: Readonly<Record<string, string>> = {
    trimSpace: "trim",
    toUpper: "upper",
    toLower: "lower",
    hTML: "safeHTML",
    uRL: "safeURL",
    hTMLAttr: "safeHTMLAttr",
    cSS: "safeCSS",
    jS: "safeJS",
    dictionary: "dict",
    toString: "string",
    toInt: "int",
    toFloat: "float",
    conditional: "cond",
    sHA1: "sha1",
    mD5: "md5",
  };
  return aliases[short] ?? short;
};
