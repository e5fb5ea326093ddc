import { closeLink, endBlock, type Draft } from "./html-draft.ts";
import { createTable, endCell, fromAbove } from "./html-table.ts";

export function openTable(draft: Draft): void {
  draft.heading = undefined;
  closeRow(draft);
  draft.groups++;
  draft.table = createTable(draft.table);
  openRow(draft);
}

/** Begins or ends a group of rows: no cell stands in rows of two groups. */
export function divideRows(draft: Draft): void {
  if (draft.isInRow) openRow(draft);
  else endBlock(draft);
  draft.table.below.clear();
}

export function openRow(draft: Draft): void {
  draft.heading = undefined;
  if (draft.isInRow) endRow(draft);
  else endBlock(draft);
  draft.isInRow = true;
  draft.hasCell = false;
  draft.table.column = 0;
  draft.table.row++;
}

function beginCell(draft: Draft): void {
  if (draft.hasCell) draft.inline.push(" | ");
  draft.hasCell = true;
}

function addFromAbove(draft: Draft): void {
  for (const parts of fromAbove(draft.table)) {
    beginCell(draft);
    draft.inline.push(...parts);
  }
}

/** Opens a cell that stands in so many rows and columns. */
export function openCell(draft: Draft, rows: number, columns: number): void {
  if (!draft.isInRow) return endBlock(draft);
  closeLink(draft);
  draft.codeFrom = undefined;
  endCell(draft.table, draft.inline);
  addFromAbove(draft);
  beginCell(draft);
  const { table } = draft;
  table.cell = { column: table.column, rows, columns, from: draft.inline.length };
  table.column += columns;
}

function endRow(draft: Draft): void {
  const { table } = draft;
  if (table.cell && table.cell.rows > 1) closeLink(draft);
  endCell(table, draft.inline);
  if (draft.hasCell) addFromAbove(draft);
  endBlock(draft);
}

export function closeRow(draft: Draft): void {
  if (draft.isInRow) endRow(draft);
  else endBlock(draft);
  draft.isInRow = false;
}

/** What follows a table is no part of it. */
export function closeTable(draft: Draft): void {
  closeRow(draft);
  draft.groups++;
  const { outer, repeated } = draft.table;
  draft.table = outer ? Object.assign(outer, { repeated }) : createTable();
}
