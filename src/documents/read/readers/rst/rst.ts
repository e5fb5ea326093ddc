import type { Parsed, Surroundings } from "../../reader.ts";
import { splitFrontMatter } from "../../../front-matter/front-matter.ts";
import { joinBlocks } from "../html/html-blocks.ts";
import { readBlocks } from "./blocks/rst-blocks.ts";
import { addConfiguration, mayGetTargets } from "./directives/rst-configuration.ts";
import { countLines, mostLines, toLines } from "./blocks/rst-lines.ts";
import { createReading } from "./rst-reading.ts";
import { renderPieces } from "./rst-render.ts";

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
  const { blocks, unknown } = renderPieces(reading);
  const { body, headings } = joinBlocks(blocks);
  const isKnown = reading.leftOut.length === 0 && unknown.length > 0 && !mayGetTargets(reading);
  const title = headings[0]?.text;
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
