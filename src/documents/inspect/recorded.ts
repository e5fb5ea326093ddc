import { closeSync, lstatSync, openSync } from "node:fs";
import { sep } from "node:path";
import { contentHash, openFlags, readAll } from "../read/file-bytes.ts";
import type { Inspector, InspectSetup, Looked, LookItem, ReadItem } from "./inspection.ts";
import { maxFileBytesOf } from "../read/size-limit.ts";
import { sizeIn, stampOf } from "./stamp.ts";

// Runs and threads that only compare files with their records load no other module.

/** One object for all results: between threads, a repeated object takes a few bytes. */
export const same: Looked = { kind: "same" };

/** The absolute path of a root-relative one. */
export function absoluteOf(root: string, path: string): string {
  return root.endsWith(sep) ? root + path : root + sep + path;
}

/** The absolute path of an item. */
export function placeOf({ path, absolutePath }: ReadItem, root: string): string {
  return absolutePath ?? absoluteOf(root, path);
}

/** Whether a regular file has exactly this stamp, so that it need not be opened. */
function hasStamp(absolutePath: string, stamp: string): boolean {
  const stats = lstatSync(absolutePath, { bigint: true });
  return stampOf(stats) === stamp && stats.isFile();
}

/**
 * Whether a file has this size and this hash. Does not check the stamp: even if the file changes
 * meanwhile, it contained the recorded bytes.
 */
function hasContent(absolutePath: string, sizeBytes: number, content: string): boolean {
  const descriptor = openSync(absolutePath, openFlags);
  try {
    const bytes = readAll(descriptor, sizeBytes);
    return bytes.length === sizeBytes && contentHash(bytes) === content;
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Whether a file equals its record. Compares the content if `item.content` is set, else the stamp.
 * False for a missing file or on any error: reading the file then reports the reason.
 */
export function isAsRecorded(
  item: LookItem,
  { settings }: Pick<InspectSetup, "settings">,
): boolean {
  const { stamp, content } = item;
  if (stamp === undefined) return false;
  const absolutePath = placeOf(item, settings.root);
  try {
    if (content === undefined) return hasStamp(absolutePath, stamp);
    const sizeBytes = sizeIn(stamp);
    return sizeBytes <= maxFileBytesOf(settings) && hasContent(absolutePath, sizeBytes, content);
  } catch {
    return false;
  }
}

/** Compares items with their records. Calls `load` for the reader code only to read a file. */
export async function lookAtRecorded(
  items: readonly LookItem[],
  setup: Pick<InspectSetup, "settings">,
  load: () => Promise<Pick<Inspector, "look">>,
  onItem?: () => void,
): Promise<Looked[]> {
  const results: Looked[] = [];
  for (const item of items) {
    if (!isAsRecorded(item, setup)) break;
    results.push(same);
    onItem?.();
  }
  if (results.length === items.length) return results;
  const { look } = await load();
  return [...results, ...(await look(items.slice(results.length), onItem))];
}
