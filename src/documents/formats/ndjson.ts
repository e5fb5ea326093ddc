import type { Row, RowParser, RowSource } from "./format.ts";
import { mebibytes } from "../files/bytes/gunzip.ts";
import { refuseMissing, rowOfJson } from "./rows/json-row.ts";
import { createRowMapper } from "./rows/row.ts";

/**
 * Reads NDJSON: a document or row on each line; blank lines are skipped. A broken line is a failed
 * row. Throws CliError `usage` at the end when `--map` names a member that no row has.
 */
export function readNdjson({ path, map, maxRowChars }: RowSource): RowParser {
  const mapper = createRowMapper(path, map, "member");
  let hasRows = false;
  let row = 0;
  let line = 0;
  // The line that is not complete; too long, only its length counts.
  let open = "";
  let length = 0;
  const keep = (text: string): void => {
    length += text.length;
    open = length > maxRowChars ? "" : open + text;
  };
  const finishLine = (): Row | undefined => {
    line++;
    const content = line === 1 && open.startsWith("\ufeff") ? open.slice(1) : open;
    const isTooLong = length > maxRowChars;
    open = "";
    length = 0;
    if (isTooLong) {
      const reason = `${path}:${line}:1: the line is longer than ${mebibytes(maxRowChars)}; write one JSON object per line`;
      return { row: ++row, line, kind: "failed", reason };
    }
    if (content.trim() === "") return undefined;
    const result = rowOfJson(content, { path, row: ++row, line, column: 1 }, mapper);
    hasRows ||= result.kind === "text";
    return result;
  };
  return {
    *push(text) {
      let at = 0;
      for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", at)) {
        keep(text.slice(at, end));
        at = end + 1;
        const result = finishLine();
        if (result) yield result;
      }
      keep(text.slice(at));
    },
    *end() {
      const result = length > 0 ? finishLine() : undefined;
      if (result) yield result;
      if (hasRows) refuseMissing(path, mapper);
    },
  };
}
