import { childrenOf, attributeOf, isElement, isText, type PageNode } from "./tree.ts";
import {
  addBlock,
  addChildren,
  blocksOf,
  deepestNesting,
  endBlock,
  joinBlocks,
  type Block,
  type Writer,
} from "./writer.ts";

/** A number in letters: 1 is a, 27 is aa. */
function letters(number: number): string {
  let text = "";
  for (let rest = number; rest > 0; rest = Math.floor((rest - 1) / 26)) {
    text = String.fromCharCode(97 + ((rest - 1) % 26)) + text;
  }
  return text || String(number);
}

const romanSigns = "m1000 cm900 d500 cd400 c100 xc90 l50 xl40 x10 ix9 v5 iv4 i1"
  .split(" ")
  .map((each) => [each.replace(/\d+/, ""), Number(each.replace(/\D+/, ""))] as const);

/** A number in Roman numerals; others than 1 to 3999 as digits. */
function roman(number: number): string {
  if (number < 1 || number > 3999) return String(number);
  let rest = number;
  return romanSigns
    .map(([sign, value]) => {
      const times = Math.floor(rest / value);
      rest %= value;
      return sign.repeat(times);
    })
    .join("");
}

// HTML Standard, "rules for parsing integers".
function integerOf(node: PageNode, name: string): number | undefined {
  const text = /^\s*([+-]?\d{1,9})(?!\d)/.exec(attributeOf(node, name) ?? "")?.[1];
  return text === undefined ? undefined : Number(text);
}

type Shown = (number: number) => string;
const upper =
  (shown: Shown): Shown =>
  (number) =>
    shown(number).toUpperCase();

/** HTML Standard, "The ol element", attribute `type`; CSS Counter Styles 3, 6.1 and 6.2. */
export const numberStyles = { a: letters, A: upper(letters), i: roman, I: upper(roman) };
const styles: Readonly<Record<string, Shown>> = numberStyles;
const cssStyle =
  /(?:^|;)\s*list-style(?:-type)?\s*:[^;]{0,100}?\b(lower|upper)-(alpha|latin|roman)\b/i;

/** How a list shows its numbers; undefined for decimal ones. */
function shownIn(node: PageNode): Shown | undefined {
  const [, size, kind = ""] = cssStyle.exec(attributeOf(node, "style") ?? "") ?? [];
  const letter = /roman/i.test(kind) ? "i" : "a";
  const css = size && (/upper/i.test(size) ? letter.toUpperCase() : letter);
  return styles[css ?? attributeOf(node, "type") ?? ""];
}

const listNames = /^(?:ul|ol|menu|dir)$/;
const isItem = (node: PageNode): boolean => isElement(node) && node.localName === "li";
const isBlank = (node: PageNode): boolean =>
  !isElement(node) && !(isText(node) && node.data.trim());

/** The marks of the items of a list, in order. `other` is the mark where a list of numbers precedes. */
function* marksOf(list: PageNode, followsNumbers: boolean): Generator<string, never, PageNode> {
  const isReversed = attributeOf(list, "reversed") !== undefined;
  const step = isReversed ? -1 : 1;
  const count = isReversed ? [...childrenOf(list)].filter(isItem).length : 1;
  let last = (integerOf(list, "start") ?? count) - step;
  const shown = shownIn(list);
  let mark = "";
  for (;;) {
    const item = yield mark;
    last = integerOf(item, "value") ?? last + step;
    const text = shown ? shown(last) : String(last);
    // CommonMark has no letters and no numbers below zero: they are text of a bullet.
    const isNumber = /^\d+$/.test(text);
    mark = isNumber ? `${text}${followsNumbers ? ")" : "."} ` : `- ${text}. `;
  }
}

const lineMarks = new WeakMap<PageNode, { first: PageNode; marks: ReturnType<typeof marksOf> }>();

/** The mark of an item in a line, such as a cell of a table. Items are asked in their order. */
export function lineMark(item: PageNode): string {
  const list = item.parentNode;
  if (list?.localName !== "ol") return "- ";
  let known = lineMarks.get(list);
  // A cell may be written twice.
  if (!known || known.first === item) {
    known = { first: item, marks: marksOf(list, false) };
    known.marks.next(list);
    lineMarks.set(list, known);
  }
  return known.marks.next(item).value;
}

/** An item: its lines below the first are indented to the text behind the mark. */
function itemText(mark: string, blocks: readonly Block[], isIndented: boolean): string {
  const text = joinBlocks(blocks, true);
  if (!isIndented) return mark + text;
  const width = mark.startsWith("- ") ? 2 : mark.length;
  return mark + text.replaceAll(/\n(?=[^\n])/g, `\n${" ".repeat(width)}`);
}

