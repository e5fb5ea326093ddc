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
import { readReferences, withReferences } from "./links/references.ts";
import { createImagePlacer, type PlacedImage } from "./images/image-sections.ts";
import { scanStructure, type Structure } from "../text/structure.ts";

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
