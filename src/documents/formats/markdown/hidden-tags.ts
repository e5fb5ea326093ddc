import { decodeHTMLAttribute } from "entities/decode";

const attributePart =
  /[\t\n\f\r /]*(?:([^\t\n\f\r />=][^\t\n\f\r />=]*|=[^\t\n\f\r />=]*)(?:[\t\n\f\r ]*=[\t\n\f\r ]*(?:"([^"]*)"|'([^']*)'|([^\t\n\f\r >"'][^\t\n\f\r >]*))?)?)?/y;
const maxAttributes = 100;

export interface TagSource {
  text: string;
  /** End tags and comment ends that do not occur again: they are searched for only once. */
  missing: Set<string>;
}

/** Offset of the next occurrence; -1 for none. A missing text is searched for only once. */
function find(source: TagSource, what: string, from: number): number {
  if (source.missing.has(what)) return -1;
  const at = source.text.indexOf(what, from);
  if (at === -1) source.missing.add(what);
  return at;
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** Reads the attributes from an offset to the end of the tag; undefined if the tag never ends. */
export function readAttributes(
  source: TagSource,
  from: number,
): { attributes: Map<string, string>; end: number } | undefined {
  const attributes = new Map<string, string>();
  let at = from;
  while (source.text[at] !== ">") {
    if (at >= source.text.length) return undefined;
    // A quote that never closes must not be scanned again for each tag.
    const found = source.missing.has("tag end") ? null : match(attributePart, source.text, at);
    if (found?.[0] === undefined || found[0] === "") {
      const end = find(source, ">", at);
      return end === -1 ? undefined : { attributes, end: end + 1 };
    }
    at += found[0].length;
    const [, name, double, single, bare] = found;
    if (name === undefined || attributes.size >= maxAttributes) continue;
    const key = name.toLowerCase();
    const value = double ?? single ?? bare ?? "";
    // The first of two attributes counts. A longer value is data, not text.
    if (!attributes.has(key) && value.length <= 10_000) {
      attributes.set(key, decodeHTMLAttribute(value));
    }
  }
  return { attributes, end: at + 1 };
}
