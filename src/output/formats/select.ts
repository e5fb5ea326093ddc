import { CliError } from "../../errors.ts";
import { plainValue } from "./csv.ts";

/** A column of a listing. Its name is the header and what --fields, --filter and --sort call it. */
export interface Column<Row> {
  name: string;
  /** The data, for every format. */
  value(row: Row): unknown;
  /** How a terminal shows the data, e.g. a time as "3 days ago". */
  show?(value: unknown): string;
  align?: "right";
  /** What a narrow terminal leaves out: of a path the end says more. Default `end`. */
  cut?: "start" | "end";
  /** Shown when --fields does not say what to show; default true. */
  shown?: boolean;
}

/** A condition of --filter: equal text (`=`) or a pattern (`~`), or that it is not so (`!=`, `!~`). */
export interface Filter {
  name: string;
  negated: boolean;
  matches(text: string): boolean;
}

/** Names in --fields. Throws CliError `usage` for an empty name. */
export function parseFields(list: string): string[] {
  const names = list.split(",").map((name) => name.trim());
  if (names.includes("") || names.some((name) => name.split(".").includes(""))) {
    throw new CliError("usage", `--fields ${list}: expected names separated by commas`, {
      hints: ["for example --fields cc_pair_id,name,connector.source"],
    });
  }
  return names;
}

/**
 * Whether `text` matches a pattern of `*` (any characters), `?` (one character)
 * and literals, ignoring case. Linear in time but for the backtracking of one star.
 */
export function matchesGlob(text: string, pattern: string): boolean {
  const from = [...text.toLowerCase()];
  const wanted = [...pattern.toLowerCase()];
  let at = 0;
  let star = -1;
  let resume = 0;
  let position = 0;
  while (position < from.length) {
    if (wanted[at] === "*") {
      star = at++;
      resume = position;
    } else if (at < wanted.length && (wanted[at] === "?" || wanted[at] === from[position])) {
      at++;
      position++;
    } else if (star >= 0) {
      at = star + 1;
      position = ++resume;
    } else return false;
  }
  while (wanted[at] === "*") at++;
  return at === wanted.length;
}

/** One --filter: `key=value`, `key~glob`, `key!=value` or `key!~glob`. Throws CliError `usage` for anything else. */
export function parseFilter(expression: string): Filter {
  const [, name, operator, value] =
    /^\s*([^=~!\s][^=~!]*?)\s*(!?[=~])([\s\S]*)$/.exec(expression) ?? [];
  if (name === undefined || value === undefined || name.split(".").includes("")) {
    throw new CliError(
      "usage",
      `--filter ${expression}: expected key=value, key!=value, key~glob or key!~glob`,
      {
        hints: ["for example --filter source=web, --filter 'name~docs*' or --filter 'source!=web'"],
      },
    );
  }
  return {
    name,
    negated: operator?.startsWith("!") === true,
    matches: operator?.endsWith("=")
      ? (text) => text === value
      : (text) => matchesGlob(text, value),
  };
}

interface Member {
  exists: boolean;
  value: unknown;
}

const absent: Member = { exists: false, value: undefined };

/** Follows a path of own members; array elements by number. Inherited members do not exist. */
export function readMember(record: unknown, path: readonly string[]): Member {
  let value = record;
  for (const name of path) {
    if (typeof value !== "object" || value === null) return absent;
    if (Array.isArray(value) && !/^\d+$/.test(name)) return absent;
    if (!Object.hasOwn(value, name)) return absent;
    value = (value as Record<string, unknown>)[name];
  }
  return { exists: true, value };
}

/** What a name in --fields or --filter stands for: a column, else a member by its path. */
export function createColumn<Row>(name: string, columns: readonly Column<Row>[]): Column<Row> {
  const column = columns.find((each) => each.name === name);
  return column ?? { name, value: (row) => readMember(row, name.split(".")).value };
}

/** Throws CliError `usage` for a name that is neither a column nor a member of any row. */
export function checkNames<Row>(
  names: readonly string[],
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): void {
  const known = new Set(columns.map((column) => column.name));
  for (const name of names) {
    if (known.has(name) || rows.length === 0) continue;
    if (rows.some((row) => readMember(row, name.split(".")).exists)) continue;
    for (const row of rows.slice(0, 1))
      for (const member of Object.keys(row as object)) known.add(member);
    throw new CliError("usage", `unknown field ${name}`, {
      hints: [`known fields: ${[...known].join(", ")}`, "members of objects are written a.b"],
    });
  }
}

function texts(value: unknown): string[] {
  if (Array.isArray(value)) return value.length === 0 ? [""] : value.flatMap(texts);
  return [plainValue(value)];
}

/**
 * Whether a row passes every filter. A list passes when one of its elements does, a
 * negated filter when none does; null is empty text.
 */
export function passes<Row>(
  row: Row,
  filters: readonly Filter[],
  columns: readonly Column<Row>[],
): boolean {
  return filters.every((filter) => {
    const value = createColumn(filter.name, columns).value(row);
    return texts(value).some((text) => filter.matches(text)) !== filter.negated;
  });
}

type Tree = Record<string, unknown>;

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function setMember(target: Tree, path: readonly string[], value: unknown): void {
  const [name = "", ...rest] = path;
  if (rest.length === 0) target[name] = value;
  else {
    const inner = target[name];
    // A fresh object: what was picked before may be part of the record itself.
    const copy: Tree = Object.assign(Object.create(null) as Tree, isTree(inner) ? inner : {});
    setMember(copy, rest, value);
    target[name] = copy;
  }
}

/**
 * The picked members of a row in the order of `names`. Members keep their place
 * (`connector.source` stays inside `connector`); a column that is no member
 * stands under its name. Missing members are null.
 */
export function pick<Row>(
  row: Row,
  names: readonly string[],
  columns: readonly Column<Row>[],
): Tree {
  // Without a prototype: a member called __proto__ is a member like any other.
  const picked = Object.create(null) as Tree;
  for (const name of names) {
    const column = columns.find((each) => each.name === name);
    const path = name.split(".");
    const value = column ? column.value(row) : readMember(row, path).value;
    setMember(picked, path, value ?? null);
  }
  return picked;
}
