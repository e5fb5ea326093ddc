import { escapeLineStart, oneLine, plainOf, type Piece } from "./pieces.ts";
import { markdownOf } from "./inline.ts";
import { attributeOf, childrenOf, isElement, textOf, walkTree, type PageNode } from "./tree.ts";
import { addBlock, addChildren, endBlock, lineOf, type Writer } from "./writer.ts";

interface Row {
  cells: PageNode[];
  isHead: boolean;
  /** Rows of a group: no cell stands in rows of two groups. */
  group: number;
}

const isCell = (node: PageNode): boolean => isElement(node) && /^t[dh]$/.test(node.localName);

/** The rows of a table, and what else is in it: captions stand before. */
function readTable(table: PageNode): { rows: Row[]; others: PageNode[] } {
  const rows: Row[] = [];
  const others: PageNode[] = [];
  let group = 0;
  const addRow = (node: PageNode, isInHead: boolean): void => {
    const cells = [...childrenOf(node)].filter(isCell);
    // The corner above names of rows and before those of columns may be empty.
    const [corner, ...others] = cells;
    const isCorner = corner && others.length > 0 && textOf(corner).trim() === "";
    const names = isCorner ? others : cells;
    const isHead = isInHead || (names.length > 0 && names.every((cell) => cell.localName === "th"));
    rows.push({ cells, isHead, group });
  };
  for (const child of childrenOf(table)) {
    if (!isElement(child)) continue;
    const { localName: name } = child;
    if (/^t(?:head|body|foot)$/.test(name)) {
      group++;
      for (const row of childrenOf(child)) {
        if (isElement(row) && row.localName === "tr") addRow(row, name === "thead");
      }
      group++;
    } else if (name === "tr") addRow(child, false);
    else if (name === "caption") others.push(child);
  }
  return { rows, others };
}

const longestLine = 2000;

/** Whether a cell has what one line cannot hold. */
function needsBlocks(writer: Writer, cell: PageNode): boolean {
  if (writer.withHeading.has(cell)) return true;
  let needs = false;
  let blocks = 0;
  walkTree(cell, (node) => {
    if (needs || writer.omitted.has(node)) return false;
    if (!isElement(node)) return false;
    const { localName: name } = node;
    if (name === "table") needs = true;
    if (name === "pre") needs = textOf(node).trim().includes("\n");
    if (name === "p" || name === "li" || name === "dd") blocks++;
    return !needs;
  });
  return needs || (blocks > 1 && textOf(cell, writer.omitted).length > longestLine);
}

/** A whole number from 0 in an attribute. */
function countIn(node: PageNode, name: string, most: number): number | undefined {
  const text = /^\s*(\d{1,9})(?!\d)/.exec(attributeOf(node, name) ?? "")?.[1];
  return text === undefined ? undefined : Math.min(most, Number(text));
}

/** HTML Standard, "colspan": at most 1000. */
const widthOfCell = (cell: PageNode): number => countIn(cell, "colspan", 1000) || 1;

// A value is short; of a longer text, and of texts beyond `mostRepeated`, only the place is kept.
// With these numbers no page can make gigabytes of a few lines.
const [mostCharacters, mostRepeated, mostWithPlaces] = [200, 200_000, 400_000];

/** The texts of the cells of rows by column: a cell that spans columns or rows stands in each. */
function createGrid(writer: Writer, columns: number) {
  let group = -1;
  /** By column: the text of a cell that also stands in the rows up to `last`. */
  let below = new Map<number, { text: string; last: number }>();
  const again = (text: string): string | undefined => {
    const hasRoom = writer.repeated + text.length < mostRepeated && text.length <= mostCharacters;
    writer.repeated += 1 + (hasRoom ? text.length : 0);
    if (writer.repeated > mostWithPlaces) return undefined;
    return hasRoom ? text : "";
  };
  const addCell = (texts: string[], cell: PageNode, at: number): void => {
    const { text, isShown } = cellText(writer, cell);
    // HTML Standard, "rowspan": 0 stands for the rest of the row group.
    const rows = (countIn(cell, "rowspan", 65_534) ?? 1) || Infinity;
    const width = widthOfCell(cell);
    // A text above or below all columns belongs to none.
    const isWhole = width > 1 && width >= columns;
    for (let column = 0; column < width; column++) {
      const repeated = isWhole || !isShown ? "" : text;
      const shown = column === 0 ? text : again(repeated);
      if (shown === undefined) return;
      if (rows > 1)
        below.set(texts.length, {
          text: column === 0 && !isShown ? "" : shown,
          last: at + rows - 1,
        });
      texts.push(shown);
    }
  };
  /** Adds the texts from the rows above at the next columns, and up to the column `end`. */
  const addFromAbove = (texts: string[], end: number): void => {
    for (;;) {
      const cell = below.get(texts.length);
      if (!cell && texts.length >= end) return;
      const text = again(cell?.text ?? "");
      if (text === undefined) return below.clear();
      texts.push(text);
    }
  };
  return (row: Row, at: number): string[] => {
    if (row.group !== group) below = new Map();
    group = row.group;
    let end = 0;
    for (const [column, { last }] of below) {
      if (last < at) below.delete(column);
      else end = Math.max(end, column + 1);
    }
    const texts: string[] = [];
    for (const cell of row.cells) {
      if (writer.omitted.has(cell)) continue;
      addFromAbove(texts, 0);
      addCell(texts, cell, at);
    }
    if (texts.length > 0) addFromAbove(texts, end);
    return texts;
  };
}

