import { closeSync, lstatSync, openSync } from "node:fs";
import { sep } from "node:path";
import { contentHash, openFlags, readAll } from "../read/file-bytes.ts";
import type { Inspector, InspectSetup, Looked, LookItem, ReadItem } from "./inspection.ts";
import { maxFileBytesOf } from "../read/size-limit.ts";
import { sizeIn, stampOf } from "./stamp.ts";

// Runs and threads that only compare files with their records load this and nothing else.

/** The absolute path of a root-relative one. */
export function absoluteOf(root: string, path: string): string {
  return root.endsWith(sep) ? root + path : root + sep + path;
}

/** Where the bytes of an item are. */
export function placeOf({ path, absolutePath }: ReadItem, root: string): string {
  return absolutePath ?? absoluteOf(root, path);
}

/** Whether there is a regular file of exactly this stamp, so that it need not be opened. */
function hasStamp(absolutePath: string, stamp: string): boolean {
  const stats = lstatSync(absolutePath, { bigint: true });
  return stampOf(stats) === stamp && stats.isFile();
}

/**
 * Whether there is a file of so many bytes and of this hash. Its stamp is not asked
 * for: it may change meanwhile, the recorded bytes were there.
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
 * Whether a file is as it was recorded: by its content where that is to be compared,
 * else by its stamp. False for whatever else there is or is not: looking at it
 * closer tells.
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

/** Looks at items; `load` is asked for all that reading takes when there is something to read. */
export async function lookAtRecorded(
  items: readonly LookItem[],
  setup: Pick<InspectSetup, "settings">,
  load: () => Promise<Pick<Inspector, "look">>,
  onItem?: () => void,
): Promise<Looked[]> {
  const results: Looked[] = [];
  for (const item of items) {
    if (!isAsRecorded(item, setup)) break;
    results.push({ kind: "same" });
    onItem?.();
  }
  if (results.length === items.length) return results;
  const { look } = await load();
  return [...results, ...(await look(items.slice(results.length), onItem))];
}
