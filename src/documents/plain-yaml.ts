import { droppedKeys, type Value, type ValueMap } from "./values.ts";

// Everything else (tabs, control characters, blanks of other scripts, byte order marks,
// surrogates) is left to the parser.
const other = /[^\n -~\u00a1-\u167f\u1681-\u1fff\u2010-\u2027\u3001-\ud7ff]/;
const plainKey = /^[A-Za-z_][\w.-]*$/;
// No indicator of YAML 1.2 section 5.3 begins a value; in brackets none stands inside either.
const plainText = /^[\w/.(<$^;=~\u00a1-\ud7ff]/;
const listedText = /^[\w/.(<$^;=~\u00a1-\ud7ff][^:#[\]{},"'&*!|>%@`?]*$/;

// Keeps the number of values below the limit of toValue(), whatever they are.
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
  for (const part of inner.split(",")) {
    const item = part.trim();
    const first = item.charCodeAt(0);
    const isQuoted = first === 0x22 || first === 0x27;
    const value = isQuoted ? quotedText(item) : listedText.test(item) ? item : undefined;
    if (value === undefined) return undefined;
    items.push(value);
  }
  return items;
}

/** The `- item` lines from `from`, all indented alike; undefined when one is more than text. */
function blockList(lines: readonly string[], from: number): string[] | undefined {
  const indent = lines[from]?.indexOf("-") ?? -1;
  const mark = `${" ".repeat(Math.max(0, indent))}- `;
  const items: string[] = [];
  for (let line = lines[from]; line?.startsWith(mark); line = lines[from + items.length]) {
    const item = scalarText(line.slice(mark.length).trim());
    if (item === undefined) return undefined;
    items.push(item);
  }
  return items;
}

/**
 * The data of YAML of the plainest kind, one line or `- item` list a key, exactly
 * as js-yaml with its failsafe schema gives it. Undefined as soon as something is
 * not surely plain: then the parser has the word. Most front matter is of this
 * kind, and the parser costs more than all the rest of the mapping.
 */
export function parsePlainYaml(block: string): ValueMap | undefined {
  if (block.length > maxChars || other.test(block)) return undefined;
  const lines = block.split("\n");
  const data = Object.create(null) as ValueMap;
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? "";
    const colon = line.indexOf(":");
    const key = line.slice(0, Math.max(0, colon));
    if (!plainKey.test(key) || key in data || droppedKeys.has(key)) return undefined;
    const rest = line.slice(colon + 1);
    const text = rest.trim();
    let value: Value | undefined;
    if (text === "") {
      const items = blockList(lines, index + 1);
      if (items === undefined) return undefined;
      value = items.length > 0 ? items : null;
      index += items.length;
    } else if (rest.startsWith(" ")) {
      value = text.startsWith("[") ? flowList(text) : scalarText(text);
    }
    if (value === undefined) return undefined;
    data[key] = value;
  }
  return data;
}
