import type { AnswerPart } from "../answer.ts";

/** What a number in the model's text stands for. */
export interface Citable {
  documentId: string;
  link: string;
}

const marker = /^\[\[(\d{1,3})\]\](?:\([^)\n]{0,500}\))?/;
const plain = /^\[(\d{1,3}(?:\s?[,;]\s?\d{1,3}){0,9})\](?!\()/;
const lenticular = /^【(\d{1,3})(?:†[^】\n]{0,80})?】/;
/** What may still become one of them. */
const begun = /^(?:\[{1,2}[\d,; ]{0,60}\]{0,2}|\[\[\d{1,3}\]\]\([^)\n]{0,500}|【[^】\n]{0,90})$/;

type Code = { fence: number } | { ticks: number } | undefined;

interface State {
  citable: readonly Citable[];
  code: Code;
  /** Text whose meaning depends on what comes next. */
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

/** Takes a marker or a single character from `at`; undefined when more text is needed to tell. */
function bracket(
  state: State,
  at: number,
  isEnd: boolean,
): { parts: AnswerPart[]; length: number } | undefined {
  const rest = state.held.slice(at, at + 600);
  if (!isEnd && begun.test(rest)) return undefined;
  const match = marker.exec(rest) ?? plain.exec(rest) ?? lenticular.exec(rest);
  // Without documents a number in brackets is the model's own affair.
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
      // The run may go on in the next piece.
      if (!isEnd && at + ticks === state.held.length) break;
      state.code = nextCode(state.code, ticks);
      parts.push({ text: "`".repeat(ticks) });
      at += ticks;
    } else if (character === "\n") {
      // Code within a line ends with it at the latest.
      state.code = undefined;
      parts.push({ text: "\n" });
      at += 1;
    } else {
      const taken = bracket(state, at, isEnd);
      if (!taken) break;
      parts.push(...taken.parts);
      at += taken.length;
    }
  }
  state.held = state.held.slice(at);
  return parts;
}

/** Neighbouring texts as one. */
function joined(parts: readonly AnswerPart[]): AnswerPart[] {
  const result: AnswerPart[] = [];
  for (const part of parts) {
    const last = result.at(-1);
    if ("text" in part && last && "text" in last) last.text += part.text;
    else result.push({ ...part });
  }
  return result;
}

/**
 * Finds the citations in a model's text, in whatever pieces it comes: `[1]`,
 * `[1, 2]`, `[[1]](link)` and `【1】` where that number was given to a document.
 * Numbers that no document has are dropped as the service drops them
 * (observed-service.md 2.5); code and links stay as they are.
 */
export function createCitationFinder(citable: readonly Citable[]) {
  const state: State = { citable, code: undefined, held: "" };
  return {
    push(text: string): AnswerPart[] {
      state.held += text;
      return joined(scan(state, false));
    },
    end: (): AnswerPart[] => joined(scan(state, true)),
  };
}
