import { appendFileSync, chmodSync, readFileSync, renameSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { whileLocked } from "../../../config/file/files.ts";
import { createMachine, stateFolder, type Environment } from "../../../config/find/folders.ts";
import { codeOf, writeProblem } from "../../../errors.ts";
import { makeFolder } from "../../../make-folder.ts";
import { inertPaste } from "../../../output/terminal/editor.ts";

/** Entries of conversations of one profile, across runs and processes. */
export interface History {
  /** The oldest first. */
  list(): readonly string[];
  /** Records an entry, unless it begins with a space, is too long, or repeats the last entry. */
  add(text: string): Promise<void>;
}

const maxEntryLength = 10_000;
/** A larger file is rotated; at most two files are kept. */
const maxFileBytes = 512 * 1024;
const maxEntries = 2000;

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

/**
 * Opens the history of a profile: a file of JSON strings, one per line, readable only by its
 * owner. Each entry is one append, so that concurrent processes lose no entry. The first
 * write failure goes to `warn`. Without `isKept`, nothing is read or written.
 */
export function openHistory(
  given: { env: Environment; profile: string },
  { isKept, redact }: { isKept: boolean; redact(text: string): string },
  warn: (problem: string) => void,
): History {
  const folder = join(stateFolder(createMachine({ env: given.env, uid: -1 })), "history");
  const path = join(folder, `${given.profile}.ndjson`);
  const entries = !isKept
    ? []
    : [...readEntries(`${path}.1`), ...readEntries(path)].slice(-maxEntries);
  let hasWarned = false;
  const append = async (text: string): Promise<void> => {
    makeFolder(dirname(path), 0o700);
    if (isLarge(path)) {
      // Renamed, not rewritten: what another process appends meanwhile is in one of the two files.
      await whileLocked(path, async () => {
        if (isLarge(path)) renameSync(path, `${path}.1`);
      });
    }
    // The line break is first, so that a line cut by a full disk damages no other line.
    appendFileSync(path, `\n${JSON.stringify(text)}`, { mode: 0o600 });
    // The file may have been created by hand or by another program.
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
  };
  return {
    list: () => entries,
    async add(text) {
      if (/^\s/.test(text) || text.length > maxEntryLength || text === entries.at(-1)) return;
      // A text with a secret is not recorded: it is useless after redaction.
      if (redact(text) !== text) return;
      entries.push(text);
      if (entries.length > maxEntries) entries.shift();
      if (!isKept) return;
      try {
        await append(text);
      } catch (error) {
        if (!hasWarned) warn(`the history cannot be saved: ${writeProblem(codeOf(error))}`);
        hasWarned = true;
      }
    },
  };
}
