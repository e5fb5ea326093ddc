import { droppedKeys, type Value, type ValueMap } from "./values.ts";

// The parser handles all other characters: tabs, control characters, blanks of other scripts,
// byte order marks, surrogates.
const needsParser = /[^\n -~\u00a1-\u167f\u1681-\u1fff\u2010-\u2027\u3001-\ud7ff]/;
const plainKey = /^[A-Za-z_][\w.-]*$/;
// A plain value starts with no indicator of YAML 1.2 section 5.3. In brackets it contains none.
// A null is left to the parser.
const plainText = /^(?!(?:null|Null|NULL)$)[\w/.(<$^;=\u00a1-\ud7ff]/;
const listedText = /^(?!(?:null|Null|NULL)$)[\w/.(<$^;=\u00a1-\ud7ff][^:#[\]{},"'&*!|>%@`?]*$/;

// Any block of this size has fewer values than the limit of toValue().
const maxChars = 2000;

function quotedText(text: string): string | undefined {
  const inner = text.slice(1, -1);
  const isSimple = text.length > 1 && text.endsWith(text.charAt(0)) && !inner.includes("\\");
  return isSimple && !inner.includes(text.charAt(0)) ? inner : undefined;
}

function scalarText(text: string): string | undefined {
  const first = text.charCodeAt(0);
  if (first === 0x22 || first === 0x27) return quotedText(text);
  const isPlain =
    plainText.test(text) && !text.includes(": ") && !text.includes(" #") && !text.endsWith(":");
  return isPlain ? text : undefined;
}

function flowList(text: string): string[] | undefined {
  if (!text.endsWith("]")) return undefined;
  const inner = text.slice(1, -1).trim();
  if (inner === "") return [];
  const items: string[] = [];
  for (let start = 0, end = 0; start <= inner.length; start = end + 1) {
    const comma = inner.indexOf(",", start);
    end = comma === -1 ? inner.length : comma;
    const item = inner.slice(start, end).trim();
    const first = item.charCodeAt(0);
    const isQuoted = first === 0x22 || first === 0x27;
    const value = isQuoted ? quotedText(item) : listedText.test(item) ? item : undefined;
    if (value === undefined) return undefined;
    items.push(value);
  }
  return items;
}

/** End offset of the line that begins at `start`. */
function lineEnd(block: string, start: number): number {
  const end = block.indexOf("\n", start);
  return end === -1 ? block.length : end;
}

/**
 * Reads the `- item` lines from `start`, all with the same indentation, and returns their end
 * offset. Undefined when an item is more than text.
 */
function blockList(block: string, start: number): { items: string[]; end: number } | undefined {
  const items: string[] = [];
  let at = start;
  while (block.charAt(at) === " ") at++;
  const mark = `${block.slice(start, at)}- `;
  let from = start;
  while (block.startsWith(mark, from)) {
    const end = lineEnd(block, from);
    const item = scalarText(block.slice(from + mark.length, end).trim());
    if (item === undefined) return undefined;
    items.push(item);
    from = end + 1;
  }
  return { items, end: from };
}

/**
 * Parses the simplest YAML: one line or one `- item` list per key. The result is the same as that
 * of parseMatter(). Returns undefined if anything may not be plain; then use the
 * parser. Most front matter is plain, and gray-matter with js-yaml takes a tenth of the CPU time of
 * an upload.
 */
export function parsePlainYaml(block: string): ValueMap | undefined {
  if (block.length > maxChars || needsParser.test(block)) return undefined;
  const data = Object.create(null) as ValueMap;
  let start = 0;
  do {
    const end = lineEnd(block, start);
    const colon = block.indexOf(":", start);
    // Without a colon in this line, the slice is no plain key.
    const key = block.slice(start, Math.max(start, colon));
    if (!plainKey.test(key) || data[key] !== undefined || droppedKeys.has(key)) return undefined;
    const text = block.slice(colon + 1, end).trim();
    start = end + 1;
    let value: Value | undefined;
    if (text === "") {
      const list = blockList(block, start);
      if (!list) return undefined;
      value = list.items.length > 0 ? list.items : null;
      start = list.end;
    } else if (block.charAt(colon + 1) === " ") {
      value = text.startsWith("[") ? flowList(text) : scalarText(text);
    }
    if (value === undefined) return undefined;
    data[key] = value;
  } while (start <= block.length);
  return data;
}
