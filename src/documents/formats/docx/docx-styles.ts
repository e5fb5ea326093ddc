import { numberStyles } from "../../page/lists.ts";
import { attributeOf, descendantsOf, readXml, valueOf, type XmlNode } from "../office/archive.ts";

/** What a style means for the text. */
export interface Style {
  name?: string;
  /** From 1; undefined for no heading. */
  heading?: number;
  /** The list of its paragraphs; "0" for none; and their level, from 0. */
  numId?: string;
  depth?: number;
  isHidden?: boolean;
  isBold?: boolean;
  isItalic?: boolean;
  basedOn?: string;
}

export type Styles = ReadonlyMap<string, Style>;

const maxChain = 20;

/** Level of a heading by the name of its style, which Word keeps in English in every language. */
function headingOf(name: string): number | undefined {
  if (/^title$/i.test(name)) return 1;
  const level = /^heading ?([1-9])$/i.exec(name)?.[1];
  return level === undefined ? undefined : Number(level);
}

/** Level of a heading by the outline level (0 to 8; 9 is body text, ECMA-376 17.3.1.20). */
export function headingOfOutline(value: string | undefined): number | undefined {
  return value !== undefined && /^[0-8]$/.test(value) ? Number(value) + 1 : undefined;
}

/** Whether a boolean element, for example `<w:vanish/>`, is on. */
export function isOn(value: string | undefined): boolean {
  return value === undefined || !/^(?:0|false|off)$/.test(value);
}

/** The level of a list, from 0. */
export const depthOf = (value: string | undefined): number =>
  Number(/^\d$/.exec(value ?? "")?.[0] ?? 0);

function takeProperty(style: Style, name: string, value: string | undefined): void {
  if (name === "name" && value !== undefined) {
    style.name = value;
    const heading = headingOf(value);
    if (heading !== undefined) style.heading = heading;
  } else if (name === "outlineLvl") style.heading ??= headingOfOutline(value) ?? 0;
  else if (name === "numId") style.numId = value ?? "0";
  else if (name === "ilvl") style.depth = depthOf(value);
  else if (name === "vanish") style.isHidden = isOn(value);
  else if (name === "b") style.isBold = isOn(value);
  else if (name === "i") style.isItalic = isOn(value);
  else if (name === "basedOn" && value !== undefined) style.basedOn = value;
}

/** Styles by their id. Throws XmlError. */
export function readStyles(bytes: Uint8Array): Styles {
  const styles = new Map<string, Style>();
  readXml(bytes, (node) => {
    if (node.name !== "style") return false;
    const style: Style = {};
    for (const each of descendantsOf(node)) takeProperty(style, each.name, valueOf(each));
    const id = attributeOf(node, "styleId");
    if (id !== undefined) styles.set(id, style);
    return true;
  });
  return styles;
}

/** A member of a style: its own, or inherited from the style that it is based on. */
export function memberOf<Key extends keyof Style>(
  styles: Styles,
  id: string | undefined,
  key: Key,
): Style[Key] | undefined {
  let at = id;
  for (let count = 0; at !== undefined && count < maxChain; count++) {
    const style = styles.get(at);
    if (style?.[key] !== undefined) return style[key];
    at = style?.basedOn;
  }
  return undefined;
}

/** Heading level (from 1) of a paragraph style; undefined for no heading. */
export function headingLevel(styles: Styles, id: string | undefined): number | undefined {
  // In a file without styles, paragraphs still have style ids.
  const level = styles.size === 0 ? headingOf(id ?? "") : memberOf(styles, id, "heading");
  return level === 0 ? undefined : level;
}

interface Level {
  format: string;
  start: number;
  /** `%1.%2`: the numbers of the levels. */
  text: string | undefined;
  /** The style whose paragraphs are of this level. */
  styleId: string | undefined;
  /** Whether the numbers of all levels are shown as digits. */
  isLegal: boolean;
}

/** The lists of a document (ECMA-376 part 1, 17.9). */
export interface Numbering {
  /** Levels by the id of their definition. */
  definitions: ReadonlyMap<string, ReadonlyMap<number, Level>>;
  /** By the id of a list: its definition, and whether it counts from the start again. */
  lists: ReadonlyMap<string, { definition: string; isOwn: boolean }>;
}

