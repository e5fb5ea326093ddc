import { decodeHTMLStrict } from "entities/decode";
import { neutraliseLine } from "../../../terminal/neutralise.ts";
import { colours, put, type Line } from "../cells.ts";
import { readAutolink, stepAddress, stepBracket, stepTarget } from "./links.ts";
import { findMark, openMark, openStyle, settle } from "./marks.ts";
import { closeCode, finishRun, stepCode, stepRun } from "./runs.ts";
import { flush, putText, type InlineLook, type Mode, type Scanner } from "./scanner.ts";
import { createTarget } from "./target.ts";

/**
 * The inline text of one block, read a character at a time, so that the drawing does
 * not depend on how the stream is cut.
 */
export interface Inline {
  /** Reads text without newlines. */
  feed(text: string): void;
  /** Continues with the next source line. `hard`: also starts a new row on the screen. */
  newline(hard: boolean): void;
  /** Number of buffered characters and marks, whose meaning depends on later text. */
  readonly held: number;
  /** Ends the block: unpaired marks become text. */
  end(): void;
}

const asciiPunctuation = /^[!-/:-@[-`{-~]$/;
const maxEntityLength = 32;

function stepEscape(scanner: Scanner, character: string): boolean {
  const isEscape = asciiPunctuation.test(character);
  if (isEscape) scanner.held = "";
  flush(scanner);
  if (!isEscape) return false;
  put(scanner.line, character, scanner.base | openStyle(scanner.marks));
  scanner.before = character;
  return true;
}

function stepEntity(scanner: Scanner, character: string): boolean {
  if (character === ";") {
    const entity = `${scanner.held};`;
    // The decoded characters are untrusted, too.
    const decoded = neutraliseLine(decodeHTMLStrict(entity));
    scanner.held = decoded;
    flush(scanner);
    return true;
  }
  if (/^[#a-z0-9]$/i.test(character) && scanner.held.length < maxEntityLength) {
    scanner.held += character;
    return true;
  }
  flush(scanner);
  return false;
}

function stepText(scanner: Scanner, character: string): boolean {
  const enter = (mode: Mode): boolean => {
    scanner.mode = mode;
    scanner.held = character;
    return true;
  };
  switch (character) {
    case "*":
    case "_":
    case "~":
    case "`":
      return enter("run");
    case "\\":
      return enter("escape");
    case "&":
      return enter("entity");
    case "<":
      return enter("angle");
    case "h":
      if (!/[\p{L}\p{N}_]$/u.test(scanner.before)) return enter("address");
      break;
    case "[":
      openMark(scanner.marks, "[", 1, false, scanner.base | openStyle(scanner.marks));
      scanner.before = "[";
      return true;
    case "]":
      if (!findMark(scanner.marks, "[")) break;
      scanner.mode = "bracket";
      return true;
    default:
  }
  putText(scanner, character);
  return true;
}

/** Each step reads one character; false if the new mode must read it again. */
const steps: Record<Mode, (scanner: Scanner, character: string) => boolean> = {
  text: stepText,
  run: stepRun,
  code: stepCode,
  escape: stepEscape,
  entity: stepEntity,
  angle: readAutolink,
  address: stepAddress,
  bracket: stepBracket,
  target: stepTarget,
};

function read(scanner: Scanner, character: string): void {
  while (!steps[scanner.mode](scanner, character));
}

/** Resolves the buffered text as if a space followed. */
function settleHeld(scanner: Scanner): void {
  if (scanner.mode === "text") return;
  if (scanner.mode === "run") return finishRun(scanner, "");
  if (scanner.mode === "code") {
    const mark = findMark(scanner.marks, "`");
    if (scanner.held !== "" && scanner.held.length === mark?.count) closeCode(scanner);
    else if (scanner.held !== "") {
      putText(scanner, scanner.held);
      scanner.held = "";
    }
    return;
  }
  // Every other step rejects a newline and resets the mode to text.
  steps[scanner.mode](scanner, "\n");
}

export function createInline(line: Line, look: InlineLook, base = 0): Inline {
  const codeStyle = look.hasColour ? colours.cyan : 0;
  const scanner: Scanner = {
    marks: { line, open: [], codeStyle, keeps: !look.hasColour },
    line,
    look,
    base,
    mode: "text",
    held: "",
    before: "",
    spaces: 0,
    target: createTarget(),
  };
  return {
    feed(text) {
      for (const character of text) {
        scanner.spaces = character === " " ? scanner.spaces + 1 : 0;
        read(scanner, character === "\t" ? " " : character);
      }
    },
    get held() {
      const { held, target, marks } = scanner;
      return held.length + target.source.length + marks.open.length;
    },
    newline(hard) {
      const isHard = hard || scanner.spaces >= 2 || scanner.held === "\\";
      if (isHard && scanner.held === "\\") {
        scanner.held = "";
        scanner.mode = "text";
      }
      settleHeld(scanner);
      scanner.spaces = 0;
      if (isHard) line.break();
      else putText(scanner, " ");
      scanner.before = " ";
    },
    end() {
      settleHeld(scanner);
      scanner.mode = "text";
      for (const mark of scanner.marks.open.toReversed()) settle(scanner.marks, mark);
    },
  };
}
