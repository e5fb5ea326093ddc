import { TextDecoder } from "node:util";
import { crc32, inflateRawSync } from "node:zlib";
import sax, { type Events } from "sax";
import { codeOf } from "../../../errors.ts";

/** The archive cannot be read or is refused; the message contains the reason. */
export class ZipError extends Error {}

/** A password or a licence protects the content. */
export class ProtectedError extends ZipError {}

/** What is in the archive is larger than a limit. */
export class LimitError extends ZipError {}

/** The XML is broken or refused; the message contains the reason. */
export class XmlError extends Error {}

interface ZipEntry {
  isEncrypted: boolean;
  method: number;
  /** CRC-32 of its content. */
  checksum: number;
  packedBytes: number;
  /** Offset of its local header. */
  offset: number;
}

/** The archive of one file, with the number of bytes that may still be unpacked, over all its parts. */
export interface Archive {
  bytes: Uint8Array;
  /** By name, without regard to case. */
  entries: ReadonlyMap<string, ZipEntry>;
  left: number;
}

const endSignature = 0x06054b50;
const entrySignature = 0x02014b50;
const localSignature = 0x04034b50;
const maxEntries = 20_000;
const damaged = "the ZIP archive is damaged or cut off";
const tooLarge = "unpacked, it is larger than the limit for one document";

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

// Names differ in case from those that refer to them (ECMA-376 part 2, 6.3.5), and old programs wrote `\\`.
const keyOf = (name: string): string => name.replaceAll("\\", "/").toLowerCase();

/** Finds the end record: only a comment of at most 65,535 bytes may follow it. */
function findEnd(view: DataView): number {
  const last = view.byteLength - 22;
  for (let at = last; at >= Math.max(0, last - 0xffff); at--) {
    if (view.getUint32(at, true) === endSignature) return at;
  }
  throw new ZipError(damaged);
}

/**
 * Opens an archive by its central directory (PKWARE APPNOTE.TXT 4.3.12), like the programs that
 * write archives. Unpacks nothing. Does not read ZIP64 sizes: such files are larger than our limits.
 * At most `left` bytes are unpacked later. Throws ZipError.
 */
export function openArchive(bytes: Uint8Array, left: number): Archive {
  const view = viewOf(bytes);
  try {
    const end = findEnd(view);
    const count = view.getUint16(end + 10, true);
    if (count > maxEntries) throw new ZipError(`it contains more than ${maxEntries} parts`);
    let at = view.getUint32(end + 16, true);
    const entries = new Map<string, ZipEntry>();
    for (let index = 0; index < count; index++) {
      if (view.getUint32(at, true) !== entrySignature) throw new ZipError(damaged);
      const nameBytes = view.getUint16(at + 28, true);
      const name = Buffer.from(bytes.subarray(at + 46, at + 46 + nameBytes)).toString("utf8");
      entries.set(keyOf(name), {
        isEncrypted: (view.getUint16(at + 8, true) & 1) !== 0,
        method: view.getUint16(at + 10, true),
        checksum: view.getUint32(at + 16, true),
        packedBytes: view.getUint32(at + 20, true),
        offset: view.getUint32(at + 42, true),
      });
      at += 46 + nameBytes + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
    }
    return { bytes, entries, left };
  } catch (error) {
    // A DataView throws this error for a read outside its bytes.
    if (error instanceof RangeError) throw new ZipError(damaged);
    throw error;
  }
}

function packedBytesOf(bytes: Uint8Array, { offset, packedBytes }: ZipEntry): Uint8Array {
  const view = viewOf(bytes);
  if (offset + 30 > bytes.length || view.getUint32(offset, true) !== localSignature) {
    throw new ZipError(damaged);
  }
  const start = offset + 30 + view.getUint16(offset + 26, true) + view.getUint16(offset + 28, true);
  // Of one that the file cuts off, the checksum is another one.
  return bytes.subarray(start, start + packedBytes);
}

function inflate(packed: Uint8Array, maxBytes: number): Uint8Array {
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(1, maxBytes) });
  } catch (error) {
    if (codeOf(error) === "ERR_BUFFER_TOO_LARGE") throw new LimitError(tooLarge);
    throw new ZipError(damaged);
  }
}

/**
 * Unpacks a part; undefined if the archive has none of this name. Does not trust the sizes in the
 * archive: zlib stops at what is left. Throws ZipError, also for content that does not match its
 * checksum.
 */
export function unpack(archive: Archive, name: string | undefined): Uint8Array | undefined {
  const entry = name === undefined ? undefined : archive.entries.get(keyOf(name));
  if (!entry) return undefined;
  if (entry.isEncrypted) throw new ProtectedError(`its part ${name} is encrypted`);
  const packed = packedBytesOf(archive.bytes, entry);
  if (entry.method !== 0 && entry.method !== 8) {
    throw new ZipError(`its part ${name} uses a compression method that is not supported`);
  }
  const content = entry.method === 8 ? inflate(packed, archive.left) : packed;
  archive.left -= content.length;
  if (archive.left < 0) throw new LimitError(tooLarge);
  if (crc32(content) !== entry.checksum) throw new ZipError(damaged);
  return content;
}