/** The text of a cell in one line, and whether it has words: an icon is not repeated. */
function cellText(writer: Writer, cell: PageNode): { text: string; isShown: boolean } {
  const id = attributeOf(cell, "id");
  if (id) writer.ids.add(id);
  const pieces: Piece[] = lineOf(writer, () => addChildren(writer, cell));
  const isShown = plainOf(pieces.filter(({ kind }) => kind !== "raw")) !== "";
  const isEmpty = !isShown && !pieces.some(({ kind }) => kind === "raw");
  return { text: isEmpty ? "" : oneLine(markdownOf(pieces, true)), isShown };
}

const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

interface GridRow {
  texts: string[];
  isHead: boolean;
}

/** A table of GitHub's Markdown, without empty rows and columns. Without a header, that is empty. */
function gridText(rows: readonly GridRow[]): string {
  const filled = rows.filter(({ texts }) => texts.some((text) => text !== ""));
  const width = filled.reduce((most, { texts }) => Math.max(most, texts.length), 0);
  const used = Array.from({ length: width }, (_, column) => column).filter((column) =>
    filled.some(({ texts }) => (texts[column] ?? "") !== ""),
  );
  const cells = filled.map(({ texts }) => used.map((column) => texts[column] ?? ""));
  if (used.length < 2) return cells.map(([text = ""]) => escapeLineStart(text)).join("\n\n");
  const hasHead = filled[0]?.isHead === true;
  const head = hasHead ? (cells[0] ?? []) : used.map(() => "");
  const body = hasHead ? cells.slice(1) : cells;
  const full = [head, used.map(() => "---")].map(line);
  // A row may have fewer cells than the header.
  const short = body.map((texts) => line(texts.slice(0, texts.findLastIndex(Boolean) + 1)));
  return [...full, ...short].join("\n");
}

function addGrid(writer: Writer, rows: GridRow[]): void {
  const text = gridText(rows.splice(0));
  if (text !== "") addBlock(writer, { text, kind: "other" });
}

/** The names of the columns once more, where blocks stand between the rows of a table. */
function headAgain(writer: Writer, head: GridRow | undefined): GridRow[] {
  const length = head?.texts.join("").length ?? 0;
  const hasRoom = writer.repeated + length < mostRepeated;
  if (!head || !hasRoom) return [];
  writer.repeated += 1 + length;
  return [head];
}

/** Writes the cells of a row one after the other, as blocks. */
function addCells(writer: Writer, row: Row): void {
  for (const cell of row.cells) {
    if (writer.omitted.has(cell)) continue;
    endBlock(writer);
    addChildren(writer, cell);
    endBlock(writer);
  }
}

/**
 * Writes a table. Rows with headings, code or tables in their cells, and tables of one column, are
 * only places of their texts: these are blocks.
 */
export function addTable(writer: Writer, node: PageNode): void {
  endBlock(writer);
  const { rows, others } = readTable(node);
  for (const other of others) writer.addNode(writer, other);
  const columns = widthOf(rows);
  const toTexts = createGrid(writer, columns);
  const grid: GridRow[] = [];
  let head: GridRow | undefined;
  for (const [at, row] of rows.entries()) {
    if (columns > 1 && !row.cells.some((cell) => needsBlocks(writer, cell))) {
      const added = { texts: toTexts(row, at), isHead: row.isHead };
      if (grid.length === 0 && !row.isHead) grid.push(...headAgain(writer, head));
      if (row.isHead) head ??= added;
      grid.push(added);
      continue;
    }
    addGrid(writer, grid);
    // What goes on below has its place there.
    if (row.cells.some((cell) => countIn(cell, "rowspan", 2) !== undefined)) toTexts(row, at);
    addCells(writer, row);
  }
  addGrid(writer, grid);
}

function widthOf(rows: readonly Row[]): number {
  let most = 0;
  for (const { cells } of rows) {
    const width = cells.reduce((sum, cell) => sum + widthOfCell(cell), 0);
    most = Math.max(most, cells.length > 1 ? width : cells.length);
  }
  return most;
}
