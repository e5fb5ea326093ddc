import {
  appendFileSync,
  chmodSync,
  closeSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { createMachine, stateFolder, type Environment } from "../../../config/find/folders.ts";
import { codeOf, writeProblem } from "../../../errors.ts";
import { makeFolder } from "../../../make-folder.ts";
import { inertPaste } from "../../../output/terminal/editor.ts";

/** Entries of conversations of one profile, across runs and processes. */
export interface History {
  /** The oldest first. */
  list(): readonly string[];
  /** Records an entry, unless it begins with a space, is too long, or repeats the last entry. */
  add(text: string): void;
}

const maxEntryLength = 10_000;
/** A larger file is rotated; at most two files are kept. */
const maxFileBytes = 512 * 1024;
const maxEntries = 2000;
const staleLockMs = 60_000;

function readEntries(path: string): string[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return [];
  }
  return text.split("\n").flatMap((line) => {
    try {
      const entry: unknown = JSON.parse(line);
      return typeof entry === "string" ? [inertPaste(entry)] : [];
    } catch {
      // A line cut by a full disk, or written by another program.
      return [];
    }
  });
}

function isLarge(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > maxFileBytes;
}

/** Acquires the rotation lock; false if another process has it. */
function acquireLock(path: string, now: number): boolean {
  const lockedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  if (lockedAt !== undefined && now - lockedAt > staleLockMs) rmSync(path, { force: true });
  try {
    closeSync(openSync(path, "wx", 0o600));
    return true;
  } catch {
    return false;
  }
}

/**
 * Renames a large file instead of rewriting it: an entry that another process appends
 * meanwhile is in one of the two files. The lock prevents a second rename, which would
 * overwrite the first renamed file.
 */
function rotate(path: string, now: number): void {
  if (!isLarge(path)) return;
  const lock = `${path}.lock`;
  if (!acquireLock(lock, now)) return;
  try {
    if (isLarge(path)) renameSync(path, `${path}.1`);
  } finally {
    rmSync(lock, { force: true });
  }
}

/**
 * Opens the history of a profile: a file of JSON strings, one per line, readable only by its
 * owner. Each entry is one append, so that concurrent processes lose no entry. The first
 * write failure goes to `warn`. Without `isKept`, nothing is read or written.
 */
export function openHistory(
  given: { env: Environment; profile: string; now(): number },
  { isKept, redact }: { isKept: boolean; redact(text: string): string },
  warn: (problem: string) => void,
): History {
  const folder = join(stateFolder(createMachine({ env: given.env, uid: -1 })), "history");
  const path = join(folder, `${given.profile}.ndjson`);
  const entries = !isKept
    ? []
    : [...readEntries(`${path}.1`), ...readEntries(path)].slice(-maxEntries);
  let hasWarned = false;
  const append = (text: string): void => {
    makeFolder(dirname(path), 0o700);
    rotate(path, given.now());
    // The line break is first, so that a line cut by a full disk damages no other line.
    appendFileSync(path, `\n${JSON.stringify(text)}`, { mode: 0o600 });
    // The file may have been created by hand or by another program.
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
  };
  return {
    list: () => entries,
    add(text) {
      if (/^\s/.test(text) || text.length > maxEntryLength || text === entries.at(-1)) return;
      // A text with a secret is not recorded: it is useless after redaction.
      if (redact(text) !== text) return;
      entries.push(text);
      if (entries.length > maxEntries) entries.shift();
      if (!isKept) return;
      try {
        append(text);
      } catch (error) {
        if (!hasWarned) warn(`the history cannot be saved: ${writeProblem(codeOf(error))}`);
        hasWarned = true;
      }
    },
  };
}
