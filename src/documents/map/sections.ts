import type { SectionMode } from "./settings.ts";
import type { Page } from "../formats/format.ts";
import {
  type AnchorStyle,
  anchorsOf,
  type GivenHeading,
  plainText,
  withoutOwnIds,
} from "../text/heading-text.ts";
import type { Section } from "../../api/schemas.ts";
import { createImagePlacer, type PlacedImage } from "./images/image-sections.ts";
import { scanStructure, type Structure, createUnreadTest } from "../text/structure.ts";
import { definition, labelKey } from "./images/image-references.ts";

/** What the links and footnotes of a page refer to, which its sections do not share. */
interface References {
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
function readReferences(source: string): References {
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
function withReferences(source: string, { links, notes }: References): string {
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

export interface SectionOptions {
  mode: SectionMode;
  anchors: AnchorStyle;
  maxChars: number | undefined;
  link: string | undefined;
  /** Each image becomes a section, after the text that first refers to it. */
  images?: readonly PlacedImage[] | undefined;
  /** Headings of the body in order, if they are already known. */
  headings?: readonly GivenHeading[] | undefined;
}

const splitLevels = 3;
const isBlank = (text: string): boolean => text.trim() === "";

/**
 * Splits a text at paragraph starts into parts of at most `maxChars`. A longer paragraph, code
 * fence or table stays whole. Drops only blank parts.
 */
function splitAtParagraphs(text: string, maxChars: number): string[] {
  const structure = scanStructure(text);
  const headings = new Set(structure.headings.map((heading) => heading.end));
  const parts: string[] = [];
  let from = 0;
  let end = 0;
  const starts = [...structure.paragraphs, text.length];
  for (const [index, start] of starts.entries()) {
    if (start === 0) continue;
    // A heading stays with the text below it.
    const before = text.slice(0, start).trimEnd().length;
    const isBelowHeading = headings.has(Math.min(before + 1, text.length));
    if (start - from > maxChars && end > from) {
      parts.push(text.slice(from, end));
      from = end;
    }
    if (!isBelowHeading || index === starts.length - 1) end = start;
  }
  parts.push(text.slice(from));
  return parts.filter((part) => !isBlank(part));
}

function withLink(text: string, link: string | undefined): Section {
  return link === undefined ? { text } : { text, link };
}

function toSections(
  head: string,
  body: string,
  link: string | undefined,
  maxChars?: number,
): Section[] {
  if (maxChars === undefined || head.length + body.length <= maxChars) {
    return [withLink(head + body, link)];
  }
  const room = Math.max(1, maxChars - head.length);
  return splitAtParagraphs(body, room).map((part) => withLink(head + trimBlankLines(part), link));
}

/**
 * Creates a section for each page with text. Its link leads to the page. Without a link, or if the
 * link already has a fragment, the text begins with the label of the page.
 */
export function pageSections(
  pages: readonly Page[],
  { link, maxChars }: Pick<SectionOptions, "link" | "maxChars">,
): Section[] {
  const hasPlace = link === undefined || link.includes("#");
  return pages.flatMap(({ text, label, fragment }) => {
    if (isBlank(text)) return [];
    if (hasPlace) return toSections(label === "" ? "" : `${label}\n\n`, text, link, maxChars);
    return toSections("", text, fragment === "" ? link : `${link}#${fragment}`, maxChars);
  });
}

interface Piece {
  /** `A > B > C`, one line for each merged heading; "" above the first heading. */
  path: string;
  body: string;
  anchor: string | undefined;
  /** End offset in the text. */
  end: number;
}

function namedHeadings({ headings }: Structure, options: SectionOptions): readonly GivenHeading[] {
  if (options.headings?.length === headings.length) return options.headings;
  const anchors = anchorsOf(headings, options.anchors);
  return headings.map(({ text }, index) => ({ text: plainText(text), anchor: anchors[index] }));
}

function splitAtHeadings(
  text: string,
  structure: Structure,
  names: readonly GivenHeading[],
): Piece[] {
  const references = readReferences(text);
  const bodyOf = (start: number, end: number): string =>
    withoutOwnIds(withReferences(text.slice(start, end), references));
  const cuts = structure.headings
    .map((heading, index) => ({ ...heading, ...names[index] }))
    .filter(({ level }) => level <= splitLevels);
  const pieces: Piece[] = [];
  const open: { level: number; text: string }[] = [];
  const first = cuts[0]?.start ?? text.length;
  const preamble = bodyOf(0, first);
  if (!isBlank(preamble)) {
    pieces.push({ path: "", body: preamble.trim(), anchor: undefined, end: first });
  }
  const withoutBody = new Set<string>();
  for (const [index, { level, text: title, end: headingEnd, anchor }] of cuts.entries()) {
    while ((open.at(-1)?.level ?? 0) >= level) open.pop();
    open.push({ level, text: title });
    const titles = open.map((each) => each.text);
    const path = titles.join(" > ");
    const end = cuts[index + 1]?.start ?? text.length;
    const body = bodyOf(headingEnd, end);
    // This path already contains these headings.
    for (const count of titles.keys()) withoutBody.delete(titles.slice(0, count + 1).join(" > "));
    if (isBlank(body)) {
      withoutBody.add(path);
      continue;
    }
    pieces.push({
      path: [...withoutBody, path].join("\n"),
      body: trimBlankLines(body),
      anchor,
      end,
    });
    withoutBody.clear();
  }
  const last = pieces.at(-1);
  const remaining = [...withoutBody].join("\n");
  // Headings without text at the end have no next piece to join.
  if (remaining !== "" && last) {
    last.body += `\n\n${remaining}`;
    last.end = text.length;
  } else if (remaining !== "") {
    pieces.push({ path: remaining, body: "", anchor: undefined, end: text.length });
  }
  return pieces;
}

/** Keeps the indentation of the first line: it may be code. */
function trimBlankLines(text: string): string {
  return text.replace(/^(?:[ \t]*\n)+/, "").trimEnd();
}

// A "+" stands for itself in the fragment of an address.
const encodeAnchor = (anchor: string): string => encodeURIComponent(anchor).replaceAll("%2B", "+");

/**
 * Splits a Markdown body into sections: the whole body, or one section for each heading of level 1
 * to 3, with the path of headings first. A blank body has no section. Drops only blank lines and
 * heading marks.
 */
export function splitSections(body: string, options: SectionOptions): Section[] {
  const { mode, link, maxChars } = options;
  if (isBlank(body)) return [];
  const placeImages = createImagePlacer(options.images ?? []);
  if (mode === "whole") {
    const text = withoutOwnIds(body);
    return [...toSections("", text, link, maxChars), ...placeImages(body.length, link)];
  }
  const structure = scanStructure(body);
  const names = namedHeadings(structure, options);
  return splitAtHeadings(body, structure, names).flatMap((piece) => {
    const hasAnchor = link !== undefined && piece.anchor && !link.includes("#");
    const target = hasAnchor ? `${link}#${encodeAnchor(piece.anchor ?? "")}` : link;
    const head = piece.path === "" ? "" : `${piece.path}\n\n`;
    const texts =
      piece.body === ""
        ? [withLink(piece.path, target)]
        : toSections(head, piece.body, target, maxChars);
    return [...texts, ...placeImages(piece.end, target)];
  });
}
