import { createUnreadTest } from "../../text/structure.ts";
import { definition, labelKey } from "../images/image-references.ts";

/** What the links and footnotes of a page refer to, which its sections do not share. */
export interface References {
  /** Addresses with their titles as written, by label. */
  links: ReadonlyMap<string, string>;
  /** Footnotes as written, by name; only those that the page refers to. */
  notes: ReadonlyMap<string, string>;
}

// A footnote ends at a blank line without an indented line after it.
const note =
  /^ {0,3}\[\^([^\]\s]{1,200})\]:[^\n]*(?:\n(?![ \t]|\n|\[)[^\n]+|\n(?:[ \t]*\n)?(?: {2,}|\t)\S[^\n]*)*\n?/gm;
const noteMark = /\[\^([^\]\s]{1,200})\](?!:)/g;
const text = String.raw`(?:\\.|[^\\[\]]){1,999}`;
// `[text][label]`, `[label][]`, `[label]`, and the same around an image.
const plainLink = new RegExp(
  String.raw`(?<!\])\[(${text})\](?:\[((?:\\.|[^\\[\]]){0,999})\])?(?![(:[])`,
  "g",
);
const imageLink = new RegExp(
  String.raw`\[(!\[(?:\\.|[^\\[\]]){0,999}\]\([^()\n]{0,4096}\))\]\[(${text})\]`,
  "g",
);

/** Replaces what is Markdown and no code. `replace` may say that what it replaces ends later. */
function replaceIn(
  source: string,
  pattern: RegExp,
  replace: (match: RegExpExecArray, end: number) => string | { text: string; end: number },
): string {
  const isCode = createUnreadTest(source);
  let result = "";
  let from = 0;
  for (const match of source.matchAll(pattern)) {
    // A definition may begin with blanks, which are no code.
    if (match.index < from || isCode(match.index + match[0].indexOf("["))) continue;
    const matchEnd = match.index + match[0].length;
    const replaced = replace(match, matchEnd);
    const { text: shown, end } =
      typeof replaced === "string" ? { text: replaced, end: matchEnd } : replaced;
    result += source.slice(from, match.index) + shown;
    from = end;
  }
  return result + source.slice(from);
}

// The title may stand on the next line.
const restOfDefinition =
  /(?:[ \t]*(?:\n[ \t]*)?(?:"[^"\n]*"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*(?:\n|$)/y;

/** Without the definitions of links, which are given to `found`: nobody sees them on the page. */
function withoutDefinitions(
  source: string,
  found: (label: string, address: string) => void,
): string {
  if (!source.includes("]:")) return source;
  return replaceIn(source, definition, ({ 0: whole, 1: label = "" }, end) => {
    restOfDefinition.lastIndex = end;
    const rest = restOfDefinition.exec(source)?.[0];
    if (label.startsWith("^") || rest === undefined) return whole;
    const address = whole.slice(whole.indexOf("]:") + 2).trim();
    found(labelKey(label), `${address} ${rest.trim()}`.trim());
    return { text: "", end: end + rest.length };
  });
}

/** Reads the definitions of a page. */
export function readReferences(source: string): References {
  const links = new Map<string, string>();
  const notes = new Map<string, string>();
  withoutDefinitions(source, (label, address) => {
    if (!links.has(label)) links.set(label, address);
  });
  if (source.includes("[^")) {
    const used = new Set([...source.matchAll(noteMark)].map(([, name = ""]) => name));
    replaceIn(source, note, ([whole, name = ""]) => {
      if (used.has(name) && !notes.has(name)) notes.set(name, whole.trimEnd());
      return whole;
    });
  }
  return { links, notes };
}

/**
 * A part of a page that needs no other part: addresses stand in its links, and below its text stand
 * the footnotes that it refers to. The time is linear in the length of the text.
 */
export function withReferences(source: string, { links, notes }: References): string {
  let result = withoutDefinitions(source, () => {});
  const inlined = (whole: string, shown: string, label: string | undefined): string => {
    const address = links.get(labelKey(label === undefined || label === "" ? shown : label));
    return address === undefined ? whole : `[${shown}](${address})`;
  };
  if (links.size > 0 && result.includes("[")) {
    result = replaceIn(result, plainLink, ([whole, shown = "", label]) =>
      inlined(whole, shown, label),
    );
    result = replaceIn(result, imageLink, ([whole, shown = "", label]) =>
      inlined(whole, shown, label),
    );
  }
  if (notes.size === 0) return result;
  result = replaceIn(result, note, ([whole, name = ""]) => (notes.has(name) ? "" : whole));
  const used = new Set([...result.matchAll(noteMark)].map(([, name = ""]) => name));
  const below = [...used].flatMap((name) => notes.get(name) ?? []);
  return below.length === 0 ? result : `${result.trimEnd()}\n\n${below.join("\n")}\n`;
}
