import { closeSync, lstatSync, openSync } from "node:fs";
import { contentHash, openFlags, readAll, maxFileBytesOf } from "../files/bytes/file-bytes.ts";
import type { Inspector, InspectSetup, Looked, LookItem, ReadItem } from "./inspection.ts";
import { absoluteOf, sizeIn, stampOf } from "../files/source-file.ts";
import { createPartCheck } from "../parts/parts.ts";

// Runs and threads that only compare files with their records load no other module.

/** One object for all results: between threads, a repeated object takes a few bytes. */
export const same: Looked = { kind: "same" };

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

// One run has one object of settings.
const partChecks = new WeakMap<object, (parts: string) => boolean>();

function hasParts(parts: string, { settings }: Pick<InspectSetup, "settings">): boolean {
  let check = partChecks.get(settings);
  if (!check) partChecks.set(settings, (check = createPartCheck(settings.root)));
  return check(parts);
}

/**
 * Whether a file equals its record. Compares the content if `item.content` is set, else the stamp.
 * The content of its parts is not recorded, so with parts a content comparison reads it again.
 * False for a missing file or on any error: reading the file then reports the reason.
 */
export function isAsRecorded(item: LookItem, setup: Pick<InspectSetup, "settings">): boolean {
  const { stamp, content, parts } = item;
  const { settings } = setup;
  if (stamp === undefined) return false;
  if (parts !== undefined && (content !== undefined || !hasParts(parts, setup))) return false;
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
