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
  | "blue"
  | "magenta"
  | "cyan";

/**
 * Text for people. A plain string is data: rendering neutralises it, so untrusted
 * text can neither style nor control a terminal. Only Styled, Link, Erasure and Move
 * nodes, which our own code creates, become escape sequences.
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
 * Erases a number of columns before the cursor, or the whole row (`row`), or the text right of
 * the cursor (`right`), or everything from the cursor to the end of the screen (`below`).
 */
export interface Erasure {
  readonly erase: number | "row" | "right" | "below";
}

/** `home`: moves to the top left and turns line wrapping off; `wrap`: turns wrapping on. */
export interface Move {
  readonly move: "home" | "wrap";
}

export interface Joined {
  readonly parts: readonly Text[];
}

/** Joins any number of parts into one. Arguments of a call are limited by the stack. */
export const joined = (parts: readonly Text[]): Joined => ({ parts });

export const styled = (style: Style, ...parts: Text[]): Styled => ({ style, parts });
export const bold = (...parts: Text[]): Styled => styled("bold", ...parts);
export const dim = (...parts: Text[]): Styled => styled("dim", ...parts);
export const red = (...parts: Text[]): Styled => styled("red", ...parts);
export const green = (...parts: Text[]): Styled => styled("green", ...parts);
export const magenta = (...parts: Text[]): Styled => styled("magenta", ...parts);

/** A hyperlink (OSC 8) if the terminal supports it, see hyperlink.ts; else only its text. */
export const link = (url: string, ...parts: Text[]): Link => ({ url, parts });

/** Requires `output.canRedraw`. */
export const erase = (what: Erasure["erase"]): Erasure => ({ erase: what });

/** Requires `output.canRedraw`. */
export const move = (to: Move["move"]): Move => ({ move: to });

// All styles above are in colour level 1; the gate decides whether to use colour.
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

/** Renders text; every string passes `clean`. `links` defaults to `colour`. */
export function renderText(
  parts: readonly Text[],
  colour: boolean,
  clean: (text: string) => string = neutralise,
  links = colour,
): string {
  return parts.map((part) => renderPart(part, { colour, links, clean })).join("");
}

/** The neutralised text without styles and links, to measure its width. */
export function plainText(parts: readonly Text[]): string {
  return renderText(parts, false);
}
