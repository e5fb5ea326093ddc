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

/** Counts lines up to offsets that grow; the text is passed over once. */
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

/** Start and end of each value: the text itself, or the members of the list that it is. */
function* valuesOf(text: string): Generator<[number, number], void> {
  const first = skipBlank(text, 0);
  if (text[first] !== "[") {
    yield [first, text.length];
    return;
  }
  for (let at = skipBlank(text, first + 1); text[at] !== "]";) {
    const extent = scanJson(text, at);
    // The whole was scanned before.
    if ("errorAt" in extent) throw new Error("JSON changed while it was read");
    yield [at, extent.end];
    at = skipBlank(text, extent.end);
    if (text[at] === ",") at = skipBlank(text, at + 1);
  }
}

/**
 * JSON: one document or row, or a list of them. The text is checked as a whole
 * before the first one is given; each is then parsed by itself. Throws CliError
 * `usage` with line and column for broken JSON, and at the end when the map
 * names a member that no row has.
 */
export function* readJson(
  given: string,
  path: string,
  map: ColumnMap | undefined,
): Generator<Row, void> {
  const text = given.startsWith("\ufeff") ? given.slice(1) : given;
  if (skipBlank(text, 0) === text.length) {
    throw new CliError("usage", `${path}: no JSON: it is empty`, {
      hints: ["write [] for no document, or exclude it"],
    });
  }
  const at = jsonErrorAt(text);
  if (at !== undefined) {
    const { line, column } = createPositions(text)(at);
    throw new CliError("usage", `${path}:${line}:${column}: ${jsonProblem(text, at)}`, {
      hints: ["correct the file; one JSON object a line is the format of .ndjson files"],
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
