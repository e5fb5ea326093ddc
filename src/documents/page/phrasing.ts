import { withLoneBlanks } from "../text/blanks.ts";
import {
  asCode,
  emphasised,
  imagePieces,
  linked,
  oneLine,
  textPiece,
  type MarkText,
} from "./pieces.ts";
import {
  attributeOf,
  isElement,
  textOf,
  walkTree,
  type PageNode,
  childrenOf,
  isText,
} from "./tree.ts";
import { addChildren, addSpan, type Writer } from "./writer.ts";

const signs = new Map(
  Object.entries({
    ...Object.fromEntries(Array.from("⁰¹²³⁴⁵⁶⁷⁸⁹", (sign, digit) => [digit, sign])),
    "+": "⁺",
    "-": "⁻",
    "−": "⁻",
    "=": "⁼",
    "(": "⁽",
    ")": "⁾",
    n: "ⁿ",
    i: "ⁱ",
  }),
);

// 1st, 2e, nº, TM: they read the same in line with the text before.
const sameInLine = new Set(
  "st nd rd th e er ers ère re res ème o os a as r d de le me mes gr tm sm".split(" "),
);
const longest = 20;

/**
 * Raised text as characters in a line: 10 and a raised 6 are 10⁶, not 106. What has no raised
 * characters gets a `^`. Marks of notes in brackets, other signs and whole words stay as they are.
 */
function raised(text: string): string {
  const inner = text.trim();
  const characters = Array.from(inner, (each) => signs.get(each));
  if (characters.every((each) => each !== undefined)) {
    return text.replace(inner, characters.join(""));
  }
  if (/^\p{L}{4,}$/u.test(inner)) return text;
  const isShort = /^[^\s[\](){}]+$/.test(inner) && inner.length <= longest;
  if (!isShort || !/[\p{L}\p{N}]/u.test(inner) || sameInLine.has(inner.toLowerCase())) return text;
  return text.replace(inner, () => (characters.length === 1 ? `^${inner}` : `^(${inner})`));
}

/** A part of a formula in brackets, unless it is one sign, number or name. */
const grouped = (text: string): string =>
  /^(?:[\p{L}\p{N}.,]+|.)$/u.test(text) ? text : `(${text})`;

function partsOf(node: PageNode): string[] {
  return [...childrenOf(node)].filter(isElement).map((child) => written(child));
}

const isScript = /^m(?:frac|root|sqrt|su[bp]|subsup|under|over|underover)$/;

/** A factor stands apart from one with a power, an index or a fraction. */
function inRow(node: PageNode): string {
  let text = "";
  let wasScript = false;
  for (const child of childrenOf(node)) {
    if (!isElement(child) && !isText(child)) continue;
    const part = isText(child) ? child.data.trim() : written(child);
    const script = isElement(child) && isScript.test(child.localName);
    const isApart =
      (script || wasScript) && /[\p{L}\p{N})]$/u.test(text) && /^[\p{L}\p{N}√(]/u.test(part);
    text += `${isApart ? " " : ""}${part}`;
    wasScript = part === "" ? wasScript : script;
  }
  return text;
}

// Relations and sums are easier to read between blanks.
const spaced = /^[=<>≤≥≠≈≡→←⇒⇔±+∈∉⊂⊆∪∩:]$/u;

const handlers: Readonly<Record<string, (node: PageNode) => string>> = {
  mo(node) {
    const sign = textOf(node).trim();
    return spaced.test(sign) ? ` ${sign} ` : sign;
  },
  mtext: (node) => textOf(node),
  mspace: () => " ",
  mfrac(node) {
    const [top = "", bottom = ""] = partsOf(node);
    return `${grouped(top)}/${grouped(bottom)}`;
  },
  msqrt: (node) => `√${grouped(inRow(node))}`,
  mroot(node) {
    const [inner = "", degree = ""] = partsOf(node);
    return `${raised(degree).trim()}√${grouped(inner)}`;
  },
  msup(node) {
    const [base = "", power = ""] = partsOf(node);
    return `${base}^${grouped(power)}`;
  },
  msub(node) {
    const [base = "", index = ""] = partsOf(node);
    return `${base}_${grouped(index)}`;
  },
  msubsup(node) {
    const [base = "", index = "", power = ""] = partsOf(node);
    return `${base}_${grouped(index)}^${grouped(power)}`;
  },
  mtable: (node) => partsOf(node).join("; "),
  mtr: (node) => partsOf(node).join(", "),
  semantics: (node) => partsOf(node)[0] ?? "",
  annotation: () => "",
};
const sameAs: Readonly<Record<string, string>> = {
  munder: "msub",
  mover: "msup",
  munderover: "msubsup",
};

function written(node: PageNode): string {
  const name = sameAs[node.localName] ?? node.localName;
  const handler = Object.hasOwn(handlers, name) ? handlers[name] : undefined;
  return handler ? handler(node) : inRow(node);
}

/** A formula of MathML in one line, as a person types it: `E = mc^2`, `a/b`, `√x`. */
function mathText(node: PageNode): string {
  return ` ${withLoneBlanks(written(node)).trim()} `;
}

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
