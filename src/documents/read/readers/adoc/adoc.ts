import type { Parsed, TextReader } from "../../reader.ts";
import { splitFrontMatter } from "../../../front-matter/front-matter.ts";
import { joinBlocks } from "../html/html-blocks.ts";
import { createAttributes, isEntry, takeEntry } from "./source/attributes.ts";
import { addHeading, takeBlocks } from "./blocks.ts";
import { setComponentAttributes } from "./source/component.ts";
import { allIds, createIds, resolveReferences } from "./text/ids.ts";
import { inlineText } from "./text/inline.ts";
import { createTitles } from "./text/page-titles.ts";
import { createLines } from "./source/source-lines.ts";
import * as start from "./starts.ts";
import { addBlock, createState, textLines, type State } from "./state.ts";
import { linesUntil } from "./verbatim.ts";

/** Takes comments and attributes above the title. */
function takePreamble({ lines, context }: State): void {
  for (let line = lines.peek(); line; line = lines.peek()) {
    const { text } = line;
    if (start.ignoreMarkOf(text) !== undefined) return;
    if (/^\/{4,}$/.test(text)) {
      lines.next();
      linesUntil({ lines }, text);
      lines.leaveOutComment();
    } else if (text === "" || start.isComment(text)) {
      lines.next();
      if (text !== "") lines.leaveOutComment();
    } else if (isEntry(text)) {
      lines.next();
      takeEntry(context.attributes, text, () => lines.next()?.text);
    } else return;
  }
}

/** Takes the document title, the lines about author and revision, and the attributes below. */
function takeHeader(state: State): string | undefined {
  const { lines, context } = state;
  takePreamble(state);
  const first = lines.peek()?.text ?? "";
  const found = start.sectionOf(first);
  const isUnderlined = start.underlineLevel(first, lines.peek(1)?.text) === 1;
  if (found?.level !== 1 && !isUnderlined) return undefined;
  lines.next();
  if (isUnderlined) lines.next();
  const about: string[] = [];
  let line = lines.peek();
  for (; line && line.text !== "" && !start.endsParagraph(line.text); line = lines.peek()) {
    lines.next();
    if (isEntry(line.text)) takeEntry(context.attributes, line.text, () => lines.next()?.text);
    else if (start.isComment(line.text)) lines.leaveOutComment();
    else about.push(line.text);
  }
  // The attributes below the title are known in it.
  const title = addHeading(state, found?.text ?? first, 1, true);
  if (about.length > 0) addBlock(state, textLines(state, about.join("\n")));
  return title === "" ? undefined : title;
}

function addFootnotes({ blocks, context }: State): void {
  for (const [index, text] of context.footnotes.texts.entries()) {
    blocks.push({ text: `[^${index + 1}]: ${text}`, isTight: false });
  }
}

/**
 * Reads AsciiDoc as Markdown, with the files that it includes. Attributes and conditions are those
 * of a web page that Asciidoctor makes. What is no valid AsciiDoc stays text. Throws CliError
 * `usage` with `path:line:column` for broken front matter.
 */
export const readAdoc: TextReader = (text, path, around): Parsed => {
  // PGP keys and signatures also have the extension `.asc`: they contain no text.
  if (text.startsWith("-----BEGIN PGP ")) {
    return { frontMatter: undefined, body: "", bodyLine: 1, isMarkdown: false, warnings: [] };
  }
  const split = splitFrontMatter(text, path);
  const attributes = createAttributes();
  setComponentAttributes(attributes, path, around.includes);
  const body = split.body.replaceAll("\0", "");
  const lines = createLines(body, path, split.bodyLine - 1, around, attributes);
  const ids = createIds();
  const footnotes = { byId: new Map<string, number>(), texts: [] };
  const context = {
    path,
    attributes,
    ids,
    footnotes,
    titleOf: createTitles(path, around, attributes),
    isPlain: false,
    depth: 0,
    convert: inlineText,
  };
  const state = createState(lines, context);
  const title = takeHeader(state);
  takeBlocks(state);
  addFootnotes(state);
  const joined = joinBlocks(state.blocks);
  const resolve = (each: string): string => resolveReferences(ids, each);
  return {
    ...split,
    body: resolve(joined.body),
    isMarkdown: true,
    headings: joined.headings.map((each) => ({ ...each, text: resolve(each.text) })),
    ids: [...allIds(ids), ...lines.ids],
    leftOut: lines.leftOut,
    ...(title === undefined ? {} : { title: resolve(title) }),
  };
};
