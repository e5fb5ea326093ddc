import type { Row, RowParser, RowSource } from "./format.ts";
import { createJsonItems, refuseBroken, refuseEmpty } from "./rows/json-items.ts";
import { refuseMissing, rowOfJson } from "./rows/json-row.ts";
import { createRowMapper } from "./rows/row.ts";

const withoutMark = (text: string): string => (text.startsWith("\ufeff") ? text.slice(1) : text);

/**
 * Reads JSON: one document or row, or a list of them. Parses each separately. Throws CliError
 * `usage` with line and column for broken JSON, and at the end when `--map` names a member that no
 * row has.
 */
export function readJson({ path, map, maxRowChars }: RowSource): RowParser {
  const mapper = createRowMapper(path, map, "member");
  const items = createJsonItems(path, maxRowChars);
  let isFirst = true;
  let hasRows = false;
  let row = 0;
  function* read(piece: string, isEnd: boolean): Generator<Row, void> {
    const text = isFirst ? withoutMark(piece) : piece;
    isFirst &&= piece === "";
    for (const item of items.push(text, isEnd)) {
      const { line, column } = item;
      const result = rowOfJson(item.text, { path, row: ++row, line, column }, mapper);
      // After broken JSON, nothing tells where the next item begins.
      if (result.kind === "failed") refuseBroken(path, item.text, item);
      hasRows ||= result.kind === "text";
      yield result;
    }
    if (isEnd && hasRows) refuseMissing(path, mapper);
  }
  return {
    check(input) {
      const text = withoutMark(input);
      if (!/[^ \t\n\r]/.test(text)) refuseEmpty(path);
      refuseBroken(path, text);
    },
    push: (text) => read(text, false),
    end: () => read("", true),
  };
}
