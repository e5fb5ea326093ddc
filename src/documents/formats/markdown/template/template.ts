import { textOf, type ValueMap } from "../../../front-matter/values.ts";
import { blocksOf, type Block } from "./blocks.ts";
import { scopeOf, type Scope, type TemplatePage } from "./scope.ts";

/** The state of the template of one document. */
export interface Template {
  scope: Scope;
  isJekyll: boolean;
  /** Folders of includes, below the root. */
  folders: readonly string[];
  /** What loops and includes may still do, in all texts of the document. */
  left: { turns: number; chars: number; depth: number };
}

/** The template in one text: the document, an include, the body of a loop. */
export interface TemplateText {
  template: Template;
  blocks: ReadonlyMap<number, Block>;
  /** Where the tags that end a branch lead to. */
  skips: Map<number, number>;
}

// A loop in a loop in a loop: a hostile template ends here.
const mostTurns = 10_000;
const mostChars = 4_000_000;
const mostDepth = 40;

const foldersOf = ({ site, path }: TemplatePage): string[] => {
  const { prefix } = site;
  if (site.generator === "jekyll") {
    return [prefix + (textOf(site.value("includes_dir")) ?? "_includes")];
  }
  const [top = ""] = path.slice(prefix.length).split("/");
  // 11ty.dev, "Input directory": nobody runs the program that names it.
  return [`${prefix}_includes`, `${prefix}${top}/_includes`];
};

/**
 * The template of a page; undefined where its site makes none of it. jekyllrb.com, "Front matter":
 * Jekyll renders only files with front matter.
 */
export function templateOf(
  page: Omit<TemplatePage, "data" | "site">,
  frontMatter: ValueMap | undefined,
): Template | undefined {
  const { site } = page.around;
  const isJekyll = site?.generator === "jekyll";
  if (!site || (!isJekyll && site.generator !== "eleventy")) return undefined;
  if (isJekyll && textOf(frontMatter?.render_with_liquid) === "false") return undefined;
  // "Collections": without front matter, a file of one is no page, and those that include it render it.
  const isPart = page.path.slice(site.prefix.length).startsWith("_");
  if (isJekyll && !frontMatter && !isPart) return undefined;
  const own = { ...page, site, data: frontMatter ?? (Object.create(null) as ValueMap) };
  const left = { turns: mostTurns, chars: mostChars, depth: mostDepth };
  return { scope: scopeOf(own), isJekyll, folders: foldersOf(own), left };
}

export const templateText = (template: Template, text: string): TemplateText => ({
  template,
  blocks: blocksOf(text),
  skips: new Map(),
});
