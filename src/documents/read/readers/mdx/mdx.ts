import { createIsControlled } from "../../../hidden/hides.ts";
import type { LeftOutKind, Parsed, Surroundings, TextReader } from "../../reader.ts";
import { splitFrontMatter, type SplitText } from "../../../front-matter/front-matter.ts";
import { createLeftOutLog } from "../../left-out.ts";
import { readProjectFile } from "../../parts/project-file.ts";
import { removeIgnored } from "../../../markdown/ignore-regions.ts";
import { readBlocks } from "../markdown/blocks.ts";
import { marksOf } from "../markdown/marks.ts";
import { scanExpression } from "./mdx-braces.ts";
import { createLines, endLine, write } from "./mdx-lines.ts";
import { findSpans, literalEnd } from "./mdx-literal.ts";
import { scanMarkup } from "./mdx-markup.ts";
import type { Page, Scan } from "./mdx-scan.ts";
import { scanLineStart } from "./mdx-start.ts";

const special = /[`<{$\\\n]/g;

/**
 * Converts MDX to Markdown: removes imports, exports, comments, expressions and tags. Keeps the
 * text between tags and in their attributes, plain values, and code. Parses nothing: a construct
 * that does not close is text. The time is linear in the length of the text.
 */
function stripMdx(text: string, page: Page): string {
  const fuel = { left: 4 * text.length + 100_000 };
  const lines = createLines();
  const spans = findSpans(text);
  const scan: Scan = {
    text,
    at: 0,
    page,
    lines,
    fuel,
    spans,
    isFresh: true,
    listIndent: 0,
    missing: new Set(),
    links: [],
    lists: [],
    tabs: new Map(),
    ignored: 0,
  };
  let isLineStart = true;
  while (scan.at < text.length) {
    if (isLineStart) {
      const before = scan.at;
      scanLineStart(scan);
      isLineStart = lines.line.length === 0 && text[scan.at - 1] === "\n" && scan.at > before;
      if (isLineStart) continue;
    }
    special.lastIndex = scan.at;
    const next = special.exec(text)?.index ?? text.length;
    if (next > scan.at) write(lines, text.slice(scan.at, next));
    scan.at = next;
    const char = text[next];
    if (char === "\n") {
      endLine(lines);
      scan.at++;
      isLineStart = true;
    } else if (!(char === "<" && scanMarkup(scan)) && !(char === "{" && scanExpression(scan))) {
      const end = literalEnd(text, next, spans);
      write(lines, text.slice(next, end));
      scan.at = Math.max(next + 1, end);
    }
  }
  if (lines.line.length > 0) endLine(lines);
  return lines.done.join("\n") + (text.endsWith("\n") ? "\n" : "");
}

/** Files from the document to the file that is read, and the attributes of the tag that includes it. */
interface Place {
  chain: readonly string[];
  props: ReadonlyMap<string, string>;
  /** Undefined for the file of the document itself. */
  log: Page["log"] | undefined;
}

// Docusaurus: `@site/…`; Astro and Vite projects: `~/…` and `@/…`, below `src`.
const alias = /^(?:@site|@|~)\//;

function pageOf(
  { frontMatter, body, bodyLine }: SplitText,
  around: Surroundings,
  place: Place,
): Page {
  const { chain, props } = place;
  const firstLine = place.log ? undefined : bodyLine;
  const log = createLeftOutLog(body, firstLine, place.log?.entries);
  const scope = { constants: new Map<string, string>(), frontMatter: frontMatter?.data, props };
  const page: Page = {
    scope,
    log,
    componentAttributes: around.componentAttributes,
    keepsHidden: around.keepsHidden === true,
    isControlled: createIsControlled(body),
    imports: new Map(),
    include({ target, kind }, values, at) {
      const found = alias.test(target)
        ? readProjectFile(target.replace(alias, ""), around.includes, chain, ["", "src"])
        : around.includes.read(target, chain);
      if ("problem" in found) {
        log.add("include", `${target}: ${found.problem}`, at);
        return "";
      }
      if (kind === "code") return found.text;
      const inner = { chain: [...chain, found.path], props: values, log };
      const split = splitFrontMatter(found.text, found.path);
      const text = stripMdx(split.body, pageOf(split, around, inner));
      return removeIgnored(text, found.path, split.bodyLine);
    },
    inner(text, at) {
      const innerLog = {
        ...log,
        add: (kind: LeftOutKind, what: string) => log.add(kind, what, at),
      };
      // One level deep: deeper JSX in attributes of JSX is data.
      return stripMdx(text, { ...page, log: innerLog, inner: () => "", include: () => "" });
    },
  };
  return page;
}

/** The document of a split file of MDX. Throws CliError `usage` with `path:line:column`. */
export function toMarkdown(split: SplitText, path: string, around: Surroundings): Parsed {
  const page = pageOf(split, around, { chain: [path], props: new Map(), log: undefined });
  const plain = stripMdx(split.body, page);
  const body = marksOf(plain).hasBlocks ? readBlocks(plain) : plain;
  return { ...split, body, isMarkdown: true, leftOut: page.log.entries };
}

/**
 * MDX: front matter, and the body as Markdown, with the text of imported Markdown. Throws CliError
 * `usage` with `path:line:column`.
 */
export const readMdx: TextReader = (text, path, around) =>
  toMarkdown(splitFrontMatter(text, path), path, around);
