import {
  closeSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";

const bufferLength = 256 * 1024;

function writePieces(file: number, pieces: Iterable<string>): void {
  let buffered: string[] = [];
  let length = 0;
  const flush = (): void => {
    const bytes = Buffer.from(buffered.join(""));
    for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
    [buffered, length] = [[], 0];
  };
  for (const piece of pieces) {
    buffered.push(piece);
    length += piece.length;
    if (length >= bufferLength) flush();
  }
  flush();
}

/** A writer that still works has changed its temporary file since. */
const abandonedAfterMs = 60_000;

/**
 * Removes temporary files of the same file that a killed writer left. Their age is by the clock that
 * gave `writtenAtMs` to ours. A writer that was only suspended then fails at its rename.
 */
function removeAbandoned(folder: string, start: string, writtenAtMs: number): void {
  try {
    for (const name of readdirSync(folder)) {
      if (!name.startsWith(start) || !/^\w+\.tmp$/.test(name.slice(start.length))) continue;
      const path = join(folder, name);
      if (statSync(path).mtimeMs < writtenAtMs - abandonedAfterMs) rmSync(path);
    }
  } catch {
    // Ours is written: what others left can wait.
  }
}

export interface ReplaceOptions {
  /** Mode of the new file, before the umask. */
  mode?: number;
  /** The new file gets just this mode, whatever the umask. */
  exactMode?: number | undefined;
  /** False for data that may be lost when the machine fails. */
  flush?: boolean | undefined;
  /** Asked just before the rename: the old file stays if the answer is no. */
  isWanted?: () => boolean;
}

/**
 * Writes a file piece by piece, atomically: readers, also after a crash, see the old or the whole new
 * file. The pieces go to a hidden temporary file beside it (O_EXCL), which is flushed and renamed over
 * the old one; what a killed writer left of such files is removed. A link is replaced, not followed. Returns whether the file was replaced. Throws the
 * system's error, and that of the pieces; then the old file stays.
 */
export function replaceFile(
  path: string,
  pieces: Iterable<string>,
  { mode = 0o644, exactMode, flush = true, isWanted = () => true }: ReplaceOptions = {},
): boolean {
  // O_EXCL makes this safe, not the name; loading the crypto module would take milliseconds.
  const unique = Math.random().toString(36).slice(2);
  // Cut: the longest name that the file system takes must leave room for the rest.
  const start = `.${basename(path).slice(0, 50)}.`;
  const temporary = join(dirname(path), `${start}${unique}.tmp`);
  // Private until it has its exact mode.
  const file = openSync(temporary, "wx", exactMode === undefined ? mode : 0o600);
  let isReplaced = false;
  let writtenAtMs = 0;
  try {
    try {
      writePieces(file, pieces);
      if (exactMode !== undefined) fchmodSync(file, exactMode);
      if (flush) fsyncSync(file);
      writtenAtMs = fstatSync(file).mtimeMs;
    } finally {
      closeSync(file);
    }
    if (isWanted()) {
      renameSync(temporary, path);
      isReplaced = true;
    }
  } finally {
    if (!isReplaced) rmSync(temporary, { force: true });
  }
  removeAbandoned(dirname(path), start, writtenAtMs);
  return isReplaced;
}
