import { closeSync, fstatSync, openSync, readFileSync, constants } from "node:fs";

/** Where the entries of an index end, and the entries that a predicate accepts. */
interface Entries {
  end: number;
  names: string[];
}

const statBytes = 40;
const longName = 0xfff;
const isExtended = 0x4000;

/** Reads the number by which a name of version 4 is shorter than the name before it (varint of git). */
function readVarint(bytes: Buffer, at: number): { value: number; next: number } {
  let byte = bytes.readUInt8(at++);
  let value = byte & 0x7f;
  while (byte & 0x80) {
    byte = bytes.readUInt8(at++);
    value = (value + 1) * 128 + (byte & 0x7f);
  }
  return { value, next: at };
}

/**
 * Yields the name of each entry, as bytes that are valid until the next one; returns where they
 * end. Throws for an index that does not have this form (gitformat-index(5)).
 */
function* entryNames(bytes: Buffer, hashBytes: number): Generator<Buffer, number> {
  const version = bytes.readUInt32BE(4);
  const count = bytes.readUInt32BE(8);
  const isSigned = bytes.toString("latin1", 0, 4) === "DIRC" && version >= 2 && version <= 4;
  if (!isSigned) throw new Error("no index");
  let at = 12;
  let last: Buffer = Buffer.alloc(0);
  for (let entry = 0; entry < count; entry++) {
    const start = at;
    at += statBytes + hashBytes;
    const flags = bytes.readUInt16BE(at);
    at += version >= 3 && flags & isExtended ? 4 : 2;
    let kept = 0;
    if (version === 4) {
      const cut = readVarint(bytes, at);
      kept = last.length - cut.value;
      at = cut.next;
    }
    const end = bytes.indexOf(0, at);
    const length = kept + end - at;
    const stated = flags & longName;
    if (kept < 0 || end < 0 || (stated === longName ? length < longName : length !== stated)) {
      throw new Error("no entry");
    }
    const own = bytes.subarray(at, end);
    last = version === 4 ? Buffer.concat([last.subarray(0, kept), own]) : own;
    // Up to version 3, NUL bytes fill an entry up to a multiple of 8.
    at = version === 4 ? end + 1 : start + ((end - start + 8) & ~7);
    yield last;
  }
  return at;
}

function readEntries(
  bytes: Buffer,
  hashBytes: number,
  isWanted: (name: Buffer) => boolean,
): Entries {
  const names: string[] = [];
  const entries = entryNames(bytes, hashBytes);
  for (let next = entries.next(); ; next = entries.next()) {
    if (next.done) return { end: next.value, names };
    if (isWanted(next.value)) names.push(next.value.toString("utf8"));
  }
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
 * The names in git's index at `path` that `isWanted` accepts. A split index counts with all names
 * of its base, `baseAt(id)`. Without a process of git: this runs at each start, also where git is
 * not installed or refuses the owner of the repository. Throws for an index that cannot be read.
 */
export function namesInIndex(
  path: string,
  baseAt: (id: string) => string,
  isWanted: (name: Buffer) => boolean,
): string[] {
  const bytes = readRegularFile(path);
  let failure: unknown;
  // Ids of SHA-1, or of SHA-256: only the configuration of the repository says which.
  for (const hashBytes of [20, 32]) {
    try {
      const { end, names } = readEntries(bytes, hashBytes, isWanted);
      const base = baseOf(bytes, end, hashBytes);
      if (base === undefined || /^0*$/.test(base)) return names;
      return [...names, ...namesInIndex(baseAt(base), () => "", isWanted)];
    } catch (error) {
      failure ??= error;
    }
  }
  throw failure;
}
