import type { ColumnMap, Row } from "../reader.ts";
import { refuseMissing, rowOfJson } from "../../json/json-row.ts";
import { createRowMapper } from "../row.ts";

/**
 * Reads NDJSON: a document or row on each line; blank lines are skipped. A broken line is a failed
 * row. Throws CliError `usage` at the end when `--map` names a member that no row has.
 */
export function* readNdjson(
  text: string,
  path: string,
  map: ColumnMap | undefined,
): Generator<Row, void> {
  const mapper = createRowMapper(path, map, "member");
  let hasRows = false;
  let row = 0;
  let line = 0;
  for (let at = text.startsWith("\ufeff") ? 1 : 0; at < text.length;) {
    const lineEnd = text.indexOf("\n", at);
    const end = lineEnd === -1 ? text.length : lineEnd;
    const content = text.slice(at, end);
    line++;
    at = end + 1;
    if (content.trim() === "") continue;
    row++;
    const result = rowOfJson(content, { path, row, line, column: 1 }, mapper);
    hasRows ||= result.kind === "text";
    yield result;
  }
  if (hasRows) refuseMissing(path, mapper);
}
