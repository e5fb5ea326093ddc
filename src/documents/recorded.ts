import { lstatSync } from "node:fs";
import { sep } from "node:path";
import type { Inspector, Looked, LookItem, ReadItem } from "./inspection.ts";
import { stampOf } from "./stamp.ts";

// Runs and threads that only compare stamps load this and nothing else.

/** The absolute path of a root-relative one. */
export function absoluteOf(root: string, path: string): string {
  return root.endsWith(sep) ? root + path : root + sep + path;
}

/** Where the bytes of an item are. */
export function placeOf({ path, absolutePath }: ReadItem, root: string): string {
  return absolutePath ?? absoluteOf(root, path);
}

/**
 * Whether a regular file of exactly the recorded stamp is there, so that it need
 * not be opened; false where the content is to be compared, and for whatever else
 * there is or is not: looking at it closer tells.
 */
export function isAsRecorded(item: LookItem, root: string): boolean {
  const { stamp, content } = item;
  if (stamp === undefined || content !== undefined) return false;
  try {
    const stats = lstatSync(placeOf(item, root), { bigint: true });
    return stampOf(stats) === stamp && stats.isFile();
  } catch {
    return false;
  }
}

/** Looks at items; `load` is asked for all that reading takes when there is something to read. */
export async function lookAtStamps(
  items: readonly LookItem[],
  root: string,
  load: () => Promise<Pick<Inspector, "look">>,
  onItem?: () => void,
): Promise<Looked[]> {
  const results: Looked[] = [];
  for (const item of items) {
    if (!isAsRecorded(item, root)) break;
    results.push({ kind: "same" });
    onItem?.();
  }
  if (results.length === items.length) return results;
  const { look } = await load();
  return [...results, ...(await look(items.slice(results.length), onItem))];
}
