import { Chalk, type ChalkInstance } from "chalk";
import { neutralise } from "./neutralise.ts";

export type Style =
  | "bold"
  | "dim"
  | "italic"
  | "underline"
  | "strikethrough"
  | "red"
  | "green"
  | "yellow"
  | "blue"
  | "magenta"
  | "cyan";

/**
 * Text for people. A plain string is data: it is neutralised where it is
 * rendered, so nothing from outside can style or control a terminal. Only
 * Styled, Link and Erasure nodes, which our own code makes, become escape sequences.
 */
export type Text = string | Styled | Link | Joined | Erasure | Move;

export interface Styled {
  readonly style: Style;
  readonly parts: readonly Text[];
}

export interface Link {
  readonly url: string;
  readonly parts: readonly Text[];
}

/**
 * Takes back what was written at the end of the current row: so many columns, or the whole row;
 * or what stands to the right of the cursor, or from it to the end of the screen.
 */
export interface Erasure {
  readonly erase: number | "row" | "right" | "below";
}

/** To the top left of the screen; rows that are too long are cut there, until they may wrap again. */
export interface Move {
  readonly move: "home" | "wrap";
}

export interface Joined {
  readonly parts: readonly Text[];
}

/** Any number of parts as one: as arguments of a call they would have to fit on its stack. */
export const joined = (parts: readonly Text[]): Joined => ({ parts });

export const styled = (style: Style, ...parts: Text[]): Styled => ({ style, parts });
export const bold = (...parts: Text[]): Styled => styled("bold", ...parts);
export const dim = (...parts: Text[]): Styled => styled("dim", ...parts);
export const red = (...parts: Text[]): Styled => styled("red", ...parts);
export const green = (...parts: Text[]): Styled => styled("green", ...parts);
export const yellow = (...parts: Text[]): Styled => styled("yellow", ...parts);

/** A hyperlink (OSC 8) where the terminal has them, see hyperlink.ts; elsewhere its text alone. */
export const link = (url: string, ...parts: Text[]): Link => ({ url, parts });

/** Only where the output can redraw (see Output). */
export const erase = (what: Erasure["erase"]): Erasure => ({ erase: what });

/** Only where the output can redraw (see Output). */
export const move = (to: Move["move"]): Move => ({ move: to });

// The styles above are all of the first level; where they may stand is decided by the gate.
const coloured: ChalkInstance = new Chalk({ level: 1 });

const escape = "\u001b";

interface Rendering {
  colour: boolean;
  links: boolean;
  clean: (text: string) => string;
}

function renderErasure({ erase: what }: Erasure): string {
  if (what === "right") return `${escape}[K`;
  if (what === "below") return `${escape}[J`;
  return what === "row" ? `\r${escape}[K` : `${escape}[${what}D${escape}[K`;
}

function renderPart(part: Text, rendering: Rendering): string {
  if (typeof part === "string") return rendering.clean(part);
  if ("move" in part) return part.move === "home" ? `${escape}[H${escape}[?7l` : `${escape}[?7h`;
  if ("erase" in part) return renderErasure(part);
  const inner = part.parts.map((each) => renderPart(each, rendering)).join("");
  if ("style" in part) return rendering.colour ? coloured[part.style](inner) : inner;
  if (!rendering.links || !("url" in part)) return inner;
  // Only web and mail links, and only characters that cannot end the sequence.
  if (!/^(?:https?:\/\/|mailto:)[\u0021-\u007e]+$/.test(part.url)) return inner;
  return `${escape}]8;;${part.url}${escape}\\${inner}${escape}]8;;${escape}\\`;
}

/** Renders with every string passed through `clean` (default: neutralise), by default with links where there is colour. */
export function renderText(
  parts: readonly Text[],
  colour: boolean,
  clean: (text: string) => string = neutralise,
  links = colour,
): string {
  return parts.map((part) => renderPart(part, { colour, links, clean })).join("");
}

/** The text without styles and links, neutralised: what its width is measured on. */
export function plainText(parts: readonly Text[]): string {
  return renderText(parts, false);
}
