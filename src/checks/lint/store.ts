import { mix } from "./near/similar.ts";
import { randomBytes } from "node:crypto";
import { closeSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { comparePaths } from "../../documents/files/source-file.ts";
import type { ComparedPage, StoredPage, Finding, Findings } from "./rule.ts";
import type { LintFinding } from "./place.ts";

/** Numbers from 0 by a hash of 32 bits. */
interface NumbersByHash {
  add(hash: number, value: number): void;
  /** The numbers that were added under a hash. */
  of(hash: number): Generator<number>;
}

const none = -1;

/**
 * A hash table in arrays of numbers: a map takes several times the memory, even more with its keys.
 * Different keys can have the same hash: the caller compares what the numbers stand for.
 */
export function createNumbersByHash(): NumbersByHash {
  let size = 1024;
  let count = 0;
  let hashes = new Int32Array(size);
  let values = new Float64Array(size).fill(none);

  const put = (hash: number, value: number): void => {
    let slot = hash & (size - 1);
    while (values[slot] !== none) slot = (slot + 1) & (size - 1);
    hashes[slot] = hash;
    values[slot] = value;
  };
  const grow = (): void => {
    const [oldHashes, oldValues] = [hashes, values];
    size *= 2;
    hashes = new Int32Array(size);
    values = new Float64Array(size).fill(none);
    for (const [slot, value] of oldValues.entries()) {
      if (value !== none) put(oldHashes[slot] ?? 0, value);
    }
  };
  return {
    add(hash, value) {
      // A third of the places stays empty, so that a search ends soon.
      if (3 * ++count > 2 * size) grow();
      put(hash, value);
    },
    *of(hash) {
      const wanted = hash | 0;
      for (let slot = wanted & (size - 1); values[slot] !== none; slot = (slot + 1) & (size - 1)) {
        if (hashes[slot] === wanted) yield values[slot] ?? none;
      }
    },
  };
}

/** A hash of a text, for NumbersByHash. */
export function hashText(text: string): number {
  // FNV-1a over UTF-16 units, then its bits mixed.
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return mix(hash) | 0;
}

/** Texts in the order in which they were added; on disk, but for the last ones. */
interface StoredTexts {
  /** Appends a text and returns its position. */
  add(text: string): number;
  /** All texts with their positions, in order. Add none meanwhile. */
  entries(): Generator<[position: number, text: string]>;
  /** The text at a position. */
  at(position: number): string;
  /** Forgets the texts. Others can be added. */
  clear(): void;
}

interface Limits {
  /** Bytes that stay in memory; also those that are read at once. */
  blockBytes: number;
  folder: string;
}

const lengthBytes = 4;

/** Opens a file and removes its name, so that no file remains however the process ends. */
function openNameless(folder: string): number {
  const path = join(folder, `knowctl-${randomBytes(8).toString("hex")}`);
  const descriptor = openSync(path, "wx+", 0o600);
  rmSync(path, { force: true });
  return descriptor;
}

function writeFully(file: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length;) {
    done += writeSync(file, bytes, done, bytes.length - done, position + done);
  }
}

function readFully(file: number, into: Buffer, position: number): Buffer {
  for (let done = 0; done < into.length;) {
    const more = readSync(file, into, done, into.length - done, position + done);
    if (more === 0) throw new Error("the file is shorter than what was written to it");
    done += more;
  }
  return into;
}

/**
 * Creates an empty store. What does not fit into a block of memory goes into a nameless file; where
 * none can be written, all texts stay in memory. clear() closes the file.
 */
export function createStoredTexts({
  blockBytes = 256 * 1024,
  folder = tmpdir(),
}: Partial<Limits> = {}): StoredTexts {
  let file: number | undefined;
  let fileBytes = 0;
  let canWrite = true;
  // The texts after those in the file.
  let block = Buffer.alloc(0);
  let used = 0;

  const flush = (): void => {
    try {
      file ??= openNameless(folder);
      writeFully(file, block.subarray(0, used), fileBytes);
      fileBytes += used;
      used = 0;
    } catch {
      canWrite = false;
    }
  };
  const makeRoom = (bytes: number): void => {
    if (used + bytes <= block.length) return;
    if (canWrite && used > 0) flush();
    if (used + bytes <= block.length) return;
    const larger = Buffer.allocUnsafeSlow(
      Math.max(blockBytes, used + bytes, canWrite ? 0 : 2 * used),
    );
    block.copy(larger, 0, 0, used);
    block = larger;
  };
  // Reads as much as fits into the buffer.
  const read = (position: number, into: Buffer): Buffer => {
    if (file === undefined || position >= fileBytes)
      return block.subarray(position - fileBytes, used);
    return readFully(file, into.subarray(0, fileBytes - position), position);
  };
  return {
    add(text) {
      const bytes = Buffer.byteLength(text);
      makeRoom(lengthBytes + bytes);
      const position = fileBytes + used;
      block.writeUInt32LE(bytes, used);
      block.write(text, used + lengthBytes);
      used += lengthBytes + bytes;
      return position;
    },
    *entries() {
      // One buffer for all: the heap does not grow by what is outside of it, so it would pile up.
      let window = Buffer.allocUnsafe(Math.min(blockBytes, fileBytes));
      for (let position = 0; position < fileBytes + used;) {
        let bytes = read(position, window);
        const first = lengthBytes + bytes.readUInt32LE(0);
        if (first > bytes.length) bytes = read(position, (window = Buffer.allocUnsafe(first)));
        let at = 0;
        while (at + lengthBytes <= bytes.length) {
          const end = at + lengthBytes + bytes.readUInt32LE(at);
          if (end > bytes.length) break;
          yield [position + at, bytes.toString("utf8", at + lengthBytes, end)];
          at = end;
        }
        position += at;
      }
    },
    at(position) {
      let bytes = read(position, Buffer.allocUnsafe(1024));
      const end = lengthBytes + bytes.readUInt32LE(0);
      if (end > bytes.length) bytes = read(position, Buffer.allocUnsafe(end));
      return bytes.toString("utf8", lengthBytes, end);
    },
    clear() {
      if (file !== undefined) closeSync(file);
      file = undefined;
      block = Buffer.alloc(0);
      fileBytes = used = 0;
    },
  };
}

