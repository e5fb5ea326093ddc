import type { LeftOut } from "../../text/left-out.ts";
import type { FrontMatter } from "../../front-matter/front-matter.ts";
import type { Surroundings } from "../format.ts";
import { createReading } from "../rst/rst-reading.ts";
import { readFences } from "./fences.ts";
import { mystPage, type MystPage } from "./page.ts";
import { isMap } from "../../front-matter/values.ts";
import { quartoValues } from "./quarto-values.ts";

/** Where a Markdown text is from. */
interface Source {
  /** Root-relative, of the document. */
  path: string;
  around: Surroundings;
  frontMatter: FrontMatter | undefined;
  /** Line of the file on which the text begins; undefined if its lines are not those of the file. */
  line: number | undefined;
}

interface Read {
  text: string;
  leftOut: LeftOut[];
  /** Ids that the page gives to what is no heading. */
  ids: readonly string[];
  isSlide?: boolean;
}

const braces = /^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+){0,10}(?:`{3,}|~{3,}|:{3,})[^\n`{]{0,30}\{/m;
const generators = new Set(["myst", "jupyterbook", "sphinx", "quarto"]);

/**
 * Replaces the syntax of MyST and Quarto in Markdown by what its page shows. Directives are read in
 * every Markdown: elsewhere their fences mean nothing. Roles, comments, targets and substitutions only
 * where the project is known to use MyST, and `:::` with attributes only in Quarto as it reads them.
 */
export function readMyst(text: string, { path, around, frontMatter, line }: Source): Read {
  const mayHave =
    generators.has(around.site?.generator ?? "") ||
    /\.[qr]md$/i.test(path) ||
    (text.includes("{") && braces.test(text));
  if (!mayHave) return { text, leftOut: [], ids: [] };
  const page = mystPage(text, path, around, frontMatter);
  if (!page.isMyst && !page.isQuarto && !braces.test(text)) return { text, leftOut: [], ids: [] };
  const reading = createReading(path, around, text);
  const lines = readFences(
    { page, reading, depth: 0, divs: [], readInner: readFences },
    text.split("\n"),
    line,
  );
  const read = lines.join("\n");
  const shown = page.isQuarto ? quartoValues(read, page, around, path) : read;
  const isSlide = page.isQuarto && frontMatter?.data.title === undefined && isPresentation(page);
  return { text: shown, leftOut: reading.leftOut, ids: [...page.ids], isSlide };
}

/** Whether slides are the only format of a page: quarto.org, "Presentations". */
function isPresentation(page: MystPage): boolean {
  const format = page.valueOf("format");
  if (format === undefined || format === null) return false;
  const names =
    typeof format === "object" && isMap(format) ? Object.keys(format) : [String(format)];
  return names.every((name) => /^(?:revealjs|beamer|pptx)$/.test(name));
}
