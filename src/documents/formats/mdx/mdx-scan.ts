import type { LeftOutLog } from "../../text/left-out.ts";
import type { Scope } from "./mdx-expression.ts";
import type { Fuel } from "./mdx-js.ts";
import type { Lines } from "./mdx-lines.ts";

/** What a file of MDX needs besides its text. */
export interface Page {
  scope: Scope;
  log: LeftOutLog;
  /** Attributes of components whose values are text for readers. */
  componentAttributes: readonly string[];
  /** Whether text that nobody sees stays. */
  keepsHidden: boolean;
  /** Whether another element of the page controls the one with an id. */
  isControlled: (id: string) => boolean;
  /** Imported Markdown and code files by the names that the text gives them. */
  imports: Map<string, Import>;
  /** The text of an imported file; "" if it cannot be read. */
  include: (imported: Import, props: ReadonlyMap<string, string>, at: number) => string;
  /** The text of JSX within an attribute. */
  inner: (text: string, at: number) => string;
}

export interface Import {
  target: string;
  /** `code` is shown as it stands. */
  kind: "text" | "code";
}

export interface Scan {
  text: string;
  at: number;
  page: Page;
  lines: Lines;
  fuel: Fuel;
  /** The end of each code span by its start; see findSpans(). */
  spans: ReadonlyMap<number, number>;
  /** A statement can begin here: no paragraph is open. */
  isFresh: boolean;
  /** Column where the text of the current list item begins. */
  listIndent: number;
  /** End tags that do not occur again. */
  missing: Set<string>;
  /** Elements with a link whose text is being written. */
  links: { name: string; href: string }[];
  /** Open lists of HTML: the number of the last item; undefined for bullets. */
  lists: (number | undefined)[];
  /** Labels of tabs by their values. */
  tabs: Map<string, string>;
  /** Open `{/* knowctl:ignore *\/}` regions: what they leave out is not counted. */
  ignored: number;
}
