import type { AnswerPart } from "../answer.ts";

/** The document that a number in the model's text refers to. */
export interface Citable {
  documentId: string;
  link: string;
}

const marker = /^\[\[(\d{1,3})\]\](?:\([^)\n]{0,500}\))?/;
const plain = /^\[(\d{1,3}(?:\s?[,;]\s?\d{1,3}){0,9})\](?!\()/;
const lenticular = /^【(\d{1,3})(?:†[^】\n]{0,80})?】/;
/** The beginning of a possible marker. */
const incomplete =
  /^(?:\[{1,2}[\d,; ]{0,60}\]{0,2}|\[\[\d{1,3}\]\]\([^)\n]{0,500}|【[^】\n]{0,90})$/;

type Code = { fence: number } | { ticks: number } | undefined;

interface State {
  citable: readonly Citable[];
  code: Code;
  /** Text whose meaning depends on the next piece. */
  held: string;
}

function nextCode(code: Code, ticks: number): Code {
  if (!code) return ticks >= 3 ? { fence: ticks } : { ticks };
  if ("fence" in code) return ticks >= code.fence ? undefined : code;
  return ticks === code.ticks ? undefined : code;
}

function specialAt({ code, held }: State, from: number): number {
  const special = !code ? /[`[【]/g : "fence" in code ? /`/g : /[`\n]/g;
  special.lastIndex = from;
  return special.exec(held)?.index ?? -1;
}

function citationsIn(state: State, match: RegExpExecArray): AnswerPart[] {
  const numbers = match[1]!.split(/[^\d]+/).map(Number);
  return numbers.flatMap((number) => {
    const cited = state.citable[number - 1];
    return cited ? [{ number, ...cited }] : [];
  });
}

/** Reads a marker or a single character at `at`; undefined if that needs more text. */
function readBracket(
  state: State,
  at: number,
  isEnd: boolean,
): { parts: AnswerPart[]; length: number } | undefined {
  const rest = state.held.slice(at, at + 600);
  if (!isEnd && incomplete.test(rest)) return undefined;
  const match = marker.exec(rest) ?? plain.exec(rest) ?? lenticular.exec(rest);
  // Without documents, a number in brackets is plain text of the model.
  if (!match || (state.citable.length === 0 && !rest.startsWith("[["))) {
    return { parts: [{ text: rest[0]! }], length: 1 };
  }
  return { parts: citationsIn(state, match), length: match[0].length };
}

function scan(state: State, isEnd: boolean): AnswerPart[] {
  const parts: AnswerPart[] = [];
  let at = 0;
  while (at < state.held.length) {
    const special = specialAt(state, at);
    const end = special < 0 ? state.held.length : special;
    if (end > at) parts.push({ text: state.held.slice(at, end) });
    at = end;
    if (special < 0) break;
    const character = state.held[at]!;
    if (character === "`") {
      const ticks = /^`+/.exec(state.held.slice(at))![0].length;
      // The run of backticks may continue in the next piece.
      if (!isEnd && at + ticks === state.held.length) break;
      state.code = nextCode(state.code, ticks);
      parts.push({ text: "`".repeat(ticks) });
      at += ticks;
    } else if (character === "\n") {
      // Inline code ends at the end of its line.
      state.code = undefined;
      parts.push({ text: "\n" });
      at += 1;
    } else {
      const bracket = readBracket(state, at, isEnd);
      if (!bracket) break;
      parts.push(...bracket.parts);
      at += bracket.length;
    }
  }
  state.held = state.held.slice(at);
  return parts;
}

/** Merges adjacent texts. */
function mergeTexts(parts: readonly AnswerPart[]): AnswerPart[] {
  const result: AnswerPart[] = [];
  for (const part of parts) {
    const last = result.at(-1);
    if ("text" in part && last && "text" in last) last.text += part.text;
    else result.push({ ...part });
  }
  return result;
}

/**
 * Finds the citations in a model's text, wherever its pieces end: `[1]`, `[1, 2]`,
 * `[[1]](link)` and `【1】`. Drops numbers without a document, as the service does
 * (observed-service.md 2.5). Code and links stay unchanged.
 */
export function createCitationFinder(citable: readonly Citable[]) {
  const state: State = { citable, code: undefined, held: "" };
  return {
    push(text: string): AnswerPart[] {
      state.held += text;
      return mergeTexts(scan(state, false));
    },
    end: (): AnswerPart[] => mergeTexts(scan(state, true)),
  };
}
