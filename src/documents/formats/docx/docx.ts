import type { Parsed } from "../format.ts";
import { pageFromHtml } from "../../page/page.ts";
import { unpack, type Archive } from "../office/archive.ts";
import { readChart, readDiagram } from "../office/graphics.ts";
import {
  countedOut,
  frontMatterIn,
  macrosOut,
  type Office,
  type OfficeFormat,
  officePage,
  readOffice,
  readOptional,
  readPart,
  readRelations,
  type Relations,
} from "../office/package.ts";
import type { Parts } from "./docx-blocks.ts";
import { readBody, readNotes, type Body } from "./docx-body.ts";
import { noNumbering, readNumbering, readStyles, type Styles } from "./docx-styles.ts";

/** The referenced notes as HTML, in the order of their numbers. */
function notesHtml(body: Body, archive: Archive, relations: Relations, parts: Parts): string {
  if (body.notes.size === 0) return "";
  const texts = new Map<string, string>();
  for (const kind of ["footnotes", "endnotes"]) {
    const name = relations.parts.get(kind);
    const bytes = unpack(archive, name);
    if (!bytes || name === undefined) continue;
    const { links } = readRelations(archive, name);
    for (const [key, text] of readNotes(bytes, { ...parts, links })) texts.set(key, text);
  }
  const notes = [...body.notes].map(([key, number]) => [number, texts.get(key) ?? ""] as const);
  return notes.map(([number, html]) => `<aside data-note="${number}">${html}</aside>`).join("");
}

function readParts(office: Office, { parts, byId, links }: Relations): Parts {
  const noStyles: Styles = new Map();
  const diagrams = new Set(byId.keys());
  return {
    styles: readPart(office, parts.get("styles"), "styles, and so headings,", noStyles, readStyles),
    numbering: readPart(
      office,
      parts.get("numbering"),
      "numbers of lists",
      noNumbering,
      readNumbering,
    ),
    links,
    // Each diagram is read once.
    readDiagram: (id) =>
      diagrams.delete(id) ? readPart(office, byId.get(id), "a diagram", [], readDiagram) : [],
    readChart: (id) => readPart(office, byId.get(id), "a chart", [], readChart),
  };
}

function readDocument(office: Office, path: string): Parsed {
  const { archive, main, content, warnings, warn } = office;
  const relations = readRelations(archive, main);
  const parts = readParts(office, relations);
  const body = readBody(content, parts);
  const notes = readOptional(() => notesHtml(body, archive, relations, parts), "", warn("notes"));
  const page = pageFromHtml(body.html + notes, { path });
  const leftOut = [...countedOut("hidden", "hidden text", body.unseen), ...macrosOut(relations)];
  const title = page.headings[body.levels.indexOf(1)]?.text;
  return officePage(page, {
    frontMatter: frontMatterIn(office),
    warnings,
    leftOut,
    title,
    empty: "no text",
  });
}

const word: OfficeFormat = {
  noun: "Word document",
  extension: "docx",
  old: "doc",
  main: "word/document.xml",
  element: "document",
};

/**
 * Reads a Word document (ECMA-376) as Markdown, through HTML: headings by style, links, lists and
 * headings with their numbers, tables, notes, formulas, check boxes, and the words of pictures and
 * diagrams. Skips deleted and hidden text. The document properties become front matter. Throws
 * CliError `usage` with `path`.
 */
export const readDocx = (bytes: Uint8Array, path: string): Promise<Parsed> =>
  readOffice(bytes, path, word, (office) => readDocument(office, path));
