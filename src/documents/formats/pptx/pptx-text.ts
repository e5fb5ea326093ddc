import { numberStyles } from "../../page/lists.ts";
import { destination } from "../../page/pieces.ts";
import { escapeAttribute } from "../../page/tree.ts";
import {
  attributeOf,
  childOf,
  elementsIn,
  propertiesIn,
  textIn,
  type XmlNode,
} from "../office/archive.ts";
import { addBlock, type Container } from "../office/blocks.ts";
import { mathMl } from "../office/math.ts";
import { joinRuns, runHtml, type Run } from "../office/run-text.ts";

/** What stands before a paragraph. */
type Marker = "none" | "bullet" | { scheme: string; start: number };

/** The markers of the levels of a list style, from level 0. */
export type Levels = readonly (Marker | undefined)[];

/** How a text is read. */
export interface TextStyle {
  /** Where the marker of a level is looked up, first choice first. */
  levels: readonly Levels[];
  /** Addresses by the relation of a link. */
  links: ReadonlyMap<string, string>;
}

const deepest = 8;

function markerIn(properties: XmlNode): Marker | undefined {
  for (const each of elementsIn(properties)) {
    if (each.name === "buNone") return "none";
    if (each.name === "buChar" || each.name === "buBlip") return "bullet";
    if (each.name !== "buAutoNum") continue;
    const start = Number(/^\d{1,5}$/.exec(attributeOf(each, "startAt") ?? "")?.[0] ?? 1);
    return { scheme: attributeOf(each, "type") ?? "", start };
  }
  return undefined;
}

/** The markers of a list style (ECMA-376 part 1, 21.1.2.4.12). */
export function levelsIn(style: XmlNode | undefined): Levels {
  const levels: (Marker | undefined)[] = [];
  for (const each of style ? elementsIn(style) : []) {
    const level = /^lvl([1-9])pPr$/.exec(each.name)?.[1];
    if (level !== undefined) levels[Number(level) - 1] = markerIn(each);
  }
  return levels;
}

// ECMA-376 part 1, 20.1.10.61; other schemes are shown as digits.
const schemes: Readonly<Record<string, (number: number) => string>> = {
  alphaLc: numberStyles.a,
  alphaUc: numberStyles.A,
  romanLc: numberStyles.i,
  romanUc: numberStyles.I,
};

function labelOf(scheme: string, number: number): string {
  const text = (schemes[scheme.slice(0, 7)] ?? String)(number);
  if (scheme.endsWith("ParenBoth")) return `(${text})`;
  if (scheme.endsWith("ParenR")) return `${text})`;
  return scheme.endsWith("Plain") ? text : `${text}.`;
}

/** The font of a text. That of signs goes on after a sign, where it means nothing for letters. */
function fontOf(properties: XmlNode, text: string): string | undefined {
  const isSign = /^[\s\u00a1-\u00ff]+$/.test(text);
  const font = (isSign ? childOf(properties, "sym") : undefined) ?? childOf(properties, "latin");
  return font && attributeOf(font, "typeface");
}

function runOf(properties: XmlNode | undefined, text: string): Run {
  const is = (name: string): boolean =>
    /^(?:1|true)$/.test((properties && attributeOf(properties, name)) ?? "");
  const raised = Number((properties && attributeOf(properties, "baseline"))?.replace("%", "") ?? 0);
  return {
    isHidden: false,
    isBold: is("b"),
    isItalic: is("i"),
    isStruck: /^(?:sng|dbl)Strike$/.test((properties && attributeOf(properties, "strike")) ?? ""),
    isCode: false,
    vertical: raised > 0 ? "superscript" : raised < 0 ? "subscript" : undefined,
    font: properties && fontOf(properties, text),
  };
}

function addressOf(properties: XmlNode | undefined, { links }: TextStyle): string | undefined {
  const link = properties && childOf(properties, "hlinkClick");
  const href = link && links.get(attributeOf(link, "id") ?? "");
  return destination(href) === undefined ? undefined : href;
}

/** A paragraph as HTML: its runs, breaks, fields and formulas. */
function inlineHtml(paragraph: XmlNode, style: TextStyle): string {
  let html = "";
  let open: string | undefined;
  // Programs split a link at each change of its text.
  const goTo = (href: string | undefined): void => {
    if (href === open) return;
    if (open !== undefined) html += "</a>";
    if (href !== undefined) html += `<a href="${escapeAttribute(href)}">`;
    open = href;
  };
  const add = (node: XmlNode): void => {
    const { name } = node;
    const properties = childOf(node, "rPr");
    if (name === "br") html += "<br>";
    else if (name === "oMath") html += `<math>${mathMl(node)}</math>`;
    else if (name === "r" || (name === "fld" && attributeOf(node, "type") !== "slidenum")) {
      goTo(addressOf(properties, style));
      const inner = childOf(node, "t");
      const text = inner ? textIn(inner) : "";
      html += runHtml(runOf(properties, text), text);
    } else if (/^(?:m|oMathPara|AlternateContent|Choice)$/.test(name))
      elementsIn(node).forEach(add);
  };
  elementsIn(paragraph).forEach(add);
  goTo(undefined);
  return joinRuns(html);
}

const isBlank = (html: string): boolean => html.replace(/<(?!math)[^>]*>/g, "").trim() === "";

/** Adds the paragraphs of a text: those with a marker are items of lists. */
export function addText(container: Container, body: XmlNode, style: TextStyle): void {
  const own = levelsIn(childOf(body, "lstStyle"));
  const levels = [own, ...style.levels];
  let numbers: { scheme: string; number: number }[] = [];
  for (const paragraph of elementsIn(body)) {
    const html = paragraph.name === "p" ? inlineHtml(paragraph, style) : "";
    if (isBlank(html)) continue;
    const properties = childOf(paragraph, "pPr");
    const level = Number((properties && attributeOf(properties, "lvl")) ?? 0);
    const depth = Number.isInteger(level) ? Math.min(deepest, Math.max(0, level)) : 0;
    const given = properties && markerIn(properties);
    const marker = given ?? levels.find((each) => each[depth] !== undefined)?.[depth] ?? "none";
    const last = numbers[depth];
    numbers = numbers.slice(0, depth);
    if (marker === "none") addBlock(container, `<p>${html}</p>`);
    else if (marker === "bullet") container.items.push({ depth, label: "", html });
    else {
      const { scheme, start } = marker;
      const number = last?.scheme === scheme ? last.number + 1 : start;
      numbers[depth] = { scheme, number };
      container.items.push({ depth, label: labelOf(scheme, number), html });
    }
  }
}

/** Texts of a node with paragraphs, as HTML of one line. */
export const lineHtml = (body: XmlNode, style: TextStyle): string =>
  elementsIn(body)
    .filter(({ name }) => name === "p")
    .map((paragraph) => inlineHtml(paragraph, style))
    .filter((html) => !isBlank(html))
    .join(" ");

/** The list style of a placeholder. */
export const levelsOfShape = (shape: XmlNode): Levels =>
  levelsIn(propertiesIn(shape, "txBody").find(({ name }) => name === "lstStyle"));
