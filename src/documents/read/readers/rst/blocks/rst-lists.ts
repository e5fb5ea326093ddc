import { isBlank, takeBody, takeIndented, takeItem, textOf } from "./rst-lines.ts";
import { addText, inItem, type Block } from "../rst-reading.ts";

const bullet = /^[-+*\u2022\u2023\u2043](?: +|$)/;
const enumerator = /^(?:\(?(\d{1,9}|#|[a-zA-Z]|[ivxlcdmIVXLCDM]{1,12})([.)]))(?: +|$)/;

/** Whether the line after an enumerator fits: `A. Einstein` can also begin a paragraph. */
function isEnumerated({ lines }: Block, at: number): boolean {
  const next = lines[at + 1];
  return (
    next === undefined || isBlank(next) || next.text.startsWith(" ") || enumerator.test(next.text)
  );
}

/** The number of an item: `#` counts on from the item above. Letters count as 0. */
function numberOf({ lines, lastItem }: Block, at: number, written: string): number {
  if (written !== "#") return Number(/^\d+$/.exec(written)?.[0] ?? 0);
  let above = at;
  while (lastItem && above > lastItem.next && isBlank(lines[above - 1])) above--;
  return (lastItem?.next === above ? lastItem.number : 0) + 1;
}

/** A list item. Items of one list follow each other without a blank line. */
export function readListItem(block: Block, at: number): number {
  const { reading, lines } = block;
  const text = lines[at]?.text ?? "";
  const numbered = enumerator.exec(text);
  const marker = bullet.exec(text) ?? (numbered && isEnumerated(block, at) ? numbered : undefined);
  if (!marker) return -1;
  const taken = takeItem(lines, at, marker[0].length);
  const number = marker === numbered ? numberOf(block, at, marker[1] ?? "") : undefined;
  const label = number === undefined ? "-" : marker[0].trim().replace("#", String(number));
  inItem(reading, `${label} `, () => block.readInner(taken.lines));
  if (number !== undefined) block.lastItem = { number, next: taken.next };
  return taken.next;
}

const fieldName = /^:(?![: ])((?:[^:\\]|\\.|:(?![ `]|$))*)(?<! ):(?: +|$)/;
// Fields at the start of a page that say how it is built.
const buildFields = new Set(["orphan", "tocdepth", "nocomments", "nosearch", "hide-toc", "no-toc"]);

/** `:name: text`. */
export function readField(block: Block, at: number): number {
  const { reading, lines } = block;
  const text = lines[at]?.text ?? "";
  const [marker, name = ""] = (text.startsWith(":") && fieldName.exec(text)) || [];
  if (marker === undefined) return -1;
  const taken = takeBody(lines, at, marker.length);
  if (reading.pieces.length === 0 && buildFields.has(name)) return taken.next;
  const [first, ...rest] = taken.lines;
  const isInline = first !== undefined && !isBlank(first);
  const end = isInline ? rest.findIndex((line) => isBlank(line)) : 0;
  const paragraph = rest.slice(0, end === -1 ? rest.length : end);
  inItem(reading, "- ", () => {
    addText(reading, `${name}: ${textOf(isInline ? [first, ...paragraph] : [])}`.trim());
    reading.isTight = true;
    block.readInner(rest.slice(paragraph.length));
  });
  return taken.next;
}

// docutils, "reStructuredText Markup Specification", Option Lists.
const option =
  /^(?:-[\w?](?: ?(?:[a-zA-Z][\w-]*|<[^<>]+>))?|(?:--|\/)[a-zA-Z][\w-]*(?:[ =](?:[a-zA-Z][\w-]*|<[^<>]+>))?)(?:, (?:-[\w?](?: ?(?:[a-zA-Z][\w-]*|<[^<>]+>))?|(?:--|\/)[a-zA-Z][\w-]*(?:[ =](?:[a-zA-Z][\w-]*|<[^<>]+>))?)){0,9}(?: {2,}|$)/;

/** `-a, --all  text`. */
export function readOption(block: Block, at: number): number {
  const { reading, lines } = block;
  const text = lines[at]?.text ?? "";
  const marker = /^[-/]/.test(text) ? option.exec(text)?.[0] : undefined;
  if (marker === undefined) return -1;
  const hasText = marker.length < text.length || lines[at + 1]?.text.startsWith(" ");
  if (!hasText) return -1;
  const taken = takeBody(lines, at, marker.length);
  inItem(reading, "- ", () => {
    addText(reading, `\`\`${marker.trim()}\`\``);
    reading.isTight = true;
    block.readInner(taken.lines);
  });
  return taken.next;
}

/** Lines that begin with `|`: each is a line of its own. */
export function readLineBlock({ reading, lines }: Block, at: number): number {
  const isLine = (text = ""): boolean => text === "|" || text.startsWith("| ");
  if (!isLine(lines[at]?.text)) return -1;
  const texts: string[] = [];
  let next = at;
  for (; !isBlank(lines[next]); next++) {
    const text = lines[next]?.text ?? "";
    if (isLine(text)) texts.push(text.slice(1).trim());
    else if (text.startsWith(" ")) texts.push(`${texts.pop() ?? ""} ${text.trim()}`);
    else break;
  }
  addText(reading, texts.filter((text) => text !== "").join("\n"));
  return next;
}

/** A line above an indented block: a term and its definition. */
export function readDefinition(block: Block, at: number): number {
  const { reading, lines } = block;
  if (!lines[at + 1]?.text.startsWith(" ")) return -1;
  const taken = takeIndented(lines, at + 1);
  inItem(reading, "- ", () => {
    addText(reading, lines[at]?.text ?? "");
    reading.isTight = true;
    block.readInner(taken.lines);
  });
  return taken.next;
}
