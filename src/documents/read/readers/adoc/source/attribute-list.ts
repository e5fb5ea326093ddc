/** The attributes of a block or macro: `[source,java,subs="+quotes"]`. */
export interface AttributeList {
  /** Values without names, in order. */
  positional: string[];
  named: Map<string, string>;
}

const part =
  /[ \t]*(?:([\w-]+)[ \t]*=[ \t]*)?(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^,]*))[ \t]*(?:,|$)/y;

/** Parses the text between the brackets. */
export function parseList(text: string): AttributeList {
  const list: AttributeList = { positional: [], named: new Map() };
  part.lastIndex = 0;
  while (part.lastIndex < text.length) {
    const found = part.exec(text);
    if (!found) break;
    const [, name, double, single, bare = ""] = found;
    const value = (double ?? single)?.replace(/\\(["'])/g, "$1") ?? bare.trim();
    if (name === undefined) list.positional.push(value);
    else list.named.set(name.toLowerCase(), value);
  }
  return list;
}