export const noNumbering: Numbering = { definitions: new Map(), lists: new Map() };

function levelOf(node: XmlNode): Level {
  const properties = new Map([...descendantsOf(node)].map((each) => [each.name, valueOf(each)]));
  const textOf = (name: string): string | undefined =>
    properties.has(name) ? (properties.get(name) ?? "") : undefined;
  const start = textOf("start") ?? "";
  return {
    format: textOf("numFmt") ?? "none",
    start: /^\d{1,9}$/.test(start) ? Number(start) : 1,
    text: textOf("lvlText")?.slice(0, 100),
    styleId: textOf("pStyle"),
    isLegal: properties.has("isLgl") && isOn(properties.get("isLgl")),
  };
}

/** Reads word/numbering.xml. Throws XmlError. */
export function readNumbering(bytes: Uint8Array): Numbering {
  const definitions = new Map<string, Map<number, Level>>();
  const lists = new Map<string, { definition: string; isOwn: boolean }>();
  readXml(bytes, (node) => {
    const inner = node.name === "abstractNum" || node.name === "num" ? descendantsOf(node) : [];
    if (node.name === "abstractNum") {
      const levels = [...inner].filter(({ name }) => name === "lvl");
      definitions.set(
        attributeOf(node, "abstractNumId") ?? "",
        new Map(levels.map((level) => [Number(attributeOf(level, "ilvl")), levelOf(level)])),
      );
    } else if (node.name === "num") {
      const list = { definition: "", isOwn: false };
      for (const each of inner) {
        if (each.name === "abstractNumId") list.definition = valueOf(each) ?? "";
        else if (each.name === "startOverride") list.isOwn = true;
      }
      lists.set(attributeOf(node, "numId") ?? "", list);
    } else return false;
    return true;
  });
  return { definitions, lists };
}

/** The level of a list whose paragraphs have a style. */
export function levelOfStyle(
  { definitions, lists }: Numbering,
  id: string,
  styleId: string | undefined,
): number | undefined {
  const levels = definitions.get(lists.get(id)?.definition ?? "");
  for (const [depth, level] of levels ?? []) {
    if (styleId !== undefined && level.styleId === styleId) return depth;
  }
  return undefined;
}

// ECMA-376 part 1, 17.18.59; other formats are shown as digits.
const formats: Readonly<Record<string, (number: number) => string>> = {
  ordinal: (number) => {
    const teen = number % 100 >= 11 && number % 100 <= 13;
    return `${number}${(teen ? undefined : ["th", "st", "nd", "rd"][number % 10]) ?? "th"}`;
  },
  decimalZero: (number) => String(number).padStart(2, "0"),
  lowerLetter: numberStyles.a,
  upperLetter: numberStyles.A,
  lowerRoman: numberStyles.i,
  upperRoman: numberStyles.I,
};

const shown = (number: number, { format }: Level): string => (formats[format] ?? String)(number);

/** The label of the next item of a list, e.g. `3.1`; "" for bullets. `counts` holds the last numbers. */
export function countItem(
  { definitions, lists }: Numbering,
  counts: Map<string, number[]>,
  id: string,
  depth: number,
): string {
  const list = lists.get(id);
  const levels = definitions.get(list?.definition ?? "");
  const level = levels?.get(depth);
  if (!list || !level || level.format === "bullet" || level.format === "none") return "";
  // Lists with one definition continue each other.
  const key = list.isOwn ? `list ${id}` : list.definition;
  const numbers = (counts.get(key) ?? []).slice(0, depth + 1);
  numbers[depth] = (numbers[depth] ?? level.start - 1) + 1;
  counts.set(key, numbers);
  const label = (level.text ?? `%${depth + 1}.`).replace(/%(\d)/g, (_, place: string) => {
    const at = Number(place) - 1;
    const other = levels?.get(at) ?? level;
    const number = numbers[at] ?? other.start;
    const isDigits = level.isLegal && other.format !== "decimalZero";
    return isDigits ? String(number) : shown(number, other);
  });
  return label.trim();
}
