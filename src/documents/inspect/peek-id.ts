import type { PeekedId } from "./inspection.ts";
import { closeSync, openSync, readSync } from "node:fs";
import { openFlags } from "../read/bytes/file-bytes.ts";
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

// Most front matter is shorter.
const headBytes = 4096;
const head = Buffer.allocUnsafeSlow(headBytes);
const fence = Buffer.from("---\n");
const closing = Buffer.from("\n---\n");

/** The first bytes of a file; undefined on an error, which reading the file will report. */
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

// First bytes of a byte order mark, or of front matter of any kind (front-matter.ts).
const markedStarts: ReadonlySet<number | undefined> = new Set([0x2d, 0x2b, 0x7b, 0xef, 0xfe, 0xff]);

const escapeRegExp = (key: string): string => key.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/**
 * Matches anything that could be one of the keys in any YAML notation. Escapes and aliases can
 * stand for any key. After "?" a key and its colon may be on two lines, with a comment between.
 */
function compileKeys({ keys }: DocumentSettings): RegExp {
  const names = [...keys.id, ...keys.ingest, ...keys.draft].map(escapeRegExp);
  return new RegExp(`[\\\\*]|(?<![^\\s{[,])\\?\\s|(?<![\\w.-])(?:${names.join("|")})["']?\\s*:`);
}

/** Whether `mark` is at an offset. Checks the end first: Buffer.compare() throws beyond it. */
function startsAt(bytes: Buffer, mark: Buffer, at: number): boolean {
  const end = at + mark.length;
  return end <= bytes.length && bytes.compare(mark, 0, mark.length, at, end) === 0;
}

const keyPatterns = new WeakMap<DocumentSettings, RegExp>();

/** Whether a Markdown file certainly has no front matter that sets its id or skips the file. */
function hasDefaultId(bytes: Buffer, settings: DocumentSettings): boolean {
  if (!markedStarts.has(bytes[0])) return bytes.length > 0;
  if (!startsAt(bytes, fence, 0)) return false;
  const end = bytes.indexOf("\n---", fence.length);
  if (end === -1 || !startsAt(bytes, closing, end)) return false;
  let keys = keyPatterns.get(settings);
  if (!keys) keyPatterns.set(settings, (keys = compileKeys(settings)));
  return !keys.test(bytes.toString("utf8", fence.length, end));
}

/** What the first bytes of a file tell about its document. */
export interface Peek {
  /**
   * Whether the document certainly has the id that its path gives it. False if reading the whole
   * file could result in another id, or if its front matter could skip the file. Never throws.
   */
  hasPathId(item: ReadItem): boolean;
  /** The id that the path gives a document. */
  pathId(path: string): PeekedId;
}

export function createPeek(settings: DocumentSettings): Peek {
  return {
    hasPathId(item) {
      const { path } = item;
      const format = formatOf(path, settings.format);
      if (format !== formats.markdown) return format === formats.text;
      const bytes = isPacked(path) ? undefined : readHead(placeOf(item, settings.root));
      return bytes !== undefined && hasDefaultId(bytes, settings);
    },
    pathId: (path) => ({
      id: defaultId(path, settings),
      ownPair: effectiveFor(path, settings).ccPairId,
    }),
  };
}

/** Creates a Peek for settings as plain data. Does not load the reader code. */
export async function loadPeek(raw: RawSettings): Promise<Peek> {
  if (usesPatterns(raw)) await loadGlobs();
  return createPeek(compileSettings(raw));
}
