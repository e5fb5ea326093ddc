import { escapeHtml } from "../rst-html.ts";
import { nameOf, type LinkedPage, type Substitution } from "../rst-reading.ts";

/** What inline markup refers to. */
export interface Inline {
  substitutions: ReadonlyMap<string, Substitution>;
  /** Address or other name by name of the target; "" for a place in the document. */
  targets: ReadonlyMap<string, string>;
  /** Titles by the names of the targets before them. */
  titles: ReadonlyMap<string, string>;
  rawRoles: ReadonlySet<string>;
  /** Another page, by its name without extension. */
  pageOf: (name: string) => LinkedPage | undefined;
  /** The next address of an anonymous target. */
  nextAnonymous: () => string | undefined;
  /** Gives a named target within running text its anchor. */
  noteTarget: (name: string, address: string) => void;
  /** Notes a reference whose name no target has so far. */
  noteUnknown: (name: string, written: string) => void;
  /** What a footnote reference shows: `[1]`. */
  footnoteText: (label: string) => string;
  /** Characters that substitutions and titles can still add. */
  room: number;
}

/** A text while its marks are read. */
export interface Scan {
  inline: Inline;
  text: string;
  at: number;
  /** Text before it is copied. */
  from: number;
  parts: string[];
  /** Marks that no later text closes. */
  unclosed: Set<string>;
  depth: number;
}

const opens = /[\s'"([{<\-/:\p{Ps}\p{Pi}\p{Pf}\p{Pd}\p{Po}]/u;
const closes = /[\s'")\]}>\-/:.,;!?\\\p{Pe}\p{Pi}\p{Pf}\p{Pd}\p{Po}]/u;
const pairs: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  "(": ")",
  "[": "]",
  "{": "}",
  "<": ">",
};
/** Longer names are text. */
export const longestName = 200;

/** Whether a mark at `at` stands where one can begin. */
export const isOpener = (text: string, at: number): boolean =>
  at === 0 || opens.test(text[at - 1] ?? "");
/** Whether a mark that ends before `at` stands where one can end. */
export const isCloser = (text: string, at: number): boolean =>
  at >= text.length || closes.test(text[at] ?? "");

/** Whether a mark of `length` at `at` can begin something. */
export function canOpen({ text }: Scan, start: number, at: number, length: number): boolean {
  const next = text[at + length];
  if (next === undefined || /\s/.test(next) || !isOpener(text, start)) return false;
  return start === 0 || pairs[text[start - 1] ?? ""] !== next;
}

/** Where the mark closes what begins at `from`; -1 if it does not. */
export function findEnd(scan: Scan, mark: string, from: number): number {
  const { text, unclosed } = scan;
  if (unclosed.has(mark)) return -1;
  for (let at = text.indexOf(mark, from + 1); at !== -1; at = text.indexOf(mark, at + 1)) {
    const before = text[at - 1] ?? " ";
    if (/\s/.test(before) || (before === "\\" && mark !== "``")) continue;
    const end = at + mark.length;
    const suffix =
      mark === "`" ? /^(?:__?|:[\w.+:-]{1,64}:(?!`))/.exec(text.slice(end, end + 70))?.[0] : "";
    const rest = mark === "|" ? /^_{0,2}/.exec(text.slice(end, end + 2))?.[0] : suffix;
    if (isCloser(text, end + (rest ?? "").length) || isCloser(text, end)) return at;
  }
  unclosed.add(mark);
  return -1;
}

/** Copies the text up to `until`, adds `html`, and goes on at `next`. */
export function flush(scan: Scan, until: number, next: number, html: string): void {
  scan.parts.push(escapeHtml(scan.text.slice(scan.from, until)), html);
  scan.from = next;
  scan.at = next;
}

/** The address of a name; "" for a place in the document, undefined for an unknown name. */
export function addressOf({ targets }: Inline, name: string): string | undefined {
  let address = targets.get(nameOf(name));
  for (let hop = 0; hop < 8 && address?.endsWith("_"); hop++) {
    const next = targets.get(nameOf(address.slice(0, -1).replace(/^`(.*)`$/, "$1")));
    if (next === undefined) break;
    address = next;
  }
  return address;
}

/** `text <target>`; where Sphinx needs no blank between them, also `text<target>`. */
export function splitTarget(
  content: string,
  needsBlank = true,
): { text: string; target: string } | undefined {
  const at = content.endsWith(">") ? content.lastIndexOf("<") : -1;
  const before = content[at - 1] ?? " ";
  if (at === -1 || before === "\\" || (needsBlank && !/\s/.test(before))) return undefined;
  const target = content.slice(at + 1, -1);
  return { text: content.slice(0, at).trim() || target, target };
}

/** For a text that is rendered a second time. */
export const repeated = (inline: Inline): Inline => ({
  ...inline,
  nextAnonymous: () => undefined,
  noteTarget: () => undefined,
  noteUnknown: () => undefined,
  footnoteText: (label) => `[${label.replace("#", "")}]`,
});