/** A page with a text. */
export interface PageText extends StoredPage {
  text: string;
}

/** Texts about pages, on disk. */
export interface PageTexts extends Iterable<PageText> {
  add(page: ComparedPage, text: string): void;
  /** Reads a text again. */
  at(place: number): PageText;
  /** Forgets the texts, and closes their file. */
  clear(): void;
}

function comparePages(a: ComparedPage, b: ComparedPage): number {
  return comparePaths(a.path, b.path) || a.part - b.part;
}

// JSON has no line breaks.
const encode = ({ path, part, row }: ComparedPage, text: string): string =>
  `${JSON.stringify(row ? [path, part, row] : [path, part])}\n${text}`;

function decode(stored: string, place: number): PageText {
  const end = stored.indexOf("\n");
  const page = JSON.parse(stored.slice(0, end)) as [string, number, ComparedPage["row"]?];
  const [path, part, row] = page;
  return { path, part, row, text: stored.slice(end + 1), place };
}

/** Creates an empty store. It yields texts by path and part of their pages. */
export function createPageTexts(): PageTexts {
  const texts = createStoredTexts();
  let last: ComparedPage | undefined;
  let isInOrder = true;
  let latest: PageText | undefined;

  function* inOrder(): Generator<PageText> {
    for (const [place, text] of texts.entries()) yield decode(text, place);
  }
  // Files that only symbolic links reach come last: their pages alone need another order.
  function* sorted(): Generator<PageText> {
    const pages = Array.from(inOrder(), ({ path, part, place }) => ({ path, part, place }));
    for (const { place } of pages.sort(comparePages)) yield decode(texts.at(place), place);
  }
  return {
    add(page, text) {
      if (last && comparePages(last, page) > 0) isInOrder = false;
      last = page;
      texts.add(encode(page, text));
    },
    [Symbol.iterator]: () => (isInOrder ? inOrder() : sorted()),
    at(place) {
      // The first of many equal ones is read for each of them.
      if (latest?.place !== place) latest = decode(texts.at(place), place);
      return latest;
    },
    clear() {
      texts.clear();
      last = latest = undefined;
      isInOrder = true;
    },
  };
}

/** Findings in the order in which they are added; on disk. */
interface StoredFindings extends Findings {
  add(finding: Finding): void;
  /** Forgets the findings, and closes their file. */
  clear(): void;
}

/** Creates an empty store. */
export function createStoredFindings(): StoredFindings {
  const texts = createStoredTexts();
  let length = 0;
  return {
    get length() {
      return length;
    },
    add(finding) {
      length++;
      texts.add(JSON.stringify(finding));
    },
    *[Symbol.iterator]() {
      for (const [, text] of texts.entries()) yield JSON.parse(text) as Finding;
    },
    clear() {
      length = 0;
      texts.clear();
    },
  };
}

/** The order of reports: by path and place. */
export function byPlace(a: Finding, b: Finding): number {
  return (
    comparePaths(a.path, b.path) ||
    (a.line ?? 0) - (b.line ?? 0) ||
    (a.column ?? 0) - (b.column ?? 0) ||
    comparePaths(a.rule, b.rule)
  );
}

/** The findings of pages; on disk. It yields them by path and place. */
export interface PageFindings extends Iterable<LintFinding> {
  add(page: ComparedPage, findings: readonly LintFinding[]): void;
  /** Forgets the findings, and closes their file. */
  clear(): void;
}

/** Creates an empty store. */
export function createPageFindings(): PageFindings {
  const texts = createPageTexts();
  return {
    add(page, findings) {
      if (findings.length > 0) texts.add(page, JSON.stringify(findings));
    },
    *[Symbol.iterator]() {
      let open: LintFinding[] = [];
      let last: ComparedPage | undefined;
      for (const { path, row, text } of texts) {
        // Several rows can stand in one line: their findings are sorted together.
        if (last && (last.path !== path || last.row?.line !== row?.line)) {
          yield* open.sort(byPlace);
          open = [];
        }
        open.push(...(JSON.parse(text) as LintFinding[]));
        last = { path, part: 0, row };
      }
      yield* open.sort(byPlace);
    },
    clear: () => texts.clear(),
  };
}

/** Two lists that are ordered by place as one; equal places of the first come first. */
export function* mergeFindings(
  first: Iterable<LintFinding>,
  second: readonly LintFinding[],
): Generator<LintFinding> {
  let next = 0;
  for (const each of first) {
    for (let other = second[next]; other && byPlace(other, each) < 0; other = second[++next]) {
      yield other;
    }
    yield each;
  }
  yield* second.slice(next);
}
