import { CliError } from "../../errors.ts";

/** Any value as text: objects as JSON, null as empty text. */
export function plainValue(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  return typeof value === "bigint" ? value.toString() : (JSON.stringify(value) ?? "");
}

/**
 * The text of a value in a cell: null is empty, a list of plain values is joined, other objects
 * are JSON.
 */
export function cellText(value: unknown, separator = ","): string {
  if (Array.isArray(value) && value.every((each) => typeof each !== "object" || each === null)) {
    return value.map((each) => cellText(each)).join(separator);
  }
  return plainValue(value);
}

/** A column of a list. Its name is the header and its name in --fields, --filter and --sort. */
export interface Column<Row> {
  name: string;
  /** The data, in every format: the path of a member, or a function. Default: the member of this name. */
  value?: string | ((row: Row) => unknown);
  /** The data as a terminal shows it, e.g. a time as "3 days ago". `now` is in ms. */
  show?(value: unknown, now: number): string;
  align?: "right";
  /** The end that a narrow terminal cuts off: `start` for paths. Default `end`. */
  cut?: "start" | "end";
  /** Shown whole on a narrow terminal, where columns to the right are hidden instead. */
  isKept?: true;
  /** Whether the column is shown without --fields; default true. */
  shown?: boolean;
}

/** A condition of --filter: equal text (`=`), a pattern (`~`), or their negation (`!=`, `!~`). */
export interface Filter {
  name: string;
  negated: boolean;
  matches(text: string): boolean;
}

/** Parses the names in --fields. Throws CliError `usage` for an empty name. */
export function parseFields(list: string): string[] {
  const names = list.split(",").map((name) => name.trim());
  if (names.includes("") || names.some((name) => name.split(".").includes(""))) {
    throw new CliError("usage", `--fields ${list}: expected names separated by commas`, {
      hints: ["for example --fields cc_pair_id,name,connector.source"],
    });
  }
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice === undefined) return names;
  throw new CliError("usage", `--fields ${list}: ${twice} is named twice`, {
    hints: ["name each member once"],
  });
}

/**
 * Whether `text` matches a pattern of `*` (any characters), `?` (one character)
 * and literals, ignoring case. Linear time, except for backtracking to the last star.
 */
export function matchesGlob(text: string, pattern: string): boolean {
  const characters = [...text.toLowerCase()];
  const tokens = [...pattern.toLowerCase()];
  let at = 0;
  let star = -1;
  let retryAt = 0;
  let position = 0;
  while (position < characters.length) {
    if (tokens[at] === "*") {
      star = at++;
      retryAt = position;
    } else if (at < tokens.length && (tokens[at] === "?" || tokens[at] === characters[position])) {
      at++;
      position++;
    } else if (star >= 0) {
      at = star + 1;
      position = ++retryAt;
    } else return false;
  }
  while (tokens[at] === "*") at++;
  return at === tokens.length;
}

/** Parses --filter: `key=value`, `key~glob`, `key!=value` or `key!~glob`. Else throws CliError `usage`. */
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

/** Reads the member at a path of own members; array elements by number. Ignores inherited members. */
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

/** The data of a column in a row. */
export function valueOf<Row>({ name, value = name }: Column<Row>, row: Row): unknown {
  return typeof value === "string" ? readMember(row, value.split(".")).value : value(row);
}

/** The column for a name in --fields or --filter: a known column, else a member by its path. */
function columnOf<Row>(name: string, columns: readonly Column<Row>[]): Column<Row> {
  return columns.find((each) => each.name === name) ?? { name };
}

/** The columns that --fields names, else those that are shown by default. */
export function shownColumns<Row>(
  columns: readonly Column<Row>[],
  fields: string | undefined,
): Column<Row>[] {
  if (fields === undefined) return columns.filter(({ shown }) => shown !== false);
  return parseFields(fields).map((name) => columnOf(name, columns));
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
      hints: [`known fields: ${[...known].join(", ")}`, "write members of objects as a.b"],
    });
  }
}

function texts(value: unknown): string[] {
  if (Array.isArray(value)) return value.length === 0 ? [""] : value.flatMap(texts);
  return [plainValue(value)];
}

/**
 * Whether a row passes every filter. A list matches if one of its elements matches;
 * null is empty text. A negated filter passes rows that do not match.
 */
export function passes<Row>(
  row: Row,
  filters: readonly Filter[],
  columns: readonly Column<Row>[],
): boolean {
  return filters.every((filter) => {
    const value = valueOf(columnOf(filter.name, columns), row);
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
    // A copy: the object may be part of the record itself.
    const copy: Tree = Object.assign(Object.create(null) as Tree, isTree(inner) ? inner : {});
    setMember(copy, rest, value);
    target[name] = copy;
  }
}

/**
 * The selected members of a row in the order of `names`. Members stay nested
 * (`connector.source` inside `connector`); a column that is not a member is added
 * under its name. Missing members are null.
 */
export function pick<Row>(
  row: Row,
  names: readonly string[],
  columns: readonly Column<Row>[],
): Tree {
  // Without a prototype, so that `__proto__` is an ordinary member.
  const picked = Object.create(null) as Tree;
  for (const name of names) {
    setMember(picked, name.split("."), valueOf(columnOf(name, columns), row) ?? null);
  }
  return picked;
}
