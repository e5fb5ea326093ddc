import {
  lstatSync,
  readFileSync,
  realpathSync,
  statSync,
  closeSync,
  fstatSync,
  openSync,
  constants,
} from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { CliError, codeOf, fileProblem } from "../errors.ts";

/** Where the entries of an index end, and the wanted names among them. */
interface Entries {
  end: number;
  names: string[];
}

const statBytes = 40;
const longName = 0xfff;
const isExtended = 0x4000;

/** Which names to look for. */
interface WantedNames {
  /** Their last bytes: most names of a repository are refused by this alone. */
  lastBytes: ReadonlySet<number>;
  has: (name: string) => boolean;
}

/** A varint of git: the number by which a name of version 4 is shorter than the name before it. */
function readVarint(bytes: Buffer, at: number): { value: number; next: number } {
  let byte = bytes.readUInt8(at++);
  let value = byte & 0x7f;
  while (byte & 0x80) {
    byte = bytes.readUInt8(at++);
    value = (value + 1) * 128 + (byte & 0x7f);
  }
  return { value, next: at };
}

function checkHeader(bytes: Buffer): { version: number; count: number } {
  const version = bytes.readUInt32BE(4);
  if (bytes.toString("latin1", 0, 4) === "DIRC" && version >= 2 && version <= 4) {
    return { version, count: bytes.readUInt32BE(8) };
  }
  throw new Error("no index");
}

/**
 * Reads the entries (gitformat-index(5)); throws for an index that does not have this form. One
 * loop without calls for most entries: it runs at each start, over a hundred thousand of them.
 */
function readEntries(bytes: Buffer, hashBytes: number, wanted: WantedNames): Entries {
  const { version, count } = checkHeader(bytes);
  const names: string[] = [];
  // The name of the entry before, for version 4, which stores only how a name differs from it.
  let last: Buffer = Buffer.alloc(0);
  let at = 12;
  for (let entry = 0; entry < count; entry++) {
    const start = at;
    at += statBytes + hashBytes;
    const flags = ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
    at += version >= 3 && flags & isExtended ? 4 : 2;
    let kept = 0;
    if (version === 4) {
      const cut = readVarint(bytes, at);
      kept = last.length - cut.value;
      at = cut.next;
    }
    const stated = flags & longName;
    const end = stated === longName ? bytes.indexOf(0, at) : at + stated - kept;
    if (kept < 0 || end < at || bytes[end] !== 0) throw new Error("no entry");
    if (version === 4) last = Buffer.concat([last.subarray(0, kept), bytes.subarray(at, end)]);
    const lastByte = version === 4 ? last.at(-1) : bytes[end - 1];
    if (lastByte !== undefined && wanted.lastBytes.has(lastByte)) {
      const name = version === 4 ? last.toString("utf8") : bytes.toString("utf8", at, end);
      if (wanted.has(name)) names.push(name);
    }
    // Up to version 3, NUL bytes fill an entry up to a multiple of 8.
    at = version === 4 ? end + 1 : start + ((end - start + 8) & ~7);
  }
  if (at > bytes.length) throw new Error("no entry");
  return { end: at, names };
}

/** The id of the other file that a split index extends; undefined for a whole index. */
function baseOf(bytes: Buffer, from: number, hashBytes: number): string | undefined {
  for (let at = from; at + 8 <= bytes.length - hashBytes;) {
    const signature = bytes.toString("latin1", at, at + 4);
    const size = bytes.readUInt32BE(at + 4);
    if (signature === "link") return bytes.toString("hex", at + 8, at + 8 + hashBytes);
    at += 8 + size;
  }
  return undefined;
}

/** Never waits, as for a FIFO. Throws the system's error, and Error for no regular file. */
function readRegularFile(path: string): Buffer {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    if (!fstatSync(file).isFile()) throw new Error("not a regular file");
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * The names in git's index at `path` that are wanted. A split index counts with all names
 * of its base, `baseAt(id)`. Without a process of git: this runs at each start, also where git is
 * not installed or refuses the owner of the repository. Throws for an index that cannot be read.
 */
function namesInIndex(path: string, baseAt: (id: string) => string, wanted: WantedNames): string[] {
  const bytes = readRegularFile(path);
  let failure: unknown;
  // Ids of SHA-1, or of SHA-256: only the configuration of the repository says which.
  for (const hashBytes of [20, 32]) {
    try {
      const { end, names } = readEntries(bytes, hashBytes, wanted);
      const base = baseOf(bytes, end, hashBytes);
      if (base === undefined || /^0*$/.test(base)) return names;
      return [...names, ...namesInIndex(baseAt(base), () => "", wanted)];
    } catch (error) {
      failure ??= error;
    }
  }
  throw failure;
}

/** A file that git tracks. */
export interface TrackedFile {
  /** Top folder of the repository. */
  top: string;
  /** Path from `top`, as git has it. */
  name: string;
}

/** The real path of a folder, of which the last parts may be missing. */
function realPlace(folder: string): string {
  try {
    return realpathSync.native(folder);
  } catch {
    const above = dirname(folder);
    return above === folder ? folder : join(realPlace(above), basename(folder));
  }
}

/** The git folder of the work tree with this top folder: `.git`, or where the file `.git` leads. */
function gitFolderOf(top: string): string | undefined {
  const path = join(top, ".git");
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined || stats.isDirectory()) return stats && path;
    if (!stats.isFile() || stats.size > 65_536) return undefined;
    const target = /^gitdir: (.+?)\r?\n?$/s.exec(readFileSync(path, "utf8"))?.[1];
    return target === undefined ? undefined : resolve(top, target);
  } catch {
    return undefined;
  }
}

// A file system may take both spellings for one file.
const fold = (name: string): string => name.normalize("NFC").toLowerCase();

function unreadable(index: string, error: unknown): CliError {
  const code = codeOf(error);
  const why = code === undefined ? "it is damaged, or of an unknown form" : fileProblem(code);
  return new CliError("local", `cannot tell whether git tracks the state: ${index}: ${why}`, {
    hints: [
      "run `git status` there to see what is wrong; `git update-index --no-split-index` writes the index anew",
    ],
    cause: error,
  });
}

/**
 * The first of the files `names` in `folder` that a repository around it tracks, whatever their
 * case. Looks into every repository upward: `.git` may be a file, as in submodules and worktrees,
 * and a folder `.git` may be empty. Throws CliError `local` for an index that cannot be read.
 */
export function findTracked(folder: string, names: readonly string[]): TrackedFile | undefined {
  const real = realPlace(folder);
  const lastBytes = new Set(
    names.flatMap((name) => [...Buffer.from(name.slice(-1) + name.slice(-1).toUpperCase())]),
  );
  for (let top = real; ; top = dirname(top)) {
    const git = gitFolderOf(top);
    const index = git === undefined ? undefined : join(git, "index");
    if (git !== undefined && index !== undefined && isThere(index)) {
      const prefix = relative(top, real).split(sep).filter(Boolean).join("/");
      const wanted = new Set(names.map((name) => fold(prefix === "" ? name : `${prefix}/${name}`)));
      const has = (name: string): boolean => wanted.has(fold(name));
      try {
        const [found] = namesInIndex(index, (id) => join(git, `sharedindex.${id}`), {
          lastBytes,
          has,
        });
        if (found !== undefined) return { top, name: found };
      } catch (error) {
        throw unreadable(index, error);
      }
    }
    if (dirname(top) === top) return undefined;
  }
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
