import {
  asCode,
  emphasised,
  imagePieces,
  linked,
  oneLine,
  textPiece,
  type MarkText,
} from "./pieces.ts";
import { mathText } from "./math.ts";
import { raised } from "./raised.ts";
import { attributeOf, isElement, textOf, walkTree, type PageNode } from "./tree.ts";
import { addChildren, addSpan, type Writer } from "./writer.ts";

const markOf: Readonly<Record<string, MarkText>> = {
  b: "**",
  strong: "**",
  i: "*",
  em: "*",
  del: "~~",
  s: "~~",
  strike: "~~",
};

// The signs of links from a place to itself.
const selfSign = /^[\s¶§🔗]*$/u;
const headingSign = /^[\s#¶§🔗]*$/u;

function addLink(writer: Writer, node: PageNode): void {
  const href = attributeOf(node, "href");
  if (href === undefined) return addChildren(writer, node);
  const isOwn = href.startsWith("#");
  const shown = isOwn ? textOf(node, writer.omitted) : "x";
  if ((writer.isHeading ? headingSign : selfSign).test(shown) && !hasImage(node)) return;
  const target = resolved(href, writer.base);
  addSpan(writer, node, (pieces, span) => {
    // The link of a heading to a place of the page adds nothing.
    if (isOwn && writer.isHeading) return [...pieces];
    const { pieces: made, isText } = linked(pieces, target);
    // Only the first block of a link is its text.
    if (isText) span.goesOn = false;
    return made;
  });
}

function hasImage(node: PageNode): boolean {
  let found = false;
  walkTree(node, (each) => {
    found ||= isElement(each) && each.localName === "img";
    return !found;
  });
  return found;
}

/** An address of the page from its `<base>`. */
function resolved(href: string, base: string | undefined): string {
  if (base === undefined || /^(?:#|[A-Za-z][A-Za-z\d+.-]*:)/.test(href.trim())) return href;
  try {
    if (/^[a-z]+:/i.test(base)) return new URL(href, base).href;
    const { pathname, search, hash } = new URL(href, new URL(base, "http://x/"));
    const path = base.startsWith("/") || href.startsWith("/") ? pathname : pathname.slice(1);
    return base.startsWith("..") ? href : path + search + hash;
  } catch {
    return href;
  }
}

function addImage(writer: Writer, node: PageNode): void {
  const source = attributeOf(node, "src");
  const address = source === undefined ? undefined : resolved(source, writer.base);
  for (const piece of imagePieces(address, attributeOf(node, "alt") ?? "")) {
    writer.inline.push(piece);
  }
}

/** Adds what an abbreviation stands for, at its first place on the page. */
function addAbbreviation(writer: Writer, node: PageNode): void {
  addChildren(writer, node);
  const title = oneLine(attributeOf(node, "title") ?? "");
  if (title === "" || writer.isHeading || writer.abbreviations.has(title)) return;
  writer.abbreviations.add(title);
  writer.inline.push(textPiece(` (${title})`));
}

/** Raised text, or the reference to a note. */
function addSuperscript(writer: Writer, node: PageNode): void {
  const note = attributeOf(node, "data-note");
  if (note === undefined) return addRaised(writer, node);
  writer.inline.push({
    kind: "raw",
    text: `[^${note}]`,
    plain: writer.isHeading ? "" : `[^${note}]`,
  });
}

/** Raised text as characters of a line. The link to a note is not part of a number. */
function addRaised(writer: Writer, node: PageNode): void {
  addSpan(writer, node, (pieces) => {
    const texts = pieces.map((piece) => (piece.kind === "text" ? piece.text : undefined));
    const isPlain = pieces.length > 0 && texts.every((each) => each !== undefined);
    return isPlain ? [textPiece(raised(texts.join("")))] : [...pieces];
  });
}

function addCheckbox(writer: Writer, node: PageNode): void {
  if (!/^checkbox$/i.test(attributeOf(node, "type") ?? "")) return;
  const isOn = attributeOf(node, "checked") !== undefined;
  writer.inline.push(textPiece(isOn ? "☒ " : "☐ "));
}

type Handler = (writer: Writer, node: PageNode) => void;

/** Inline elements that mean something. */
const inlineHandlers: Readonly<Record<string, Handler>> = {
  br: ({ inline, isLine }) => void inline.push(isLine ? textPiece(" ") : { kind: "break" }),
  img: addImage,
  a: addLink,
  abbr: addAbbreviation,
  sup: addSuperscript,
  input: addCheckbox,
  math: (writer, node) => void writer.inline.push(textPiece(mathText(node))),
  rp() {},
  rt(writer, node) {
    writer.inline.push(textPiece(" ("));
    addChildren(writer, node);
    writer.inline.push(textPiece(")"));
  },
};

// https://html.spec.whatwg.org/multipage/obsolete.html: `tt` was code before HTML 5.
const codeNames = /^(?:code|samp|tt)$/;

/** Writes an inline element. */
export function addInline(writer: Writer, node: PageNode): void {
  const { localName: name } = node;
  const handler = Object.hasOwn(inlineHandlers, name) ? inlineHandlers[name] : undefined;
  if (handler) return handler(writer, node);
  const mark = Object.hasOwn(markOf, name) ? markOf[name] : undefined;
  if (codeNames.test(name)) return addSpan(writer, node, (pieces) => asCode(pieces));
  const isOpen = writer.spans.some((span) => span.node.localName === name);
  if (mark === undefined || isOpen || (writer.isHeading && mark !== "~~")) {
    return addChildren(writer, node);
  }
  addSpan(writer, node, (pieces) => emphasised(pieces, mark));
}
