import sax, { type Events, type Parser } from "sax";
import { TextDecoder } from "node:util";

/** The XML is broken or refused; the message contains the reason. */
export class XmlError extends Error {}

/** Names have no prefix: `p` for `w:p`. */
export interface XmlHandlers {
  open: (name: string, attributeOf: (name: string) => string | undefined) => void;
  close: (name: string) => void;
  text: (text: string) => void;
}

// Word itself stays below a hundred levels and a few dozen attributes.
const maxDepth = 1000;
const maxAttributes = 1000;
const chunkBytes = 64 * 1024;

/** The name without its namespace prefix. */
function localName(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

function decoderFor(bytes: Uint8Array): TextDecoder {
  const isLittle = bytes[0] === 0xff && bytes[1] === 0xfe;
  const isBig = bytes[0] === 0xfe && bytes[1] === 0xff;
  return new TextDecoder(isLittle ? "utf-16le" : isBig ? "utf-16be" : "utf-8", { fatal: true });
}

function refuse(reason: string): never {
  throw new XmlError(reason);
}

function createParser(handlers: XmlHandlers): Parser {
  let depth = 0;
  let attributes = 0;
  const events: Events = {
    onerror: (error) => refuse(error.message.split("\n")[0] ?? "broken"),
    // XXE and "billion laughs" need custom entities; no office program writes them.
    ondoctype: () => refuse("it declares a document type"),
    onsgmldeclaration: () => refuse("it contains a declaration"),
    onopentagstart() {
      attributes = 0;
      if (++depth > maxDepth) refuse(`it is nested more than ${maxDepth} levels deep`);
    },
    onattribute() {
      if (++attributes > maxAttributes) {
        refuse(`an element has more than ${maxAttributes} attributes`);
      }
    },
    onopentag({ name, attributes: values }) {
      handlers.open(localName(name), (wanted) => {
        for (const key of Object.keys(values)) if (localName(key) === wanted) return values[key];
        return undefined;
      });
    },
    onclosetag(name) {
      depth--;
      handlers.close(localName(name));
    },
    ontext: handlers.text,
    oncdata: handlers.text,
  };
  // sax limits the length of names and values only while it tracks positions, which is its default.
  return Object.assign(sax.parser(true, { strictEntities: true }), events);
}

/**
 * Reads XML (UTF-8, or UTF-16 with BOM) piece by piece: only the open elements are in memory.
 * Refuses document types, and so custom entities. Never fetches anything. Throws XmlError.
 */
export function parseXml(bytes: Uint8Array, handlers: XmlHandlers): void {
  const decoder = decoderFor(bytes);
  const parser = createParser(handlers);
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
