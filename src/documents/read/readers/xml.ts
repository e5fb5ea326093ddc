import sax, { type Events, type Parser } from "sax";
import { TextDecoder } from "node:util";

/** XML that is broken, or refused; the message says why. */
export class XmlError extends Error {}

/** Names come without their prefix: `w:p` as `p`. */
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
    // Entities of its own are what XXE and "billion laughs" need; no office program writes them.
    ondoctype: () => refuse("it declares a document type"),
    onsgmldeclaration: () => refuse("it holds a declaration"),
    onopentagstart() {
      attributes = 0;
      if (++depth > maxDepth) refuse(`it is nested more than ${maxDepth} levels deep`);
    },
    onattribute() {
      if (++attributes > maxAttributes) {
        refuse(`an element has more than ${maxAttributes} attributes`);
      }
    },
    onopentag({ name, attributes: given }) {
      handlers.open(localName(name), (wanted) => {
        for (const key of Object.keys(given)) if (localName(key) === wanted) return given[key];
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
  // sax watches the length of names and values only while it counts positions, as it does by itself.
  return Object.assign(sax.parser(true, { strictEntities: true }), events);
}

/**
 * Reads XML (UTF-8, or UTF-16 with BOM) piece by piece: memory is that of the
 * open elements. Document types, and with them entities, are refused; nothing
 * outside is ever fetched. Throws XmlError.
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
