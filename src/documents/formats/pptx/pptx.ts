import { pageFromHtml } from "../../page/page.ts";
import type { LeftOut } from "../../text/left-out.ts";
import type { Parsed } from "../format.ts";
import { attributeOf, readTree, readXml, unpack } from "../office/archive.ts";
import { readChart, readDiagram } from "../office/graphics.ts";
import {
  commentsOut,
  countedOut,
  embeddedOut,
  frontMatterIn,
  macrosOut,
  type Office,
  type OfficeFormat,
  officePage,
  readOffice,
  readPart,
  readRelated,
  readRelations,
} from "../office/package.ts";
import { readPlaceholders, readSlide, readSpeakerNotes, type Placeholders } from "./pptx-slide.ts";

/** Reads the places of layouts, each once, followed by those of their masters. */
function createPlaces(office: Office): (layout: string | undefined) => Placeholders[] {
  const known = new Map<string, Placeholders[]>();
  const read = (part: string | undefined, above: string | undefined): Placeholders[] => {
    const found = part === undefined ? [] : known.get(part);
    if (found || part === undefined) return found ?? [];
    const places =
      readRelated(office, part, "a layout", (root, { parts }) => [
        readPlaceholders(root),
        ...(above === undefined ? [] : read(parts.get(above), undefined)),
      ]) ?? [];
    known.set(part, places);
    return places;
  };
  return (layout) => read(layout, "slideMaster");
}

/** A deck while it is read. */
interface Deck {
  office: Office;
  placesOf: (layout: string | undefined) => Placeholders[];
  leftOut: LeftOut[];
}

/** The HTML of a slide; `number` is its place in the deck. Undefined for a hidden or a missing one. */
function slideHtml(deck: Deck, part: string | undefined, number: number): string | undefined {
  const { office, placesOf, leftOut } = deck;
  const bytes = unpack(office.archive, part);
  const root = bytes && readTree(bytes);
  if (!root || part === undefined) {
    office.warn(`slide ${number}`)("the file lacks it");
    return undefined;
  }
  if (/^(?:0|false)$/.test(attributeOf(root, "show") ?? "")) {
    leftOut.push(...countedOut("hidden", "hidden slide", 1));
    return undefined;
  }
  const relations = readRelations(office.archive, part);
  const { parts, byId, links } = relations;
  const { title, html, hidden } = readSlide(root, {
    links,
    placeholders: placesOf(parts.get("slideLayout")),
    readDiagram: (id) => readPart(office, byId.get(id), "a diagram", [], readDiagram),
    readChart: (id) => readPart(office, byId.get(id), "a chart", [], readChart),
  });
  const notes = readRelated(office, parts.get("notesSlide"), "speaker notes", (node, of) =>
    readSpeakerNotes(node, of.links),
  );
  leftOut.push(...countedOut("hidden", "hidden shape", hidden));
  leftOut.push(...embeddedOut(relations, `embedded file of slide ${number}`));
  leftOut.push(...commentsOut(office, relations, "cm", "comment of a slide"));
  const body = html + (notes === undefined || notes === "" ? "" : `<p>Notes:</p>${notes}`);
  if (title === "" && body === "") return undefined;
  // PowerPoint names a slide without a title so.
  return `<h2>${title === "" ? `Slide ${number}` : title}</h2>${body}`;
}

/** The slides in their order, by the ids of their relations (ECMA-376 part 1, 19.2.1.34). Throws XmlError. */
function slideIds(content: Uint8Array): string[] {
  const ids: string[] = [];
  readXml(content, (node, parent) => {
    // `id` is also a number of its own.
    const id = Object.entries(node.attributes).find(([name]) => name.endsWith(":id"))?.[1];
    if (parent === "sldIdLst" && id !== undefined) ids.push(id);
    return node.name !== "presentation";
  });
  return ids;
}

function readDeck(office: Office, path: string): Parsed {
  const { archive, main, content, warnings } = office;
  const relations = readRelations(archive, main);
  const { byId } = relations;
  const leftOut: LeftOut[] = macrosOut(relations);
  const deck: Deck = { office, placesOf: createPlaces(office), leftOut };
  const slides = slideIds(content).map((id, at) => slideHtml(deck, byId.get(id), at + 1));
  // A first slide without a title is no title of the deck.
  const isTitled = slides[0] !== undefined && !slides[0].startsWith("<h2>Slide 1</h2>");
  const page = pageFromHtml(slides.join(""), { path });
  const title = isTitled ? page.headings[0]?.text : undefined;
  return officePage(page, {
    frontMatter: frontMatterIn(office),
    warnings,
    leftOut,
    title,
    empty: "its slides contain no text",
  });
}

const powerPoint: OfficeFormat = {
  noun: "PowerPoint presentation",
  extension: "pptx",
  old: "ppt",
  main: "ppt/presentation.xml",
  element: "presentation",
};

/**
 * Reads a presentation (ECMA-376) as Markdown, through HTML: a slide is a section, in the order of
 * the deck, with its lists, tables, links, formulas, words of pictures, diagrams and charts, and the
 * notes of the speaker. Skips hidden slides, comments, and what masters repeat on each slide. The
 * document properties become front matter. Throws CliError `usage` with `path`.
 */
export const readPptx = (bytes: Uint8Array, path: string): Promise<Parsed> =>
  readOffice(bytes, path, powerPoint, (office) => readDeck(office, path));
