import { letters, roman } from "../../page/lists.ts";
import { parseXml } from "./xml.ts";
import { isOn } from "./docx-styles.ts";

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

/** Reads word/numbering.xml. Throws XmlError. */
export function readNumbering(bytes: Uint8Array): Numbering {
  const definitions = new Map<string, Map<number, Level>>();
  const lists = new Map<string, { definition: string; isOwn: boolean }>();
  let levels: Map<number, Level> | undefined;
  let level: Level | undefined;
  let list: { definition: string; isOwn: boolean } | undefined;
  parseXml(bytes, {
    open(name, attributeOf) {
      const value = attributeOf("val") ?? "";
      if (name === "abstractNum") {
        levels = new Map();
        definitions.set(attributeOf("abstractNumId") ?? "", levels);
      } else if (name === "lvl") {
        level = { format: "none", start: 1, text: undefined, styleId: undefined, isLegal: false };
        levels?.set(Number(attributeOf("ilvl")), level);
      } else if (name === "numFmt" && level) level.format = value;
      else if (name === "lvlText" && level) level.text = value.slice(0, 100);
      else if (name === "pStyle" && level) level.styleId = value;
      else if (name === "isLgl" && level) level.isLegal = isOn(attributeOf("val"));
      else if (name === "start" && level) level.start = /^\d{1,9}$/.test(value) ? Number(value) : 1;
      else if (name === "num") {
        list = { definition: "", isOwn: false };
        lists.set(attributeOf("numId") ?? "", list);
      } else if (name === "abstractNumId" && list) list.definition = value;
      else if (name === "startOverride" && list) list.isOwn = true;
    },
    close(name) {
      if (name === "lvl") level = undefined;
      else if (name === "abstractNum") levels = undefined;
      else if (name === "num") list = undefined;
    },
    text() {},
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
  decimalZero: (number) => String(number).padStart(2, "0"),
  lowerLetter: letters,
  upperLetter: (number) => letters(number).toUpperCase(),
  lowerRoman: roman,
  upperRoman: (number) => roman(number).toUpperCase(),
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
