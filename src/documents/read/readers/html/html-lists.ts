import { boundary, type Draft, type List } from "./html-draft.ts";
import { readTokens, type Open, type Token } from "./html-tokens.ts";

// HTML Standard, "rules for parsing integers".
function integerIn(attributes: Open["attributes"], name: string): number | undefined {
  const text = /^\s*([+-]?\d{1,9})(?!\d)/.exec(attributes.get(name) ?? "")?.[1];
  return text === undefined ? undefined : Number(text);
}

const letters = (number: number): string => {
  let text = "";
  for (let rest = number; rest > 0; rest = Math.floor((rest - 1) / 26)) {
    text = String.fromCharCode(97 + ((rest - 1) % 26)) + text;
  }
  return text || String(number);
};

const romanSigns = "m1000 cm900 d500 cd400 c100 xc90 l50 xl40 x10 ix9 v5 iv4 i1"
  .split(" ")
  .map((each) => [each.replace(/\d+/, ""), Number(each.replace(/\D+/, ""))] as const);

function roman(number: number): string {
  if (number < 1 || number > 3999) return String(number);
  let rest = number;
  return romanSigns
    .map(([sign, value]) => {
      const times = Math.floor(rest / value);
      rest %= value;
      return sign.repeat(times);
    })
    .join("");
}

const upper =
  (shown: List["shown"]): List["shown"] =>
  (number) =>
    shown(number).toUpperCase();

// HTML Standard, "The ol element", attribute `type`; CSS Counter Styles 3, 6.1 and 6.2.
const styles: Readonly<Record<string, List["shown"]>> = {
  a: letters,
  A: upper(letters),
  i: roman,
  I: upper(roman),
};
const cssStyle =
  /(?:^|;)\s*list-style(?:-type)?\s*:[^;]{0,100}?\b(lower|upper)-(alpha|latin|roman)\b/i;

function shownIn(attributes: Open["attributes"]): List["shown"] {
  const [, size, kind = ""] = cssStyle.exec(attributes.get("style") ?? "") ?? [];
  const letter = /roman/i.test(kind) ? "i" : "a";
  const css = size && (/upper/i.test(size) ? letter.toUpperCase() : letter);
  return styles[css ?? attributes.get("type") ?? ""] ?? String;
}

export const listElements: ReadonlySet<string> = new Set(["ol", "ul", "menu"]);
const isReversed = (token: Token): token is Open =>
  token.kind === "open" && token.name === "ol" && token.attributes.has("reversed");

/** The numbers of items of the reversed lists, in order. */
function countReversed(tokens: Iterable<Token>): number[] {
  const counts: number[] = [];
  const open: (number | undefined)[] = [];
  for (const token of tokens) {
    if (token.kind === "close" && listElements.has(token.name)) open.pop();
    if (token.kind !== "open") continue;
    if (listElements.has(token.name)) open.push(isReversed(token) ? counts.push(0) - 1 : undefined);
    const list = token.name === "li" ? open.at(-1) : undefined;
    if (list !== undefined) counts[list] = (counts[list] ?? 0) + 1;
  }
  return counts;
}

/** The tokens of a text where each reversed list says with which number it starts: that of its items. */
export function* withStarts(text: string): Generator<Token> {
  const counts = /\sreversed/i.test(text) ? countReversed(readTokens(text)) : [];
  let next = 0;
  for (const token of readTokens(text)) {
    if (!isReversed(token)) yield token;
    else {
      const start = ["start", String(counts[next++])] as const;
      yield { ...token, attributes: new Map([start, ...token.attributes]) };
    }
  }
}

export function openList(draft: Draft, { name, attributes }: Open): void {
  boundary(draft);
  if (draft.lists.length === 0) draft.groups++;
  const step = attributes.has("reversed") ? -1 : 1;
  const last = name === "ol" ? (integerIn(attributes, "start") ?? 1) - step : undefined;
  draft.lists.push({ last, step, shown: shownIn(attributes) });
}

/** Opens an item, with its number if the page gives it. */
export function openItem(draft: Draft, { attributes }: Open): void {
  draft.heading = undefined;
  boundary(draft);
  const list = draft.lists.at(-1);
  draft.mark = "- ";
  if (list?.last !== undefined) {
    list.last = integerIn(attributes, "value") ?? list.last + list.step;
    draft.mark = `${list.shown(list.last)}. `;
  }
  if (draft.isInRow) draft.mark = "";
}