/** An element of XML. Names have no prefix: `p` for `w:p`. */
export interface XmlNode {
  name: string;
  /** With their prefixes; see attributeOf(). */
  attributes: Readonly<Record<string, string>>;
  /** Text stays as it is, but for blanks between elements. */
  children: (XmlNode | string)[];
}

const localName = (name: string): string => name.slice(name.indexOf(":") + 1);

/** The value of an attribute, by its name without prefix. */
export function attributeOf({ attributes }: XmlNode, name: string): string | undefined {
  for (const key of Object.keys(attributes)) if (localName(key) === name) return attributes[key];
  return undefined;
}

export const valueOf = (node: XmlNode): string | undefined => attributeOf(node, "val");

/** Whether a boolean attribute is on (ECMA-376 part 1, 22.9.2.7); one that is missing is off. */
export const isOn = (value = "0"): boolean => /^(?:1|true|on)$/.test(value);

export const elementsIn = ({ children }: XmlNode): XmlNode[] =>
  children.filter((child) => typeof child !== "string");

export const childOf = (node: XmlNode, name: string): XmlNode | undefined =>
  elementsIn(node).find((each) => each.name === name);

/** The elements of a property of a node; none without it. */
export function propertiesIn(node: XmlNode, name: string): XmlNode[] {
  const properties = childOf(node, name);
  return properties ? elementsIn(properties) : [];
}

/** The elements below a node, at any depth, in order. */
export function* descendantsOf(node: XmlNode): Generator<XmlNode> {
  for (const child of elementsIn(node)) {
    yield child;
    yield* descendantsOf(child);
  }
}

/** The text directly in a node. */
export const textIn = ({ children }: XmlNode): string =>
  children.filter((child) => typeof child === "string").join("");

// Word itself stays below a hundred levels and a few dozen attributes.
const maxDepth = 1000;
const maxAttributes = 1000;
const chunkBytes = 64 * 1024;

function decoderFor(bytes: Uint8Array): TextDecoder {
  // By the byte order mark, or by the zero of the first `<` (XML 1.0, F.1).
  const [first = 0, second = 0] = bytes;
  const isLittle = (first === 0xff && second === 0xfe) || (first === 0x3c && second === 0);
  const isBig = (first === 0xfe && second === 0xff) || (first === 0 && second === 0x3c);
  return new TextDecoder(isLittle ? "utf-16le" : isBig ? "utf-16be" : "utf-8", { fatal: true });
}

function refuse(reason: string): never {
  throw new XmlError(reason);
}

// Elements whose blanks are text: of runs (ECMA-376), and of paragraphs (OpenDocument).
const textNames = new Set("t p h span a ruby-base ruby-text".split(" "));

function eventsOf(take: (node: XmlNode, parent: string) => boolean): Events {
  const open: XmlNode[] = [];
  let attributes = 0;
  const addText = (text: string): void => {
    const node = open.at(-1);
    if (node && (textNames.has(node.name) || /\S/.test(text))) node.children.push(text);
  };
  return {
    onerror: (error) => refuse(error.message.split("\n")[0] ?? "broken"),
    // XXE and "billion laughs" need custom entities; no office program writes them.
    // The name of a type, as formulas and tables of contents have it, is harmless: nothing is fetched.
    ondoctype(type) {
      if (type.includes("[")) refuse("it declares a document type with entities");
    },
    onsgmldeclaration: () => refuse("it contains a declaration"),
    onopentagstart() {
      attributes = 0;
      if (open.length >= maxDepth) refuse(`it is nested more than ${maxDepth} levels deep`);
    },
    onattribute() {
      if (++attributes > maxAttributes) {
        refuse(`an element has more than ${maxAttributes} attributes`);
      }
    },
    onopentag({ name, attributes: values }) {
      open.push({ name: localName(name), attributes: values, children: [] });
    },
    onclosetag() {
      const node = open.pop();
      const parent = open.at(-1);
      if (node && !take(node, parent?.name ?? "")) parent?.children.push(node);
    },
    ontext: addText,
    oncdata: addText,
  };
}

/**
 * Reads XML (UTF-8, or UTF-16 with BOM) piece by piece. Hands each element to `take` when it ends,
 * with the name of the one around it: one that is taken is no longer in memory. Refuses custom
 * entities. Never fetches anything. Throws XmlError.
 */
export function readXml(bytes: Uint8Array, take: (node: XmlNode, parent: string) => boolean): void {
  const decoder = decoderFor(bytes);
  // sax limits the length of names and values only while it tracks positions, which is its default.
  const parser = Object.assign(sax.parser(true, { strictEntities: true }), eventsOf(take));
  try {
    for (let at = 0; at < bytes.length; at += chunkBytes) {
      parser.write(decoder.decode(bytes.subarray(at, at + chunkBytes), { stream: true }));
    }
    parser.write(decoder.decode());
  } catch (error) {
    if (error instanceof XmlError) throw error;
    if (error instanceof TypeError) throw new XmlError("it is not UTF-8");
    throw error;
  }
  parser.close();
}

/** Reads a small part as a tree; undefined without an element. Throws XmlError. */
export function readTree(bytes: Uint8Array): XmlNode | undefined {
  let root: XmlNode | undefined;
  readXml(bytes, (node, parent) => {
    if (parent === "") root = node;
    return parent === "";
  });
  return root;
}
