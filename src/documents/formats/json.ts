import { CliError, reasonOf } from "../../errors.ts";
import { mebibytes } from "../files/bytes/unpack.ts";
import { jsonErrorAt, jsonProblem, parseJson, parseJsonAsWritten } from "../text/json-text.ts";
import type { Row, RowParser, RowSource } from "./format.ts";
import { isJsonObject, isMap, toValue, ValueError, type ValueMap } from "../front-matter/values.ts";
import { type RowMapper, createRowMapper } from "./rows.ts";

/** Finds where a JSON value ends in a text that grows. Checks nothing else of it. */
interface Extent {
  /**
   * Offset after the value that begins at `start`; undefined where the text ends before, unless it
   * `isEnd`. Until it is found, call it again with the longer text.
   */
  endOf(text: string, start: number, isEnd: boolean): number | undefined;
  /** Tells that the offsets of the text have changed. */
  moveBy(offset: number): void;
}

const structure = /["[\]{}]/g;
const scalarEnd = /[,\]}\s]/g;

/** Creates an Extent. It continues where the shorter text ended, so each character costs once. */
function createExtent(): Extent {
  let from = 0;
  let depth = 0;
  let isInString = false;
  const leaveString = (text: string): boolean => {
    for (let end = text.indexOf('"', from); end !== -1; end = text.indexOf('"', end + 1)) {
      let before = end;
      while (text[before - 1] === "\\") before--;
      if ((end - before) % 2 === 1) continue;
      from = end + 1;
      isInString = false;
      return true;
    }
    from = text.length;
    return false;
  };
  const scan = (text: string): number | undefined => {
    for (;;) {
      if (isInString) {
        if (!leaveString(text)) return undefined;
        if (depth === 0) return from;
      }
      structure.lastIndex = from;
      const found = structure.exec(text)?.[0];
      from = found === undefined ? text.length : structure.lastIndex;
      if (found === undefined) return undefined;
      if (found === '"') isInString = true;
      else if (found === "{" || found === "[") depth++;
      else if (--depth <= 0) return from;
    }
  };
  const scalar = (text: string, start: number): number | undefined => {
    scalarEnd.lastIndex = start;
    return scalarEnd.exec(text)?.index;
  };
  return {
    endOf(text, start, isEnd) {
      from = Math.max(from, start);
      const isScalar = !'"[{'.includes(text[start] ?? "");
      const end = isScalar ? scalar(text, start) : scan(text);
      if (end === undefined && !isEnd) return undefined;
      from = depth = 0;
      isInString = false;
      return end ?? text.length;
    },
    moveBy(offset) {
      from = Math.max(0, from + offset);
    },
  };
}

/** One value of a JSON list, or the only value of the text. */
export interface JsonItem {
  text: string;
  /** Where it begins, both from 1. */
  line: number;
  column: number;
}

/** Splits JSON into the items of its outermost list, piece by piece; holds only the open item. */
export interface JsonItems {
  /**
   * The items that end in this piece. `isEnd`: no further piece follows. Throws CliError `usage`
   * where the text stops being a JSON list.
   */
  push(text: string, isEnd: boolean): Generator<JsonItem, void>;
}

type Place = Omit<JsonItem, "text">;

function placeIn(text: string, { line, column }: Place, at: number): Place {
  let start = 0;
  let lines = line;
  for (let next = text.indexOf("\n"); next !== -1 && next < at; next = text.indexOf("\n", start)) {
    start = next + 1;
    lines++;
  }
  return { line: lines, column: (start === 0 ? column : 1) + at - start };
}

function refuse(path: string, { line, column }: Place, problem: string): never {
  throw new CliError("usage", `${path}:${line}:${column}: ${problem}`, {
    hints: ["correct the file; a file with one JSON object per line needs the extension .ndjson"],
  });
}

/** Throws CliError `usage` with line and column where a text that begins at `place` is no JSON. */
export function refuseBroken(
  path: string,
  text: string,
  place: Place = { line: 1, column: 1 },
): void {
  const at = jsonErrorAt(text);
  if (at !== undefined) refuse(path, placeIn(text, place, at), jsonProblem(text, at));
}

/** Throws CliError `usage` for a text without JSON. */
export function refuseEmpty(path: string): never {
  throw new CliError("usage", `${path}: no JSON: it is empty`, {
    hints: ["write [] for no document, or exclude it"],
  });
}

/** Index of the first character from `at` that is no white space of JSON; the length where none is. */
function skipBlanks(text: string, at: number): number {
  let next = at;
  for (; next < text.length; next++) {
    const code = text.charCodeAt(next);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) break;
  }
  return next;
}

/** Creates JsonItems. An item of more than `maxChars` fails the file. */
export function createJsonItems(path: string, maxChars: number): JsonItems {
  const extent = createExtent();
  let expected: "list or item" | "item or end" | "item" | "comma or end" | "nothing" =
    "list or item";
  let isList = false;
  let text = "";
  // The place of the first character of `text`.
  let place: Place = { line: 1, column: 1 };
  const fail = (at: number): never => refuse(path, placeIn(text, place, at), jsonProblem(text, at));
  const waitForMore = (isEnd: boolean): void => {
    if (isEnd && expected === "list or item") refuseEmpty(path);
    if (isEnd && expected !== "nothing") fail(text.length);
  };
  return {
    *push(piece, isEnd) {
      text = text === "" ? piece : text + piece;
      // Places are counted from item to item, and the text is cut once.
      let at = 0;
      let done = place;
      let doneAt = 0;
      for (;;) {
        at = skipBlanks(text, at);
        if (at === text.length) {
          waitForMore(isEnd);
          break;
        }
        const character = text[at];
        if (expected === "list or item") {
          isList = character === "[";
          expected = isList ? "item or end" : "item";
          if (isList) at++;
        } else if (character === "]" && expected.endsWith("end")) {
          expected = "nothing";
          at++;
        } else if (character === "," && expected === "comma or end") {
          expected = "item";
          at++;
        } else if (expected.startsWith("item")) {
          const end = extent.endOf(text, at, isEnd);
          if (end === at) fail(at);
          done = placeIn(text.slice(doneAt, at), done, at - doneAt);
          doneAt = at;
          if (end === undefined) {
            const problem = `the value that begins here is broken, or longer than ${mebibytes(maxChars)}`;
            if (text.length - at > maxChars) refuse(path, done, problem);
            break;
          }
          yield { text: text.slice(at, end), ...done };
          at = end;
          expected = isList ? "comma or end" : "nothing";
        } else fail(at);
      }
      place = placeIn(text.slice(doneAt, at), done, at - doneAt);
      text = text.slice(at);
      extent.moveBy(-at);
    },
  };
}

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
function parseJsonAt(text: string, { path, line, column }: RowStart): unknown {
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

function contentOf(text: string, start: RowStart, mapper: RowMapper | undefined): Row {
  const { path, row, line, column } = start;
  const where = `${path}:${line}:${column}`;
  const value = parseJsonAt(text, start);
  if (!mapper || isJsonDocument(value)) return { row, line, kind: "json", value, where };
  if (!isJsonObject(value)) {
    throw new CliError("usage", `${where}: expected an object`, {
      hints: ["write a document, or an object with a member for the text"],
    });
  }
  // The members become text, so numbers stay as written: `1.10`, not `1.1`.
  const parsed = mapper.toParsed(dataOf(parseJsonAsWritten(text), where, mapper), line);
  return { row, line, kind: "text", parsed };
}

/** Reads one JSON text as a document, a row, or a failure; without a mapper, rows are none. */
export function rowOfJson(text: string, start: RowStart, mapper: RowMapper | undefined): Row {
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
