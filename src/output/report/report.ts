import type { RuleText } from "../../checks/lint/rule.ts";
import type { Throughput } from "./stored/record.ts";
import type { Traffic } from "./stored/collector.ts";

/** How bad an item is. Worst first: lists that are cut keep the worst. */
const levels = ["error", "warning", "note", "fine"] as const;
export type Level = (typeof levels)[number];

/** Colour of a word or a count: the classes of the HTML page. */
export type Tone = "ok" | "warn" | "bad" | "soft";

/** A line of evidence: a document, a failed expectation. */
export interface Line {
  text: string;
  /** Whether it is as it should be; `left`: it does not count. */
  mark?: "good" | "bad" | "left";
  note?: string;
  /** Further text, which only the HTML page shows. */
  more?: string;
}

/** The evidence of an item under one heading: `expected`, `retrieved`, `answer`. */
export interface Detail {
  name: string;
  lines: readonly Line[];
  /** People read its lines in one row of the terminal. */
  isRow?: boolean;
  /** A terminal shows it with --verbose only. */
  isLong?: boolean;
}

/**
 * One thing that a run tells about: a finding, a document, a case. It has more than seven members
 * because every form shows it: the place for editors and annotations, the test for JUnit, the
 * fingerprint for code scanning.
 */
export interface Item {
  level: Level;
  /** The result of its test. An `error` could not be judged. */
  test: "passed" | "failed" | "error" | "skipped";
  /** Its result in a word: `missing`, `failed`, `warning`. The page filters by it. */
  word: string;
  /** What it has in common with others: its rule, its reason. */
  group: string;
  /** The rule that it breaks. */
  rule?: string | undefined;
  /** Heading of its annotation. */
  title: string;
  message: string;
  /** Relative to the project root; null if it is about no file. */
  path: string | null;
  line?: number | null | undefined;
  column?: number | null | undefined;
  endLine?: number | null | undefined;
  endColumn?: number | null | undefined;
  /** Its name, if that is not its place: the id of a case. */
  name?: string | undefined;
  /** What a named item is about: the question of a case. */
  subject?: string | undefined;
  /** Id of a document, if the path does not give it. */
  id?: string | undefined;
  /** Package of its test; default: none. */
  suite?: string | undefined;
  seconds?: number | undefined;
  tags?: readonly string[];
  details?: readonly Detail[];
  /** The same in the next run; default: made of path, id and message. */
  fingerprint?: string | undefined;
  /** Whether the same run may succeed later. */
  isPassing?: boolean;
}

/** A number of the run. `part`: it and the other parts make the whole, which a bar shows. */
export interface Count {
  name: string;
  count: number;
  tone: Tone;
  part?: "new" | "changed" | "same" | "left" | "bad" | "open";
}

/** A mean between 0 and 1 with its interval, drawn as a bar; `before`: of the baseline. */
export interface Range {
  value: number;
  low: number;
  high: number;
  before?: number | undefined;
}

/** A drawing, of which forms of text show nothing: a share from 0 to 1, or a range. */
type Drawing = { share: number } | { range: Range };
export type Cell = string | Drawing | null;

export interface Column {
  name: string;
  /** A path, a number, or a drawing; else text. */
  kind?: "path" | "number" | "drawing" | undefined;
}

const columnOf =
  (kind: Column["kind"]) =>
  (name: string): Column => ({ name, kind });
export const asPath = columnOf("path");
export const asNumber = columnOf("number");
export const asDrawing = columnOf("drawing");

/** A table. The forms show its first rows, and count the others together with `leftOut`. */
export interface Table {
  title: string;
  columns: readonly Column[];
  rows: readonly (readonly Cell[])[];
  leftOut?: number;
  /** Readers open it first. */
  isFolded?: boolean;
  /** Explains the drawings. */
  key?: string | undefined;
  /** A terminal shows it: always, or with --verbose. */
  people?: "always" | "verbose";
}

/** A part of the page. `items` is the place of the items. */
export type Block = Table | { chart: Throughput } | "items";

/** What a run had no item for: `20,000 documents created`; skipped ones have a reason. */
export interface Tally {
  name: string;
  suite?: string;
  skipped?: string;
}

/** The JSON of a run: the members of `head`, then the list `list`. A line of ndjson has `type`. */
export interface Data {
  head: { version: number; [member: string]: unknown };
  list: string;
  type: string;
  items: Iterable<object>;
}

/** What monitoring reads beside the counts. What a command does not measure is absent. */
export interface Measures {
  isSuccess: boolean;
  sentBytes?: number;
  traffic?: Traffic;
  /** When the oldest file changed whose document the service lacks, in milliseconds since the epoch. */
  oldestUnsentMs?: number | undefined;
  endedAtMs?: number;
  seconds?: number;
  /** End of the last run that succeeded, before this one. */
  lastSuccessMs?: number | undefined;
}

