import type { Row } from "../format.ts";
import { CliError, reasonOf } from "../../../errors.ts";
import { jsonErrorAt, jsonProblem, parseJson, parseJsonAsWritten } from "../../text/json-digits.ts";
import {
  isJsonObject,
  isMap,
  toValue,
  ValueError,
  type ValueMap,
} from "../../front-matter/values.ts";
import type { RowMapper } from "./row.ts";

/** Where a row begins: its number, line and column, all from 1. */
export interface RowStart {
  path: string;
  row: number;
  line: number;
  column: number;
}

function dataOf(value: unknown, where: string, mapper: RowMapper): ValueMap {
  const map = toValue(value);
  if (!isMap(map)) {
    throw new CliError("usage", `${where}: expected an object`, {
      hints: ["write a document, or an object with a member for the text"],
    });
  }
  const data = Object.create(null) as ValueMap;
  for (const [name, member] of Object.entries(map)) {
    const key = mapper.nameOf(name, (other) => map[other] !== undefined);
    if (data[key] !== undefined) {
      throw new CliError("usage", `${where}: two members for ${key}`, {
        hints: ["rename one of them with --map metadata.NAME=MEMBER"],
      });
    }
    data[key] = member;
  }
  return data;
}

/** Whether a JSON value is a document or `{document, cc_pair_id}`, and not a row. */
function isJsonDocument(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  return Array.isArray(value["sections"]) || isJsonObject(value["document"]);
}

/** Parses one JSON text. Throws CliError `usage` with the position where it stops being JSON. */
export function parseJsonAt(text: string, { path, line, column }: RowStart): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const at = jsonErrorAt(text) ?? 0;
    throw new CliError("usage", `${path}:${line}:${column + at}: ${jsonProblem(text, at)}`, {
      hints: ["write one JSON object per line"],
    });
  }
}

function contentOf(text: string, start: RowStart, mapper: RowMapper): Row {
  const { path, row, line, column } = start;
  const where = `${path}:${line}:${column}`;
  const value = parseJsonAt(text, start);
  if (isJsonDocument(value)) {
    return { row, line, kind: "json", value, where };
  }
  if (!isJsonObject(value)) {
    throw new CliError("usage", `${where}: expected an object`, {
      hints: ["write a document, or an object with a member for the text"],
    });
  }
  // The members become text, so numbers stay as written: `1.10`, not `1.1`.
  const parsed = mapper.toParsed(dataOf(parseJsonAsWritten(text), where, mapper), line);
  return { row, line, kind: "text", parsed };
}

/** Reads one JSON text as a document, a row, or a failure. */
export function rowOfJson(text: string, start: RowStart, mapper: RowMapper): Row {
  const { path, row, line, column } = start;
  const failed = (reason: string): Row => ({ row, line, kind: "failed", reason });
  try {
    return contentOf(text, start, mapper);
  } catch (error) {
    if (error instanceof CliError) return failed(reasonOf(error));
    if (error instanceof ValueError)
      return failed(`${path}:${line}:${column}: holds ${error.message}`);
    throw error;
  }
}

/** Throws CliError `usage` when `--map` names a member that no row had. */
export function refuseMissing(path: string, mapper: RowMapper): void {
  const [missing] = mapper.missing();
  if (missing === undefined) return;
  throw new CliError("usage", `${path}: no row has a member ${missing}, which --map names`, {
    hints: ["correct --map"],
  });
}
