import type { PeekedId } from "./inspection.ts";
import { closeSync, openSync, readSync } from "node:fs";
import { openFlags } from "../read/file-bytes.ts";
import { effectiveFor } from "../map/effective.ts";
import { isPacked } from "../read/file-name.ts";
import type { ReadItem } from "./inspection.ts";
import { defaultId } from "../map/mapping.ts";
import { formatOf, formats } from "../read/readers.ts";
import { loadGlobs } from "../find/patterns.ts";
import { placeOf } from "./recorded.ts";
import {
  compileSettings,
  usesPatterns,
  type DocumentSettings,
  type RawSettings,
} from "../map/settings.ts";

// Most front matter ends before.
const headBytes = 4096;
const head = Buffer.allocUnsafeSlow(headBytes);
const fence = Buffer.from("---\n");
const closing = Buffer.from("\n---\n");

/** The first bytes of a file; undefined for one that reading should find fault with. */
function readHead(path: string): Buffer | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, openFlags);
    return head.subarray(0, readSync(descriptor, head, 0, headBytes, 0));
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

// A byte order mark, or the beginning of front matter of any kind (front-matter.ts).
const tellsMore: ReadonlySet<number | undefined> = new Set([0x2d, 0x2b, 0x7b, 0xef, 0xfe, 0xff]);

const quoted = (key: string): string => key.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/**
 * Finds what could be one of the keys, however YAML writes it: escapes and aliases can stand for
 * any, and after "?" a key and its colon may stand on two lines, with a comment between them.
 */
function compileKeys({ keys }: DocumentSettings): RegExp {
  const names = [...keys.id, ...keys.ingest, ...keys.draft].map(quoted);
  return new RegExp(`[\\\\*]|(?<![^\\s{[,])\\?\\s|(?<![\\w.-])(?:${names.join("|")})["']?\\s*:`);
}

/** Whether `sign` stands at an offset. Buffer.compare() alone throws where the bytes end before. */
function startsAt(bytes: Buffer, sign: Buffer, at: number): boolean {
  const end = at + sign.length;
  return end <= bytes.length && bytes.compare(sign, 0, sign.length, at, end) === 0;
}

const compiled = new WeakMap<DocumentSettings, RegExp>();

/** Whether a Markdown file surely says nothing about its id, nor that it is to be left out. */
function isSilent(bytes: Buffer, settings: DocumentSettings): boolean {
  if (!tellsMore.has(bytes[0])) return bytes.length > 0;
  if (!startsAt(bytes, fence, 0)) return false;
  const end = bytes.indexOf("\n---", fence.length);
  if (end === -1 || !startsAt(bytes, closing, end)) return false;
  let keys = compiled.get(settings);
  if (!keys) compiled.set(settings, (keys = compileKeys(settings)));
  return !keys.test(bytes.toString("utf8", fence.length, end));
}

/**
 * Which document a file gives, told from its first bytes; undefined wherever
 * reading the file could say another thing, or that it is left out by its front
 * matter. Never throws.
 */
export function peekId(item: ReadItem, settings: DocumentSettings): PeekedId | undefined {
  const { path } = item;
  const format = formatOf(path, settings.format);
  if (format === formats.markdown) {
    const bytes = isPacked(path) ? undefined : readHead(placeOf(item, settings.root));
    if (!bytes || !isSilent(bytes, settings)) return undefined;
  } else if (format !== formats.text) return undefined;
  return { id: defaultId(path, settings), ownPair: effectiveFor(path, settings).ccPairId };
}

/** Gives glance() with settings, and with nothing of what reading takes. */
export async function loadPeekId(
  raw: RawSettings,
): Promise<(item: ReadItem) => PeekedId | undefined> {
  if (usesPatterns(raw)) await loadGlobs();
  const settings = compileSettings(raw);
  return (item) => peekId(item, settings);
}
