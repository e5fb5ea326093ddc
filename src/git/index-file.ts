import { closeSync, fstatSync, openSync, readFileSync, constants } from "node:fs";

/** Where the entries of an index end, and the wanted names among them. */
interface Entries {
  end: number;
  names: string[];
}

const statBytes = 40;
const longName = 0xfff;
const isExtended = 0x4000;

/** Which names to look for. */
export interface WantedNames {
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
export function namesInIndex(
  path: string,
  baseAt: (id: string) => string,
  wanted: WantedNames,
): string[] {
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
