import { parseXml } from "../xml.ts";

interface Level {
  isNumbered: boolean;
  start: number;
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
        level = { isNumbered: false, start: 1 };
        levels?.set(Number(attributeOf("ilvl")), level);
      } else if (name === "numFmt" && level) level.isNumbered = !/^(?:bullet|none)$/.test(value);
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

/** The mark of the next item of a list: `-`, or its number. `counts` holds the last numbers. */
export function countItem(
  { definitions, lists }: Numbering,
  counts: Map<string, number[]>,
  id: string,
  depth: number,
): string {
  const list = lists.get(id);
  const level = definitions.get(list?.definition ?? "")?.get(depth);
  if (!list || !level?.isNumbered) return "-";
  // Lists with one definition continue each other.
  const key = list.isOwn ? `list ${id}` : list.definition;
  const numbers = (counts.get(key) ?? []).slice(0, depth + 1);
  const number = (numbers[depth] ?? level.start - 1) + 1;
  numbers[depth] = number;
  counts.set(key, numbers);
  return `${number}.`;
}
