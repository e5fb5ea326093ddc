import type { Attributes } from "../source/attributes.ts";
import type { Finder } from "./finder.ts";
import type { Ids } from "./ids.ts";

/** What running text refers to. */
export interface InlineContext {
  path: string;
  attributes: Attributes;
  ids: Ids;
  footnotes: { byId: Map<string, number>; texts: string[] };
  /** The title of another page by its root-relative path. */
  titleOf: (path: string) => string | undefined;
  /** Without any markup, for anchors and titles. */
  isPlain: boolean;
  /** How deep this text is within texts of links and notes. */
  depth: number;
  /** Converts a text within this one. */
  convert: (text: string, context: InlineContext) => string;
}

/** A text while it is converted. */
export interface Scan {
  context: InlineContext;
  text: string;
  at: number;
  parts: string[];
  /** Index in `parts` of each open mark. */
  opens: Map<string, number>;
  /** Index in `parts` of the last mark that closed; -1 for none. */
  markEnd: number;
  finder: Finder;
}
