import type { Parsed } from "../format.ts";
import { pageFromHtml } from "../../page/page.ts";
import {
  ProtectedError,
  readXml,
  textIn,
  unpack,
  ZipError,
  type Archive,
} from "../office/archive.ts";
import { countedOut, officePage, type Packed, readPacked, readPart } from "../office/package.ts";
import { frontMatterOf, type Properties } from "../properties.ts";
import { readBody } from "./odt-body.ts";
import { takeStyle, type Styles } from "./odt-styles.ts";

const noun = "OpenDocument text";
const textType = "application/vnd.oasis.opendocument.text";

/** Refuses a file with a password, and other documents (OpenDocument 1.3 part 2, 3). Throws ZipError. */
function refuseOthers(archive: Archive): void {
  const manifest = Buffer.from(unpack(archive, "META-INF/manifest.xml") ?? []).toString("utf8");
  if (/<(?:[\w.-]+:)?encryption-data\b|encrypted-package/.test(manifest)) {
    throw new ProtectedError("it is protected by a password");
  }
  const type = Buffer.from(unpack(archive, "mimetype") ?? textType)
    .toString("utf8")
    .trim();
  if (!type.startsWith(textType)) throw new ZipError(`it is no ${noun}`);
}

/** Reads meta.xml (OpenDocument 1.3 part 3, 4.3). Throws XmlError. */
function readProperties(bytes: Uint8Array): Properties {
  const texts = new Map<string, string>();
  readXml(bytes, (node, parent) => {
    // Keywords stand one by one.
    const before = texts.get(node.name);
    if (parent === "meta")
      texts.set(node.name, before ? `${before};${textIn(node)}` : textIn(node));
    return parent === "meta";
  });
  return {
    title: texts.get("title"),
    // `creator` is who saved it last.
    author: texts.get("initial-creator") ?? texts.get("creator"),
    updated: texts.get("date"),
    keywords: texts.get("keyword"),
    subject: texts.get("subject"),
  };
}

function readStyles(bytes: Uint8Array): Styles {
  const styles: Styles = { styles: new Map(), lists: new Map(), outline: new Map() };
  readXml(bytes, (node, parent) => parent === "styles" && takeStyle(styles, node, parent));
  return styles;
}

function readDocument(packed: Packed, path: string): Parsed {
  const { archive, warnings } = packed;
  refuseOthers(archive);
  const content = unpack(archive, "content.xml");
  if (!content) throw new ZipError(`it contains no content.xml: it is no ${noun}`);
  const none: Styles = { styles: new Map(), lists: new Map(), outline: new Map() };
  const styles = readPart(packed, "styles.xml", "styles, and so headings,", none, readStyles);
  const body = readBody(content, styles, archive);
  const properties = readPart(packed, "meta.xml", "properties", {}, readProperties);
  const page = pageFromHtml(body.html, { path });
  const title = page.headings[body.levels.indexOf(1)]?.text;
  const leftOut = [
    ...countedOut("hidden", "hidden text", body.unseen),
    ...countedOut("comment", "comment", body.comments),
  ];
  return officePage(page, {
    frontMatter: frontMatterOf(properties),
    warnings,
    leftOut,
    title,
    empty: "no text",
  });
}

/**
 * Reads an OpenDocument text (OASIS OpenDocument 1.3) as Markdown, through HTML: headings and lists
 * with their numbers, links, tables, notes, formulas, text boxes, and the words of pictures. Skips
 * deleted and hidden text, comments and indexes. The document properties become front matter. Throws
 * CliError `usage` with `path`.
 */
export const readOdt = (bytes: Uint8Array, path: string): Promise<Parsed> =>
  readPacked(bytes, path, { noun, extension: "odt" }, (packed) => readDocument(packed, path));
