import { levels, type Item, type Level } from "./report.ts";

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
