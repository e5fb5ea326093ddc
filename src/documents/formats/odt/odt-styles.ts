import { numberStyles } from "../../page/lists.ts";
import { attributeOf, elementsIn, type XmlNode } from "../office/archive.ts";
import type { Run } from "../office/run-text.ts";

/** What a style says; a member is undefined where it says nothing. */
interface Style {
  parent: string | undefined;
  /** Whether it belongs to one place: the author formatted that place, not a kind of paragraph. */
  isAutomatic: boolean;
  /** From 1; 0 for no heading. */
  heading?: number | undefined;
  /** The list of its paragraphs; "" for none. */
  list?: string | undefined;
  isHidden?: boolean;
  isBold?: boolean;
  isItalic?: boolean;
  isStruck?: boolean;
  vertical?: "superscript" | "subscript" | undefined;
  font?: string | undefined;
}

/** A level of a list: how its numbers look. */
interface Level {
  /** `1`, `a`, `A`, `i` or `I`; "" for no number. */
  format: string;
  start: number;
  /** `%1%.%2%`: the numbers of the levels. */
  text: string;
}

type Levels = ReadonlyMap<number, Level>;

/** The styles of a document (OpenDocument 1.3 part 3, 16) by family and name: `paragraph P1`. */
export interface Styles {
  styles: Map<string, Style>;
  lists: Map<string, Levels>;
  /** The numbers of headings. */
  outline: Levels;
}

export const numberIn = (node: XmlNode, name: string): number | undefined => {
  const value = attributeOf(node, name);
  return value !== undefined && /^\d{1,9}$/.test(value) ? Number(value) : undefined;
};

const maxChain = 20;

