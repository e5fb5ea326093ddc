import type { Surroundings, LeftOut } from "../../../reader.ts";
import { resourcePath } from "../text/antora.ts";
import { substitute, type Attributes } from "./attributes.ts";
import { isTrue } from "./conditions.ts";
import { writtenIds } from "../text/ids.ts";
import { chooseLines } from "./include-lines.ts";
import { parseList } from "./attribute-list.ts";

export interface Line {
  text: string;
  /** Added to the level of a section title. */
  levelOffset: number;
}

/** The lines of a document after includes and conditions. */
export interface SourceLines {
  /** Looks ahead: 0 is the next line. Undefined after the last line. */
  peek(distance?: number): Line | undefined;
  next(): Line | undefined;
  /** Counts a comment that ends with the line which next() returned last. */
  leaveOutComment(): void;
}

interface Frame {
  lines: readonly string[];
  at: number;
  path: string;
  levelOffset: number;
}

interface Reading {
  frames: Frame[];
  attributes: Attributes;
  around: Surroundings;
  leftOut: LeftOut[];
  /** Ids in included files. */
  ids: Set<string>;
  /** Number of lines of the file before its body. */
  linesBefore: number;
  /** Number of open conditions, also inside a skipped part. */
  open: number;
  /** Number of open conditions when the skipped part began; 0 for none. */
  skippedFrom: number;
}

// Of more, the number says nothing.
const mostCounted = 1000;

const directive = /^(ifdef|ifndef|ifeval|endif|include)::([^[]*)\[(.*)\]$/;

function addInclude(reading: Reading, written: string, list: string): void {
  const { frames, attributes, around } = reading;
  const target = substitute(attributes, written).trim();
  const main = frames[0];
  const top = frames.at(-1);
  if (!main || !top || target === "") return;
  const { named } = parseList(substitute(attributes, list));
  const line = frames.length === 1 ? reading.linesBefore + main.at : undefined;
  const leaveOut = (why: string): void => {
    reading.leftOut.push({ kind: "include", what: `${target}: ${why}`, line });
  };
  const isOptional = /\boptional\b/.test(named.get("opts") ?? named.get("options") ?? "");
  const path = resourcePath(target, top.path, undefined);
  const chain = frames.map((frame) => frame.path);
  const included = around.includes.read(path === undefined ? target : `/${path}`, chain);
  if ("problem" in included) {
    if (!isOptional) leaveOut(included.problem);
    return;
  }
  for (const id of writtenIds(included.text)) reading.ids.add(id);
  const { lines, missing } = chooseLines(included.text, named);
  if (missing.length > 0 && !isOptional) leaveOut(`no tag ${missing.join(", ")}`);
  const offset = named.get("leveloffset") ?? "";
  const added = /^[+-]?\d{1,2}$/.test(offset) ? Number(offset) : 0;
  const levelOffset = /^[+-]/.test(offset) ? top.levelOffset + added : added || top.levelOffset;
  frames.push({ lines, at: 0, path: included.path, levelOffset });
}

/** Handles a directive. Returns a line if it contains one: `ifdef::a[text]`. */
function takeDirective(reading: Reading, found: RegExpExecArray): string | undefined {
  const [, name = "", target = "", text = ""] = found;
  const isSkipping = reading.skippedFrom > 0;
  if (name === "include") {
    if (!isSkipping) addInclude(reading, target, text);
  } else if (name === "endif") {
    if (reading.open === reading.skippedFrom) reading.skippedFrom = 0;
    reading.open = Math.max(0, reading.open - 1);
  } else if (name !== "ifeval" && text !== "") {
    // A condition for its own line only.
    return !isSkipping && isTrue(reading.attributes, name, target) ? text : undefined;
  } else {
    reading.open++;
    const condition = name === "ifeval" ? text : target;
    if (!isSkipping && !isTrue(reading.attributes, name, condition)) {
      reading.skippedFrom = reading.open;
    }
  }
  return undefined;
}

function readLine(reading: Reading): Line | undefined {
  const { frames } = reading;
  for (;;) {
    const frame = frames.at(-1);
    const written = frame?.lines[frame.at++];
    if (!frame || (written === undefined && frames.length === 1)) return undefined;
    if (written === undefined) {
      frames.pop();
      continue;
    }
    const text = written.trimEnd();
    const { levelOffset } = frame;
    const found = text.includes("::") ? directive.exec(text) : null;
    if (found) {
      const line = takeDirective(reading, found);
      if (line !== undefined) return { text: line, levelOffset };
    } else if (reading.skippedFrom === 0) {
      return { text: text.replace(/^\\(?=(?:include|ifn?def|ifeval|endif)::)/, ""), levelOffset };
    }
  }
}

/**
 * The lines of a text in order. Includes and conditions use the attributes at the time when their
 * line is read. What cannot be included is added to `leftOut`.
 */
export function createLines(
  text: string,
  path: string,
  linesBefore: number,
  around: Surroundings,
  attributes: Attributes,
): SourceLines & { leftOut: readonly LeftOut[]; ids: ReadonlySet<string> } {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  const reading: Reading = {
    frames: [{ lines, at: 0, path, levelOffset: 0 }],
    attributes,
    around,
    leftOut: [],
    ids: new Set(),
    linesBefore,
    open: 0,
    skippedFrom: 0,
  };
  const ahead: Line[] = [];
  return {
    leftOut: reading.leftOut,
    ids: reading.ids,
    peek(distance = 0) {
      while (ahead.length <= distance) {
        const line = readLine(reading);
        if (!line) return undefined;
        ahead.push(line);
      }
      return ahead[distance];
    },
    next: () => ahead.shift() ?? readLine(reading),
    leaveOutComment() {
      if (reading.leftOut.length >= mostCounted) return;
      const [main] = reading.frames;
      const isMain = main !== undefined && reading.frames.length === 1;
      const line = isMain ? linesBefore + main.at - ahead.length : undefined;
      reading.leftOut.push({ kind: "comment", what: "", line });
    },
  };
}
