import { comparePaths } from "../inspect/stamp.ts";

// From U+D800 on, code-unit order (fast to compare) can differ from code-point order.
const mayDifferInOrder = /[\ud800-\uffff]/;

/** Sorts the entries of one folder in place by key, in code-point order. */
export function sortByKey<Entry extends { key: string }>(entries: Entry[]): Entry[] {
  if (entries.some(({ key }) => mayDifferInOrder.test(key))) {
    return entries.sort((a, b) => comparePaths(a.key, b.key));
  }
  return entries.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}
