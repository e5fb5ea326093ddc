import {
  lstatSync,
  readlinkSync,
  realpathSync,
  statSync,
  closeSync,
  openSync,
  rmSync,
} from "node:fs";
import { dirname } from "node:path";
import { CliError, codeOf, writeProblem } from "../../errors.ts";
import { makeFolder } from "../../make-folder.ts";
import { replaceFile } from "../../replace-file.ts";
import { isInside } from "../find/folders.ts";
import { setTimeout as wait } from "node:timers/promises";

/** Modes of files that may hold a key, and of their folder. */
const privateFile = 0o600;
const privateFolder = 0o700;

function existing(path: string): { real: string; mode: number; isSpecial: boolean } | undefined {
  try {
    const stats = statSync(path);
    const isSpecial = !stats.isFile() && !stats.isDirectory();
    return { real: realpathSync(path), mode: stats.mode & 0o777, isSpecial };
  } catch {
    return undefined;
  }
}

/** Throws CliError `not-configured` for a pipe, a socket or a device: reading it may never end. */
export function refuseSpecial(path: string): void {
  if (existing(path)?.isSpecial !== true) return;
  throw new CliError(
    "not-configured",
    `${path} is not a regular file but a pipe, a socket or a device: not read`,
    { hints: ["put a regular file in its place, or remove it"] },
  );
}

/**
 * Replaces a file with replaceFile(), with mode 0600. `keepMode` keeps the mode of an existing file; a
 * new file gets 0644. `flush: false` skips the fsync, for data that may be lost when the machine fails.
 * Creates missing folders with 0700. Throws CliError `local`, also for a pipe, a socket or a device.
 */
export function writeWhole(
  path: string,
  text: string,
  { keepMode = false, flush }: { keepMode?: boolean; flush?: boolean } = {},
): void {
  const old = existing(path);
  // The new file would take its place: for root, the place of /dev/null.
  if (old?.isSpecial === true) {
    throw new CliError("local", `cannot write ${path}: it is not a regular file`, {
      hints: ["name a file, or a new one"],
    });
  }
  // Write through a symlink: a user who links the file into a repository keeps the link.
  const target = old?.real ?? path;
  const exactMode = keepMode ? (old?.mode ?? 0o644) : privateFile;
  try {
    makeFolder(dirname(target), privateFolder);
    replaceFile(target, [text], { exactMode, flush });
  } catch (error) {
    const code = codeOf(error);
    throw new CliError("local", `cannot write ${path}: ${writeProblem(code)}`, {
      hints: [
        code === "ENAMETOOLONG"
          ? "choose a shorter name"
          : "check that the folder exists and is writable, and that the disk is not full",
      ],
      cause: error,
    });
  }
}

interface SafetyRules {
  /** User id of the caller; -1 checks nothing (Windows). */
  uid: number;
  /** The file itself holds a key: a symlink is refused, and readers other than the owner cause a warning. */
  holdsKey: boolean;
  /** Also accept root as owner: root can read and change everything anyway. */
  rootToo?: boolean;
  /** The user named the file, so it may be a link, but no other user may own the link. */
  isNamed?: boolean;
  warn: (message: string) => void;
}

function unsafe(path: string, problem: string, hint: string): CliError {
  return new CliError("not-configured", `${path} ${problem}`, { hints: [hint] });
}

/**
 * Kubernetes mounts each key of a secret or a config map as a link to `..data/KEY` in its own
 * folder. The mode comes from the volume and cannot be changed in the container.
 */
const isMounted = (path: string): boolean => readlinkSync(path).startsWith("..data/");

const staysInFolder = (path: string): boolean =>
  isInside(realpathSync(dirname(path)), realpathSync(path));

/**
 * Refuses a file that another user could have written: it has another owner, is writable by
 * group or others, or holds a key and is a symlink out of its folder that nobody named. Warns
 * about a key that others can read, with the command that fixes it. Throws CliError
 * `not-configured`.
 */
export function checkPrivate(path: string, rules: SafetyRules): void {
  if (rules.uid < 0) return;
  const link = lstatSync(path);
  const isLink = link.isSymbolicLink();
  const file = isLink ? statSync(path) : link;
  if (isLink && rules.holdsKey && !rules.isNamed && !staysInFolder(path)) {
    throw unsafe(
      path,
      "is a symbolic link and holds a key",
      "replace the link with the file itself",
    );
  }
  const owners = rules.rootToo ? [rules.uid, 0] : [rules.uid];
  const owner = [...owners, 0].includes(link.uid) ? file.uid : link.uid;
  if (!owners.includes(owner)) {
    throw unsafe(
      path,
      `belongs to another user (uid ${owner})`,
      `make yourself the owner: chown "$(id -u)" ${path}`,
    );
  }
  if ((file.mode & 0o022) !== 0) {
    throw unsafe(path, "can be changed by other users", `allow only yourself: chmod 600 ${path}`);
  }
  if (rules.holdsKey && (file.mode & 0o044) !== 0 && !(isLink && isMounted(path))) {
    rules.warn(
      `${path} holds a key and can be read by other users; fix it with: chmod 600 ${path}`,
    );
  }
}

/** A change takes milliseconds: an older lock belongs to a process that was killed. */
const abandonedMs = 10_000;
const longestWaitMs = 20_000;
const pauseMs = 10;

function lockPath(path: string): string {
  try {
    return `${realpathSync(path)}.lock`;
  } catch {
    return `${path}.lock`;
  }
}

/** Whether the lock was taken; undefined where nothing can be written, which the writer reports. */
function take(lock: string): boolean | undefined {
  try {
    makeFolder(dirname(lock), 0o700);
    closeSync(openSync(lock, "wx", 0o600));
    return true;
  } catch (error) {
    return codeOf(error) === "EEXIST" ? false : undefined;
  }
}

/** Removes a lock. One that the disk keeps is an abandoned one soon, and must not hide what happened under it. */
function drop(lock: string): void {
  try {
    rmSync(lock, { force: true });
  } catch {
    // The next change waits until it is old.
  }
}

/** Name of the lock under which an abandoned lock is looked at and removed. */
const breaking = (lock: string): string => `${lock}.break`;

/**
 * Removes a lock that a killed process left. Only one process looks and removes at a time: of two that
 * saw the same old lock, the second would remove the fresh one of the first.
 */
function removeAbandoned(lock: string): void {
  const isOld = (): boolean => {
    const stats = statSync(lock, { throwIfNoEntry: false });
    return stats !== undefined && Date.now() - stats.mtimeMs > abandonedMs;
  };
  if (!isOld() || take(breaking(lock)) !== true) return;
  try {
    if (isOld()) drop(lock);
  } finally {
    drop(breaking(lock));
  }
}

/**
 * Runs `work` while no other process changes the file: two that read, change and write it at once
 * would each keep only its own change. Throws CliError `local` for a lock that does not end.
 */
export async function whileLocked<Result>(
  path: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const lock = lockPath(path);
  let taken = take(lock);
  for (let waitedMs = 0; taken === false; waitedMs += pauseMs) {
    if (waitedMs > longestWaitMs) {
      throw new CliError("local", `another knowctl is changing ${path}`, {
        hints: [`if none is running, remove ${lock} and ${breaking(lock)}`],
      });
    }
    removeAbandoned(lock);
    await wait(pauseMs);
    taken = take(lock);
  }
  try {
    return await work();
  } finally {
    if (taken) drop(lock);
  }
}
