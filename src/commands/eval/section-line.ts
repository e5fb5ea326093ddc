import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ReportedCase } from "../../checks/eval/report.ts";
import { splitFrontMatter } from "../../documents/front-matter/front-matter.ts";
import { anchorsOf } from "../../documents/text/heading-text.ts";
import { scanStructure } from "../../documents/text/structure.ts";

type Expected = ReportedCase["expected"][number];

const styles = ["github", "docusaurus", "mkdocs"] as const;

/** Line of the heading with this anchor in Markdown text, from 1; undefined if no heading has it. */
function headingLine(text: string, anchor: string, path: string): number | undefined {
  const { body, bodyLine } = splitFrontMatter(text, path);
  const { headings } = scanStructure(body);
  for (const style of styles) {
    const heading = headings[anchorsOf(headings, style).indexOf(anchor)];
    if (heading) return bodyLine + body.slice(0, heading.start).split("\n").length - 1;
  }
  return undefined;
}

function anchorOf({ document }: Expected): string | undefined {
  if (!("link" in document)) return undefined;
  const hash = document.link.split("#")[1] ?? "";
  try {
    return hash === "" ? undefined : decodeURIComponent(hash);
  } catch {
    return undefined;
  }
}

/**
 * Returns a function that finds the line of the section that a case expects: of the heading that the
 * fragment of its link names. The line is undefined without a fragment, or if the Markdown file
 * (below `root`) or the heading is not found.
 */
export function sectionLinesIn(root: string): (expected: Expected) => number | undefined {
  return (expected) => {
    const { path } = expected;
    const anchor = anchorOf(expected);
    if (anchor === undefined || path === null || !/\.(?:md|mdx|markdown)$/i.test(path)) {
      return undefined;
    }
    try {
      const text = readFileSync(join(root, path), "utf8").replace(/^\ufeff/, "");
      return headingLine(text.replaceAll("\r\n", "\n"), anchor, path);
    } catch {
      // The line is a convenience: line 1 of the file is right too.
      return undefined;
    }
  };
}