/** Writes the items of a list as one block. An item with several paragraphs is apart from others. */
function addItems(writer: Writer, items: readonly string[], kind: Block["kind"] = "list"): void {
  if (items.length === 0) return;
  const isLoose = items.some((item) => item.includes("\n\n"));
  addBlock(writer, { text: items.join(isLoose ? "\n\n" : "\n"), kind });
}

/** Adds blocks to the last item: of a list that stands between items instead of in one. */
function addToLast(items: string[], blocks: readonly Block[]): void {
  const last = items.pop() ?? "-";
  const width = /^(?:\d+[.)]|-) /.exec(last)?.[0].length ?? 2;
  const text = joinBlocks(blocks);
  if (text !== "")
    items.push(
      `${last}\n${" ".repeat(width)}${text.replaceAll(/\n(?=[^\n])/g, `\n${" ".repeat(width)}`)}`,
    );
  else items.push(last);
}

/** Writes a list. The items of a list with headings are only the places of its texts. */
export function addList(writer: Writer, node: PageNode): void {
  endBlock(writer);
  if (writer.withHeading.has(node)) {
    addChildren(writer, node);
    return endBlock(writer);
  }
  const last = writer.blocks.at(-1);
  const followsNumbers =
    last?.kind === "list" && /^\d+\. .*$/m.test(last.text.split("\n", 1)[0] ?? "");
  const marks = node.localName === "ol" ? marksOf(node, followsNumbers) : undefined;
  marks?.next(node);
  const isIndented = writer.nesting < deepestNesting;
  const items: string[] = [];
  writer.nesting++;
  for (const child of childrenOf(node)) {
    if (isBlank(child) || writer.omitted.has(child)) continue;
    const mark = isItem(child) ? (marks?.next(child).value ?? "- ") : "- ";
    const id = isElement(child) ? attributeOf(child, "id") : undefined;
    if (id) writer.ids.add(id);
    const blocks = blocksOf(writer, () =>
      isItem(child) ? addChildren(writer, child) : writer.addNode(writer, child),
    );
    if (blocks.length === 0) continue;
    if (isElement(child) && listNames.test(child.localName) && items.length > 0)
      addToLast(items, blocks);
    else items.push(itemText(mark, blocks, isIndented));
  }
  writer.nesting--;
  addItems(writer, items);
}

/** The terms and definitions of a list; HTML allows a `div` around each group. */
function* entriesOf(list: PageNode): Generator<PageNode> {
  for (const child of childrenOf(list)) {
    if (isElement(child) && child.localName === "div") yield* entriesOf(child);
    else if (!isBlank(child)) yield child;
  }
}

/** The text of a term with the first paragraph of its definition. */
function definedText(terms: readonly Block[], definition: readonly Block[]): Block[] {
  const term = terms.map(({ text }) => text).join("\n");
  const [first, ...rest] = definition;
  if (term === "" || !first)
    return term === "" ? [...definition] : [{ text: term, kind: "paragraph" }];
  const colon = /[:?!.]$/.test(term) ? "" : ":";
  if (first.kind !== "paragraph") {
    return [{ text: term + colon, kind: "paragraph" }, ...definition];
  }
  return [{ text: `${term}${colon} ${first.text}`, kind: "paragraph" }, ...rest];
}

/** Writes a list of definitions as a list: `- Term: definition`. */
export function addDefinitions(writer: Writer, node: PageNode): void {
  endBlock(writer);
  if (writer.withHeading.has(node)) {
    addChildren(writer, node);
    return endBlock(writer);
  }
  const isIndented = writer.nesting < deepestNesting;
  const items: string[] = [];
  let terms: Block[] = [];
  let definition: Block[] = [];
  // Also an empty definition ends its terms.
  let isDefined = false;
  const flush = (): void => {
    const blocks = definedText(terms, definition);
    if (blocks.length > 0) items.push(itemText("- ", blocks, isIndented));
    [terms, definition, isDefined] = [[], [], false];
  };
  writer.nesting++;
  for (const entry of entriesOf(node)) {
    if (writer.omitted.has(entry)) continue;
    const isTerm = isElement(entry) && entry.localName === "dt";
    const isEntry = isTerm || (isElement(entry) && entry.localName === "dd");
    const id = isElement(entry) ? attributeOf(entry, "id") : undefined;
    if (id) writer.ids.add(id);
    const blocks = blocksOf(writer, () =>
      isEntry ? addChildren(writer, entry) : writer.addNode(writer, entry),
    );
    if (isTerm && isDefined) flush();
    isDefined = !isTerm;
    (isTerm ? terms : definition).push(...blocks);
  }
  flush();
  writer.nesting--;
  addItems(writer, items, "list");
}
