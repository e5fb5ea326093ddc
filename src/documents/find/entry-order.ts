import { comparePaths } from "../inspect/stamp.ts";

// From here on the order of code units, which is quick to ask for, is not that of code points.
const beyondBasics = /[\ud800-\uffff]/;

/** Sorts the entries of one folder in place, by their keys in order of code points. */
export function sortByKey<Entry extends { key: string }>(entries: Entry[]): Entry[] {
  if (entries.some(({ key }) => beyondBasics.test(key))) {
    return entries.sort((a, b) => comparePaths(a.key, b.key));
  }
  return entries.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}