function takeText(style: Style, node: XmlNode): void {
  const display = attributeOf(node, "display");
  if (display !== undefined) style.isHidden = display === "none";
  const weight = attributeOf(node, "font-weight");
  if (weight !== undefined) style.isBold = weight === "bold" || Number(weight) >= 600;
  const slope = attributeOf(node, "font-style");
  if (slope !== undefined) style.isItalic = slope !== "normal";
  const line = attributeOf(node, "text-line-through-style");
  if (line !== undefined) style.isStruck = line !== "none";
  // 16.27.29: `super 58%`, or a share of the height of the font.
  const position = attributeOf(node, "text-position");
  if (position !== undefined) {
    const isRaised = /^(?:super|[1-9])/.test(position);
    style.vertical = isRaised
      ? "superscript"
      : /^(?:sub|-)/.test(position)
        ? "subscript"
        : undefined;
  }
  const font = attributeOf(node, "font-name") ?? attributeOf(node, "font-family");
  if (font !== undefined) style.font = font.replace(/^['"]|['"]$/g, "");
}

function levelOf(node: XmlNode): Level {
  const format = attributeOf(node, "num-format") ?? "";
  const prefix = attributeOf(node, "num-prefix") ?? "";
  const suffix = attributeOf(node, "num-suffix") ?? "";
  const last = numberIn(node, "level") ?? 1;
  const count = Math.min(last, numberIn(node, "display-levels") ?? 1);
  const places = Array.from(
    { length: Math.min(10, count) },
    (_, at) => `%${last - count + 1 + at}%`,
  );
  return {
    format,
    start: numberIn(node, "start-value") ?? 1,
    // LibreOffice since 7.0 writes the whole text as well.
    text: (attributeOf(node, "num-list-format") ?? prefix + places.join(".") + suffix).slice(
      0,
      100,
    ),
  };
}

const isNumbered = /^(?:list-level-style-number|outline-level-style)$/;

const levelsOf = (node: XmlNode): Levels =>
  new Map(
    elementsIn(node)
      .filter(({ name }) => isNumbered.test(name))
      .map((level) => [numberIn(level, "level") ?? 1, levelOf(level)]),
  );

/** Adds a style that ends in a file; false for other elements. */
export function takeStyle(to: Styles, node: XmlNode, parent: string): boolean {
  const isAutomatic = parent === "automatic-styles";
  if (!isAutomatic && parent !== "styles") return false;
  const name = attributeOf(node, "name") ?? "";
  if (node.name === "list-style") to.lists.set(name, levelsOf(node));
  else if (node.name === "outline-style") to.outline = levelsOf(node);
  else if (node.name === "style") {
    const style: Style = { isAutomatic, parent: attributeOf(node, "parent-style-name") };
    const outline = attributeOf(node, "default-outline-level");
    if (name === "Title") style.heading = 1;
    else if (outline !== undefined) style.heading = numberIn(node, "default-outline-level") ?? 0;
    style.list = attributeOf(node, "list-style-name");
    for (const each of elementsIn(node)) if (each.name === "text-properties") takeText(style, each);
    to.styles.set(`${attributeOf(node, "family")} ${name}`, style);
  }
  return true;
}

/** A style and those that it is based on, nearest first, with their names. */
function* chainOf(
  { styles }: Styles,
  family: string,
  name: string | undefined,
): Generator<readonly [string, Style]> {
  let at = name;
  for (let count = 0; at !== undefined && count < maxChain; count++) {
    const style = styles.get(`${family} ${at}`);
    if (style) yield [at, style];
    at = style?.parent;
  }
}

export const noRun: Run = {
  isHidden: false,
  isBold: false,
  isItalic: false,
  isStruck: false,
  isCode: false,
  vertical: undefined,
  font: undefined,
};

/** A run with what a style of text changes of it. */
function styled(run: Run, style: Style): Run {
  const { isHidden, isBold, isItalic, isStruck, vertical, font } = style;
  return {
    isHidden: isHidden ?? run.isHidden,
    isBold: isBold ?? run.isBold,
    isItalic: isItalic ?? run.isItalic,
    isStruck: isStruck ?? run.isStruck,
    isCode: run.isCode,
    vertical: vertical ?? run.vertical,
    font: font ?? run.font,
  };
}

// LibreOffice writes a blank of a name as `_20_`, and `_` as `_5f_`.
const codeStyle = /^source(?:_|_20_|_5f_)text$/i;

/** A run within a span of a style. */
export function runOfSpan(styles: Styles, outer: Run, name: string | undefined): Run {
  let run = outer;
  for (const [each, style] of [...chainOf(styles, "text", name)].toReversed()) {
    run = styled(run, style);
    run.isCode ||= codeStyle.test(each);
  }
  return run;
}

interface Looks {
  run: Run;
  level: number | undefined;
  /** Whether its style takes it out of lists. */
  isPlain: boolean;
  isCode: boolean;
  isQuote: boolean;
}

/** How a paragraph looks by its style. */
export function looksOf(styles: Styles, node: XmlNode): Looks {
  const chain = [...chainOf(styles, "paragraph", attributeOf(node, "style-name"))];
  let run = noRun;
  for (const [, style] of chain.toReversed()) {
    // Weight and slope of a kind of paragraphs are its looks, not emphasis.
    const looks = style.isAutomatic ? {} : { isBold: false, isItalic: false };
    run = styled(run, { ...style, ...looks });
  }
  const names = new Set([attributeOf(node, "style-name"), ...chain.map(([name]) => name)]);
  const own = numberIn(node, "outline-level");
  const ofStyle = chain.find(([, style]) => style.heading !== undefined)?.[1].heading;
  const level = node.name === "h" ? (own ?? ofStyle ?? 1) : names.has("Title") ? 1 : undefined;
  return {
    run,
    level,
    isPlain: chain.some(([, style]) => style.isAutomatic && style.list === ""),
    isCode: names.has("Preformatted_20_Text"),
    isQuote: names.has("Quotations"),
  };
}

/** The list that the style of its first paragraph names. */
export function listOfStyle(styles: Styles, list: XmlNode): string | undefined {
  const first = elementsIn(list).flatMap(elementsIn)[0];
  const chain = first ? chainOf(styles, "paragraph", attributeOf(first, "style-name")) : [];
  for (const [, style] of chain) if (style.list !== undefined) return style.list;
  return undefined;
}

const formats: Readonly<Record<string, (number: number) => string>> = numberStyles;

/**
 * The label of the next item at a level (from 1), as the page shows it: `3.1`; "" for bullets.
 * `numbers` holds the last ones of the list; `start` is the number of an item that has its own.
 */
export function countItem(
  levels: Levels | undefined,
  numbers: number[],
  depth: number,
  start?: number,
): string {
  const level = levels?.get(depth);
  numbers.length = Math.min(numbers.length, depth);
  numbers[depth - 1] = start ?? (numbers[depth - 1] ?? (level?.start ?? 1) - 1) + 1;
  if (!level) return "";
  const numberAt = (place: number): string => {
    const other = levels?.get(place);
    if (!other || other.format === "") return "";
    return (formats[other.format] ?? String)(numbers[place - 1] ?? other.start);
  };
  const label = level.text.replace(/%(\d{1,2})%(\.?)/g, (_, place: string, dot: string) => {
    const number = numberAt(Number(place));
    return number === "" ? "" : number + dot;
  });
  return label.trim();
}
