import { CliError } from "../../../errors.ts";
import { mebibytes } from "../../files/bytes/gunzip.ts";
import { jsonErrorAt, jsonProblem } from "../../text/json-digits.ts";

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

const notBlank = /[^ \t\n\r]/g;

/** Creates JsonItems. An item of more than `maxChars` fails the file. */
export function createJsonItems(path: string, maxChars: number): JsonItems {
  const extent = createExtent();
  let expected: "list or item" | "item or end" | "item" | "comma or end" | "nothing" =
    "list or item";
  let isList = false;
  let text = "";
  // The place of the first character of `text`.
  let place: Place = { line: 1, column: 1 };
  const nextAt = (at: number): number => {
    notBlank.lastIndex = at;
    return notBlank.exec(text)?.index ?? text.length;
  };
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
        at = nextAt(at);
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
