import { addBlock, htmlOf } from "./docx-blocks.ts";
import { createContainer, type Walk } from "./docx-walk.ts";

type Attributes = (name: string) => string | undefined;

/** A number of columns. */
const spanOf = (value = "1"): number =>
  /^\d{1,9}$/.test(value) ? Math.min(100, Math.max(1, Number(value))) : 1;

export function openTable(walk: Walk): void {
  walk.tables.push({
    rows: [],
    hasHead: false,
    isDeletedRow: false,
    columns: 1,
    continues: false,
  });
}

export function openRow({ tables }: Walk): void {
  const table = tables.at(-1);
  if (!table) return;
  table.isDeletedRow = false;
  table.rows.push([]);
}

export function openCell({ tables, containers }: Walk): void {
  const table = tables.at(-1);
  if (!table) return;
  table.columns = 1;
  table.continues = false;
  containers.push(createContainer());
}

/** Handles the properties of a table, its rows and cells; false for other elements. */
export function takeTableProperty(
  { tables }: Walk,
  name: string,
  attributeOf: Attributes,
): boolean {
  const table = tables.at(-1);
  if (!table) return false;
  const value = attributeOf("val");
  if (name === "gridBefore") {
    const columns = spanOf(value);
    table.rows.at(-1)?.push({ html: "", columns, rows: 1, continues: false });
  } else if (name === "gridSpan") table.columns = spanOf(value);
  else if (name === "vMerge") table.continues = value === undefined || value === "continue";
  else if (name === "tblHeader") table.hasHead ||= table.rows.length === 1;
  else if (name === "tblLook") {
    // ECMA-376 part 1, 17.4.55: 0x20 stands for the first row.
    const first = attributeOf("firstRow");
    table.hasHead ||=
      first === undefined
        ? (parseInt(value ?? "0", 16) & 0x20) !== 0
        : /^(?:1|true|on)$/.test(first);
  } else return false;
  return true;
}

export function closeCell({ tables, containers }: Walk): void {
  const table = tables.at(-1);
  if (!table || containers.length < 2) return;
  const html = htmlOf(containers.pop());
  const { columns, continues } = table;
  table.rows.at(-1)?.push({ html, columns, rows: 1, continues });
}

/** Ends a row; a deleted one is not shown. */
export function closeRow({ tables }: Walk): void {
  const table = tables.at(-1);
  if (table?.isDeletedRow) table.rows.pop();
}

/** Ends a table: a cell that goes on below stands in several rows. */
export function closeTable(walk: Walk): void {
  const table = walk.tables.pop();
  if (!table) return;
  const above = new Map<number, (typeof table.rows)[number][number]>();
  const rows = table.rows.map((cells, at) => {
    let column = 0;
    const tag = table.hasHead && at === 0 ? "th" : "td";
    const kept = cells.filter((cell) => {
      const start = above.get(column);
      const isPart = cell.continues && start !== undefined;
      if (isPart) start.rows++;
      else above.set(column, cell);
      column += cell.columns;
      return !isPart;
    });
    return { tag, kept };
  });
  const html = rows.map(({ tag, kept }) => {
    const cells = kept.map(({ html: inner, columns, rows: count }) => {
      const spans = `${columns > 1 ? ` colspan="${columns}"` : ""}${count > 1 ? ` rowspan="${count}"` : ""}`;
      return `<${tag}${spans}>${inner}</${tag}>`;
    });
    return `<tr>${cells.join("")}</tr>`;
  });
  addBlock(walk, `<table>${html.join("")}</table>`);
}
