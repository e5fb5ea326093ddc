import type { ColumnMap, Row } from "../reader.ts";
import { CliError } from "../../../errors.ts";
import { scanJson } from "../../json/json-position.ts";
import { refuseMissing, rowOfJson, type RowStart } from "../../json/json-row.ts";
import { jsonErrorAt, jsonProblem } from "../../json/json-digits.ts";
import { createRowMapper } from "../row.ts";

const blank = /[ \t\n\r]*/y;

function skipBlank(text: string, at: number): number {
  blank.lastIndex = at;
  blank.test(text);
  return blank.lastIndex;
}

/** The position of an offset. The offset must grow from call to call, to scan the text once. */
function createPositions(text: string): (offset: number) => { line: number; column: number } {
  let line = 1;
  let start = 0;
  return (offset) => {
    for (let next = text.indexOf("\n", start); next !== -1 && next < offset;) {
      line++;
      start = next + 1;
      next = text.indexOf("\n", start);
    }
    return { line, column: offset - start + 1 };
  };
}

/** Start and end of each value: the items of a list, or the whole text. */
function* valuesOf(text: string): Generator<[number, number], void> {
  const first = skipBlank(text, 0);
  if (text[first] !== "[") {
    yield [first, text.length];
    return;
  }
  for (let at = skipBlank(text, first + 1); text[at] !== "]";) {
    const extent = scanJson(text, at);
    // The whole text was checked before.
    if ("errorAt" in extent) throw new Error("JSON changed while it was read");
    yield [at, extent.end];
    at = skipBlank(text, extent.end);
    if (text[at] === ",") at = skipBlank(text, at + 1);
  }
}

/**
 * Reads JSON: one document or row, or a list of them. Checks the whole text before it yields the
 * first one; then parses each separately. Throws CliError `usage` with line and column for broken
 * JSON, and at the end when `--map` names a member that no row has.
 */
export function* readJson(
  input: string,
  path: string,
  map: ColumnMap | undefined,
): Generator<Row, void> {
  const text = input.startsWith("\ufeff") ? input.slice(1) : input;
  if (skipBlank(text, 0) === text.length) {
    throw new CliError("usage", `${path}: no JSON: it is empty`, {
      hints: ["write [] for no document, or exclude it"],
    });
  }
  const at = jsonErrorAt(text);
  if (at !== undefined) {
    const { line, column } = createPositions(text)(at);
    throw new CliError("usage", `${path}:${line}:${column}: ${jsonProblem(text, at)}`, {
      hints: ["correct the file; a file with one JSON object per line needs the extension .ndjson"],
    });
  }
  const mapper = createRowMapper(path, map, "member");
  const positionOf = createPositions(text);
  let hasRows = false;
  let row = 0;
  for (const [from, end] of valuesOf(text)) {
    const start: RowStart = { path, row: ++row, ...positionOf(from) };
    const result = rowOfJson(text.slice(from, end), start, mapper);
    hasRows ||= result.kind === "text";
    yield result;
  }
  if (hasRows) refuseMissing(path, mapper);
}
