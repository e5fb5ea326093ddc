import { decodeHTMLStrict } from "entities/decode";
import { neutraliseLine } from "../../../terminal/neutralise.ts";
import { colours, put, type Line } from "../cells.ts";
import { readAutolink, stepAddress, stepBracket, stepTarget } from "./links.ts";
import { findMark, openMark, openStyle, settle } from "./marks.ts";
import { closeCode, finishRun, stepCode, stepRun } from "./runs.ts";
import { flush, putText, type InlineLook, type Mode, type Scanner } from "./scanner.ts";
import { createTarget } from "./target.ts";

/**
 * The inline text of one block, read a character at a time: what is drawn
 * depends on the characters alone, not on how the stream is cut.
 */
export interface Inline {
  /** Text without newlines. */
  feed(text: string): void;
  /** The text goes on in the source's next line. `hard`: on the screen as well. */
  newline(hard: boolean): void;
  /** Characters and marks that are kept because later ones decide what they are. */
  readonly held: number;
  /** The end of the block: marks without a partner become text. */
  end(): void;
}

const isAscii = /^[!-/:-@[-`{-~]$/;
const longestEntity = 32;

function stepEscape(scanner: Scanner, character: string): boolean {
  const isEscape = isAscii.test(character);
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
    // What it stands for comes from outside as well.
    const decoded = neutraliseLine(decodeHTMLStrict(entity));
    scanner.held = decoded;
    flush(scanner);
    return true;
  }
  if (/^[#a-z0-9]$/i.test(character) && scanner.held.length < longestEntity) {
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

/** Each takes one character; false where it must be read again in the new mode. */
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

/** What was held is decided as if a space followed. */
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
  // A step that does not take the newline has brought the mode back to text.
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
