import {
  appendFileSync,
  chmodSync,
  openSync,
  closeSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { createMachine, stateFolder, type Environment } from "../../../config/find/folders.ts";
import { codeOf } from "../../../errors.ts";
import { makeFolder } from "../../../make-folder.ts";
import { inertPaste } from "../../../output/terminal/editor/keys.ts";

/** What was entered in conversations of one profile, across runs and processes. */
export interface History {
  /** The oldest first. */
  list(): readonly string[];
  /** Records an entry, unless it begins with a space, is too long, or is the last one again. */
  add(text: string): void;
}

const longestEntry = 10_000;
/** A file is set aside when it is larger; two are kept at most. */
const largestFile = 512 * 1024;
const mostEntries = 2000;
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
      // Half a line of a full disk, or somebody else's.
      return [];
    }
  });
}

function isLarge(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > largestFile;
}

/** Takes the lock of setting aside; false where another process has it. */
function takeLock(path: string, now: number): boolean {
  const made = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  if (made !== undefined && now - made > staleLockMs) rmSync(path, { force: true });
  try {
    closeSync(openSync(path, "wx", 0o600));
    return true;
  } catch {
    return false;
  }
}

/**
 * Renames a large file, so that nothing is rewritten: what another process
 * appends meanwhile goes into either file. The lock keeps a second rename from
 * throwing the first one's file away.
 */
function setAside(path: string, now: number): void {
  if (!isLarge(path)) return;
  const lock = `${path}.lock`;
  if (!takeLock(lock, now)) return;
  try {
    if (isLarge(path)) renameSync(path, `${path}.1`);
  } finally {
    rmSync(lock, { force: true });
  }
}

/**
 * Opens the history of a profile: a file of JSON texts, one a line, that only
 * its owner can read. Each entry is appended by one write, so that several
 * processes lose none. What cannot be written is told once to `warn`. Without
 * `isKept` nothing is read or written.
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
    : [...readEntries(`${path}.1`), ...readEntries(path)].slice(-mostEntries);
  let hasWarned = false;
  const append = (text: string): void => {
    makeFolder(dirname(path), 0o700);
    setAside(path, given.now());
    // The line end comes first: half a line of a full disk then spoils no other.
    appendFileSync(path, `\n${JSON.stringify(text)}`, { mode: 0o600 });
    // One that was made by hand, or came from elsewhere.
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
  };
  return {
    list: () => entries,
    add(text) {
      if (/^\s/.test(text) || text.length > longestEntry || text === entries.at(-1)) return;
      // A text with a secret in it is worth nothing without it.
      if (redact(text) !== text) return;
      entries.push(text);
      if (entries.length > mostEntries) entries.shift();
      if (!isKept) return;
      try {
        append(text);
      } catch (error) {
        if (!hasWarned) warn(`the history is not kept: ${codeOf(error) ?? "unknown failure"}`);
        hasWarned = true;
      }
    },
  };
}
