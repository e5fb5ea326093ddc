import { parseXml } from "./xml.ts";

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
  let style: Style | undefined;
  parseXml(bytes, {
    open(name, attributeOf) {
      if (name === "style") {
        style = {};
        const id = attributeOf("styleId");
        if (id !== undefined) styles.set(id, style);
      }
      if (style) takeProperty(style, name, attributeOf("val"));
    },
    close(name) {
      if (name === "style") style = undefined;
    },
    text() {},
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
