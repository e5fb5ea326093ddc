import { CliError } from "../../../../errors.ts";
import { lacksVisible } from "../../left-out.ts";
import type { Parsed, Surroundings } from "../../reader.ts";
import { splitFrontMatter } from "../../../front-matter/front-matter.ts";
import { pageFromHtml } from "../../../page/page.ts";
import { readBlocks } from "./blocks/rst-blocks.ts";
import { addConfiguration, mayGetTargets } from "./directives/rst-configuration.ts";
import { countLines, mostLines, toLines } from "./blocks/rst-lines.ts";
import { createReading, type Reading } from "./rst-reading.ts";
import { renderPieces } from "./rst-render.ts";

const longestHeader = 10_000;

/** The title in the header of a Python enhancement proposal, which has no heading for it. */
function proposalTitle(source: string): string | undefined {
  const [header = ""] = source
    .slice(0, longestHeader)
    .trimStart()
    .split(/\n[ \t]*\n/, 1);
  const number = /^PEP:[ \t]*(\d+)[ \t]*\n/.exec(header)?.[1];
  const title = /\nTitle:[ \t]*(\S.*(?:\n[ \t]+.*)*)/.exec(header)?.[1];
  if (number === undefined || title === undefined) return undefined;
  return `PEP ${number} – ${title.replace(/`+/g, "").replace(/\s+/g, " ").trim()}`;
}

function refuseOpenRegion({ ignored, chain }: Reading): void {
  if (ignored.length === 0) return;
  const [path = ""] = chain;
  const [line] = ignored;
  const place = line === undefined ? path : `${path}:${line}:1`;
  throw new CliError("usage", `${place}: the knowctl:ignore region is never closed`, {
    hints: ["close it with <!-- /knowctl:ignore -->"],
  });
}

/**
 * Reads reStructuredText as Markdown: headings with the anchors of docutils, directives of docutils
 * and Sphinx, included files, roles, links and substitutions. Broken markup stays text. Throws
 * CliError `usage` with `path:line:column` for broken front matter and for an ignore region that is
 * never closed.
 */
export function readRst(text: string, path: string, around: Surroundings): Parsed {
  const { frontMatter, body: source, bodyLine, warnings } = splitFrontMatter(text, path);
  const reading = createReading(path, around, source);
  reading.lineCount = countLines(source);
  if (reading.lineCount > mostLines) {
    warnings.push(`${path}: more than ${mostLines} lines: read as plain text`);
    return { frontMatter, body: source, bodyLine, isMarkdown: true, warnings };
  }
  readBlocks(reading, toLines(source, bodyLine));
  addConfiguration(reading, source);
  refuseOpenRegion(reading);
  const { html, unknown } = renderPieces(reading);
  const { body, headings } = pageFromHtml(html, { path });
  const isKnown = !lacksVisible(reading.leftOut) && unknown.length > 0 && !mayGetTargets(reading);
  const title = proposalTitle(source) ?? headings[0]?.text;
  return {
    frontMatter,
    body,
    bodyLine,
    isMarkdown: true,
    headings,
    warnings,
    ...(isKnown ? { unknownTargets: unknown } : {}),
    ...(reading.leftOut.length > 0 ? { leftOut: reading.leftOut } : {}),
    ...(title === undefined ? {} : { title }),
  };
}
