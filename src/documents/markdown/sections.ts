import type { SectionMode } from "../map/rules.ts";
import type { GivenHeading, Page } from "../read/reader.ts";
import type { Section } from "../../api/schemas.ts";
import { anchorsOf, plainText } from "./heading-text.ts";
import type { AnchorStyle } from "../map/settings.ts";
import { createImagePlacer, type PlacedImage } from "../images/image-sections.ts";
import { scanStructure, type Structure } from "./structure.ts";

export interface SectionOptions {
  mode: SectionMode;
  anchors: AnchorStyle;
  maxChars: number | undefined;
  link: string | undefined;
  /** They get sections of their own, each behind the text that first refers to it. */
  images?: readonly PlacedImage[] | undefined;
  /** Headings of the body in order, where they are known already. */
  headings?: readonly GivenHeading[] | undefined;
}

const splitLevels = 3;
const isBlank = (text: string): boolean => text.trim() === "";

/**
 * Text cut where paragraphs begin into parts of at most `maxChars`; a single
 * paragraph, code fence or table that is longer stays whole. The parts put
 * together are the text.
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
    // A heading stays with what follows it.
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

function cut(head: string, body: string, link: string | undefined, maxChars?: number): Section[] {
  if (maxChars === undefined || head.length + body.length <= maxChars) {
    return [withLink(head + body, link)];
  }
  const room = Math.max(1, maxChars - head.length);
  return splitAtParagraphs(body, room).map((part) => withLink(head + trimBlankLines(part), link));
}

/**
 * A section for each page with text. Its link leads to the page; where there is
 * none, or one that already leads into the document, the text begins with which
 * page it is.
 */
export function pageSections(
  pages: readonly Page[],
  { link, maxChars }: Pick<SectionOptions, "link" | "maxChars">,
): Section[] {
  const hasPlace = link === undefined || link.includes("#");
  return pages.flatMap(({ text, label, fragment }) => {
    if (isBlank(text)) return [];
    return hasPlace
      ? cut(`${label}\n\n`, text, link, maxChars)
      : cut("", text, `${link}#${fragment}`, maxChars);
  });
}

interface Piece {
  /** `A > B > C`, one line for each heading that joined; "" above the first heading. */
  path: string;
  body: string;
  anchor: string | undefined;
  /** Where it ends in the text. */
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
  const cuts = structure.headings
    .map((heading, index) => ({ ...heading, ...names[index] }))
    .filter(({ level }) => level <= splitLevels);
  const pieces: Piece[] = [];
  const open: { level: number; text: string }[] = [];
  const before = text.slice(0, cuts[0]?.start ?? text.length);
  if (!isBlank(before)) {
    pieces.push({ path: "", body: before.trim(), anchor: undefined, end: before.length });
  }
  const waiting = new Set<string>();
  for (const [index, { level, text: title, end: headingEnd, anchor }] of cuts.entries()) {
    while ((open.at(-1)?.level ?? 0) >= level) open.pop();
    open.push({ level, text: title });
    const titles = open.map((each) => each.text);
    const path = titles.join(" > ");
    const end = cuts[index + 1]?.start ?? text.length;
    const body = text.slice(headingEnd, end);
    // What already stands in this path need not be said twice.
    for (const count of titles.keys()) waiting.delete(titles.slice(0, count + 1).join(" > "));
    if (isBlank(body)) {
      waiting.add(path);
      continue;
    }
    pieces.push({ path: [...waiting, path].join("\n"), body: trimBlankLines(body), anchor, end });
    waiting.clear();
  }
  const last = pieces.at(-1);
  const left = [...waiting].join("\n");
  // Headings at the end have no next one to join.
  if (left !== "" && last) {
    last.body += `\n\n${left}`;
    last.end = text.length;
  } else if (left !== "") {
    pieces.push({ path: left, body: "", anchor: undefined, end: text.length });
  }
  return pieces;
}

/** Keeps the indentation of the first line: it may be code. */
function trimBlankLines(text: string): string {
  return text.replace(/^(?:[ \t]*\n)+/, "").trimEnd();
}

/**
 * Sections of a Markdown body: the whole, or one for each heading of level 1 to
 * 3 with the path of headings in front; none for a blank body. Nothing of the
 * body but blank lines and heading marks is left out.
 */
export function splitSections(body: string, options: SectionOptions): Section[] {
  const { mode, link, maxChars } = options;
  if (isBlank(body)) return [];
  const placeImages = createImagePlacer(options.images ?? []);
  if (mode === "whole") {
    return [...cut("", body, link, maxChars), ...placeImages(body.length, link)];
  }
  const structure = scanStructure(body);
  const names = namedHeadings(structure, options);
  return splitAtHeadings(body, structure, names).flatMap((piece) => {
    const hasAnchor = link !== undefined && piece.anchor && !link.includes("#");
    const target = hasAnchor ? `${link}#${encodeURIComponent(piece.anchor ?? "")}` : link;
    const head = piece.path === "" ? "" : `${piece.path}\n\n`;
    const texts =
      piece.body === "" ? [withLink(piece.path, target)] : cut(head, piece.body, target, maxChars);
    return [...texts, ...placeImages(piece.end, target)];
  });
}
