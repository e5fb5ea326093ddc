import {
  closeSync,
  fchmodSync,
  fsyncSync,
  lstatSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { CliError, codeOf } from "../../errors.ts";
import { makeFolder } from "../../make-folder.ts";

/** Modes that this tool gives to files that may hold a key, and to their folder. */
const privateFile = 0o600;
const privateFolder = 0o700;

function existing(path: string): { real: string; mode: number } | undefined {
  try {
    return { real: realpathSync(path), mode: statSync(path).mode & 0o777 };
  } catch {
    return undefined;
  }
}

/** Whatever hinders this hindered the writing too, and that is what is told. */
function tryRemove(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {}
}

/**
 * Writes a whole file so that a reader, or a crash at any moment, sees either the
 * old or the new text: a new file of mode 0600 beside it, made for this
 * (O_EXCL), flushed, renamed over it. With `keepMode` an existing file keeps its
 * mode and a new one gets 0644. `flush: false` does not wait for the disk: for
 * what may be lost when the machine fails. Missing folders are made with 0700.
 * Throws CliError `local`.
 */
export function writeWhole(
  path: string,
  text: string,
  options: { keepMode?: boolean; flush?: boolean } = {},
): void {
  const old = existing(path);
  // Through a symlink: someone who links the file into a repository keeps the link.
  const target = old?.real ?? path;
  // O_EXCL is what makes it safe, not the name; loading the crypto module would take milliseconds.
  const unique = Math.random().toString(36).slice(2);
  const temporary = join(dirname(target), `.${basename(target)}.${unique}.tmp`);
  const mode = options.keepMode ? (old?.mode ?? 0o644) : privateFile;
  try {
    makeFolder(dirname(target), privateFolder);
    const file = openSync(temporary, "wx", privateFile);
    try {
      writeFileSync(file, text);
      if (mode !== privateFile) fchmodSync(file, mode);
      if (options.flush !== false) fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, target);
  } catch (error) {
    tryRemove(temporary);
    throw new CliError("local", `cannot write ${path}: ${codeOf(error) ?? "unknown failure"}`, {
      hints: ["check that the folder exists and may be written, and that the disk is not full"],
      cause: error,
    });
  }
}

export interface SafetyRules {
  /** User id of the caller; -1 checks nothing (Windows). */
  uid: number;
  /** The file holds a key itself: who may read it matters, and it may not be a symlink. */
  holdsKey: boolean;
  /** Also accept root as owner: root can read and change everything anyway. */
  rootToo?: boolean;
  warn: (message: string) => void;
}

function unsafe(path: string, problem: string, hint: string): CliError {
  return new CliError("not-configured", `${path} ${problem}`, { hints: [hint] });
}

/**
 * Refuses a file that someone else could have written: another owner, writable by
 * group or others, a symlink where it holds a key. A key that others can read
 * is a warning with the command that mends it. Throws CliError `not-configured`.
 */
export function checkPrivate(path: string, rules: SafetyRules): void {
  if (rules.uid < 0) return;
  const link = lstatSync(path);
  const file = link.isSymbolicLink() ? statSync(path) : link;
  if (link.isSymbolicLink() && rules.holdsKey) {
    throw unsafe(path, "is a symbolic link and holds a key", "put the file itself in its place");
  }
  const owners = rules.rootToo ? [rules.uid, 0] : [rules.uid];
  if (!owners.includes(file.uid)) {
    throw unsafe(
      path,
      `belongs to another user (uid ${file.uid})`,
      `take it over: chown "$(id -u)" ${path}`,
    );
  }
  if ((file.mode & 0o022) !== 0) {
    throw unsafe(path, "can be changed by other users", `make it yours alone: chmod 600 ${path}`);
  }
  if (rules.holdsKey && (file.mode & 0o044) !== 0) {
    rules.warn(
      `${path} holds a key and can be read by other users; mend it with: chmod 600 ${path}`,
    );
  }
}
