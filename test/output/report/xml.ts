/** An element of a parsed XML text. */
export interface Element {
  name: string;
  attributes: Record<string, string>;
  children: Element[];
  text: string;
}

const allowed = /^[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u;
const entities: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function decode(text: string): string {
  return text.replace(/&(#?)(\w*);?/g, (whole, hash: string, name: string) => {
    if (hash) return String.fromCodePoint(Number(name));
    if (!whole.endsWith(";") || !(name in entities)) throw new Error(`bad reference ${whole}`);
    return entities[name]!;
  });
}

/** A strict parser of the part of XML 1.0 that a report may use; throws for anything else. */
export function parseXml(xml: string): Element {
  if (!allowed.test(xml)) throw new Error("character that XML 1.0 does not have");
  const root: Element = { name: "", attributes: {}, children: [], text: "" };
  const open = [root];
  const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n';
  if (!xml.startsWith(declaration)) throw new Error("no declaration");
  const token = /<(\/?)([A-Za-z]+)((?: [A-Za-z]+="[^"<]*")*)(\/?)>|([^<]+)/gy;
  token.lastIndex = declaration.length;
  while (token.lastIndex < xml.length) {
    const at = token.lastIndex;
    const [, close, name = "", rest = "", empty, text] = token.exec(xml) ?? [undefined];
    const current = open.at(-1)!;
    if (text !== undefined) {
      if (text.includes("]]>")) throw new Error("]]> in text");
      current.text += decode(text);
    } else if (name === "") throw new Error(`not well-formed: ${xml.slice(at, at + 80)}`);
    else if (close) {
      if (current.name !== name) throw new Error(`</${name}> closes <${current.name}>`);
      open.pop();
    } else {
      const attributes: Record<string, string> = {};
      for (const [, key = "", value] of rest.matchAll(/ ([A-Za-z]+)="([^"]*)"/g)) {
        if (key in attributes) throw new Error(`twice: ${key}`);
        attributes[key] = decode(value!);
      }
      const element = { name, attributes, children: [], text: "" };
      current.children.push(element);
      if (!empty) open.push(element);
    }
  }
  if (open.length !== 1 || root.children.length !== 1) throw new Error("not one root element");
  return root.children[0]!;
}