/**
 * A finished run of lint, verify, eval, an upload or a removal: what every form is written from, in
 * `junit.ts`, `html.ts`, `sarif.ts`, `github.ts`, `gitlab.ts`, `json.ts`, `prometheus.ts` and `people.ts`. A form
 * knows no command, and a command no form: `from/` makes reports of results.
 *
 * Its texts hold no secrets: who makes a report redacts them before, whole, so that a form may cut
 * them. They may hold everything else, which each form escapes. Items are read as often as a form
 * needs and may be a million: a form keeps a bounded number.
 */
export interface Report {
  /** `lint`, `eval answers`: also the name of the tests. */
  command: string;
  verdict: { word: string; tone: Tone };
  /** The run in a line: `3 errors, 1 note in 2 files`. */
  title: string;
  /** What it was about: service, duration, size. */
  facts: readonly string[];
  /** ISO 8601. */
  startedAt?: string | undefined;
  seconds?: number | undefined;
  /** Why the run ended early. */
  stopped?: string | undefined;
  /** What readers should know. `isWarned`: the command says it on stderr. */
  notes: readonly { tone: Tone; text: string; isWarned?: true }[];
  counts: readonly Count[];
  items: Iterable<Item>;
  /** Items come in the order of their groups; else the worst and largest groups come first. */
  isOrdered?: boolean;
  /** The page lists items also by file. */
  isByFile?: boolean;
  blocks: readonly Block[];
  /** The rules of the groups. */
  rules: readonly RuleText[];
  tallies: readonly Tally[];
  /** Properties of the test suite. */
  properties: Readonly<Record<string, string | number | undefined>>;
  data: Data;
  measures?: Measures;
}

/** `docs/a.md:3:5`, without unknown parts; empty without a path. */
export function placeOf({ path, line, column }: Pick<Item, "path" | "line" | "column">): string {
  if (path === null) return "";
  const parts: (string | number)[] = [path];
  if (typeof line === "number") parts.push(line);
  if (typeof line === "number" && typeof column === "number") parts.push(column);
  return parts.join(":");
}

/** What an item is called in a list: its name, place or id. */
export function labelOf(item: Item): string {
  return item.name ?? (placeOf(item) || (item.id ?? ""));
}

/** Items with the same result and the same cause. */
export interface Group {
  word: string;
  name: string;
  level: Level;
  count: number;
  /** Those that are shown. */
  items: Item[];
}

export interface Gathered {
  total: number;
  counts: Record<Level, number>;
  /** The first items of each level. */
  first: Readonly<Record<Level, Item[]>>;
  /** The first items, worst first. */
  shown: readonly Item[];
  groups: readonly Group[];
}

const maxGroups = 1000;

/**
 * Reads all items once, in bounded memory: counts them, and keeps at most `most` of each level and
 * `most` to show. Groups are ordered by level and size, or as they come (`isOrdered`); after 1,000
 * of them, others share one.
 */
export function gather(items: Iterable<Item>, most: number, isOrdered = false): Gathered {
  const counts: Gathered["counts"] = { error: 0, warning: 0, note: 0, fine: 0 };
  const first: Record<Level, Item[]> = { error: [], warning: [], note: [], fine: [] };
  const groups = new Map<string, Group>();
  let total = 0;
  const keyOf = ({ word, group }: Item): string => `${word}\n${group}`;
  const others = ({ word, level }: Item): string => `${word}\n${level}\n`;
  for (const item of items) {
    const { level, word } = item;
    total++;
    counts[level]++;
    if (first[level].length < most) first[level].push(item);
    const isOther = !groups.has(keyOf(item)) && groups.size >= maxGroups;
    const key = isOther ? others(item) : keyOf(item);
    let group = groups.get(key);
    if (!group) {
      const name = isOther ? "other reasons" : item.group;
      groups.set(key, (group = { word, name, level, count: 0, items: [] }));
    }
    group.count++;
  }
  const shown = levels.flatMap((level) => first[level]).slice(0, most);
  for (const item of shown) (groups.get(keyOf(item)) ?? groups.get(others(item)))?.items.push(item);
  const all = [...groups.values()];
  const rank = ({ level }: Group): number => levels.indexOf(level);
  const sorted = all.toSorted((a, b) => rank(a) - rank(b) || b.count - a.count);
  return { total, counts, first, shown, groups: isOrdered ? all : sorted };
}

/** Makes a value of each of `all`, each time when it is read. */
export function mapped<Value, Result>(
  all: Iterable<Value> | (() => Iterable<Value>),
  make: (value: Value) => Result,
): Iterable<Result> {
  return {
    *[Symbol.iterator]() {
      for (const each of typeof all === "function" ? all() : all) yield make(each);
    },
  };
}
