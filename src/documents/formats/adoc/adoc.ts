import {
  load,
  LoggerManager,
  NullLogger,
  type Document,
  Extensions,
  type PreprocessorReader,
  type Registry,
} from "@asciidoctor/core";
import { posix } from "node:path";
import { CliError } from "../../../errors.ts";
import { splitFrontMatter } from "../../front-matter/front-matter.ts";
import { pageFromHtml } from "../../page/page.ts";
import type { Included, LaterReader, Reference, Surroundings } from "../format.ts";
import { refuseOpenRegion, type LeftOut } from "../../text/left-out.ts";
import { componentAttributes, isResourceId, olderPartial, resourcePath } from "./antora.ts";
import { createConverter } from "./html.ts";
import { readUnresolved } from "./unresolved.ts";

const ignoreMark = /^(?:\/\/[ \t]*)?<!--[ \t]*(\/?)knowctl:ignore[ \t]*-->$/;
const commentBlock = /^\/{4,}$/;
const verbatim = /^(?:-{4,}|\.{4,}|\+{4,}|`{3,}[^`\s]*)$/;
const container = /^(?:={4,}|\*{4,}|_{4,}|~{4,})$/;
// Nobody types a longer delimiter: a pattern would not fit into its stack.
const longestDelimiter = 10_000;
// A block ends at its delimiter, so blocks nest as deep as there are delimiters. The library calls
// itself for each level.
const deepest = 200;
// Of more, the number says nothing.
const mostComments = 1000;
const nothing = "//";

/** Whether a line of dashes or plus signs makes a title of the line before. */
function underlines(line: string, title: string, above: string): boolean {
  const isFirst = above === "" || /^(?:\[.*\]|\..*|\/\/.*)$/.test(above);
  const isTitle = /^[-+]/.test(line) && /[\p{L}\p{N}]/u.test(title) && !/^[[.:]/.test(title);
  return isFirst && isTitle && Math.abs(line.length - title.length) <= 1;
}

/** The delimiter that ends what a line begins, where no markup is read; undefined for others. */
function endOf(line: string, title: string, above: string): string | undefined {
  if (line.length > longestDelimiter) return undefined;
  if (commentBlock.test(line)) return line;
  if (!verbatim.test(line) || underlines(line, title, above)) return undefined;
  return /^`+/.exec(line)?.[0] ?? line;
}

/** What the library reads, and what the document lacks of the text. */
interface Source {
  /** Without ignore regions: comments take their places. */
  text: string;
  /** The lines, from `firstLine`, where comments end. */
  comments: number[];
}

/**
 * Prepares a text for the library. Throws CliError `usage` with `path:line:column` for an ignore
 * region that is never closed, and for blocks that nest without end.
 */
function prepareSource(text: string, path: string, firstLine: number): Source {
  const lines = text.replaceAll("\0", "").replace(/\r\n?/g, "\n").split("\n");
  const comments: number[] = [];
  const ignored: number[] = [];
  const delimiters = new Set<string>();
  let end: string | undefined;
  const kept = lines.map((written, index) => {
    const line = written.trimEnd();
    const isIgnored = ignored.length > 0;
    const addComment = (): void => {
      if (!isIgnored && comments.length < mostComments) comments.push(firstLine + index);
    };
    if (end !== undefined) {
      if (line === end) {
        if (line.startsWith("/")) addComment();
        end = undefined;
      }
      return isIgnored ? nothing : written;
    }
    const slash = line.length < 100 ? ignoreMark.exec(line)?.[1] : undefined;
    if (slash === "") ignored.push(firstLine + index);
    else if (slash !== undefined) ignored.pop();
    if (slash !== undefined) return nothing;
    end = endOf(line, lines[index - 1] ?? "", lines[index - 2] ?? "");
    const isComment = line.startsWith("//") && !line.startsWith("///");
    if (isComment || line === "[comment]") addComment();
    if (line.length <= longestDelimiter && container.test(line)) delimiters.add(line);
    if (delimiters.size > deepest) {
      const place = `${path}:${firstLine + index}:1`;
      throw new CliError("usage", `${place}: blocks are nested more than ${deepest} levels deep`);
    }
    return isIgnored ? nothing : written;
  });
  const open = ignored[0];
  if (open === undefined) return { text: kept.join("\n"), comments };
  return refuseOpenRegion(path, open);
}

const tagLine = /\b(tag|end)::([^\s[\]]{1,200})\[\](?=$|\s|-->|\*\/)/;

/** Lines from 1 that `lines=1..5;8;10..-1` names. */
function isInRanges(spec: string, count: number): (line: number) => boolean {
  const chosen = new Uint8Array(count + 2);
  for (const range of spec.split(/[;,]/).slice(0, 100)) {
    const [, from = "", dots, to = ""] = /^\s*(\d*)(\.\.)?(-?\d*)\s*$/.exec(range) ?? [];
    if (from === "" && dots === undefined) continue;
    const start = Math.max(1, Number(from || 1));
    const end = dots === undefined ? start : to === "" || to.startsWith("-") ? count : Number(to);
    chosen.fill(1, Math.min(start, count + 1), Math.min(end, count) + 1);
  }
  return (line) => chosen[line] === 1;
}

interface Tags {
  named: ReadonlyMap<string, boolean>;
  /** Whether lines outside of all tags, and in tags without a name here, are taken. */
  isOutsideTaken: boolean;
  isOtherTaken: boolean;
}

// docs.asciidoctor.org, "Include Content by Tagged Regions".
function parseTags(spec: string): Tags {
  const named = new Map<string, boolean>();
  for (const part of spec.split(/[;,]/)) {
    const name = part.trim().replace(/^!/, "");
    if (name !== "") named.set(name, !part.trim().startsWith("!"));
  }
  const all = named.get("**");
  const other = named.get("*");
  named.delete("**");
  named.delete("*");
  const isNegative = [...named.values()].every((taken) => !taken);
  return {
    named,
    isOutsideTaken: all ?? (other === undefined ? isNegative && named.size > 0 : !other),
    isOtherTaken: other ?? all ?? (isNegative && named.size > 0),
  };
}

/** The lines within the chosen tags, and the chosen tags that do not occur. */
function taggedLines(
  lines: readonly string[],
  spec: string,
): { lines: string[]; missing: string[] } {
  const { named, isOutsideTaken, isOtherTaken } = parseTags(spec);
  const missing = new Set([...named].filter(([, taken]) => taken).map(([name]) => name));
  const open: { name: string; isTaken: boolean }[] = [];
  const kept: string[] = [];
  for (const line of lines) {
    const [, kind, name = ""] = (line.includes("::") && tagLine.exec(line)) || [];
    if (kind === "tag") {
      missing.delete(name);
      const own = named.get(name);
      const isTaken = own ?? (open.at(-1)?.isTaken === true || isOtherTaken);
      open.push({ name, isTaken });
    } else if (kind === "end") {
      if (open.at(-1)?.name === name) open.pop();
    } else if (open.at(-1)?.isTaken ?? isOutsideTaken) kept.push(line);
  }
  return { lines: kept, missing: [...missing] };
}

/** The lines of an included file that the attributes of the include choose. */
function chooseLines(
  text: string,
  options: Readonly<Record<string, string>>,
): { lines: string[]; missing: string[] } {
  let lines = text.replace(/\r\n?/g, "\n").replace(/\n$/, "").split("\n");
  let missing: string[] = [];
  const ranges = options["lines"];
  const tags = options["tags"] ?? options["tag"];
  if (ranges !== undefined) {
    const isChosen = isInRanges(ranges, lines.length);
    lines = lines.filter((_, index) => isChosen(index + 1));
  } else if (tags !== undefined) ({ lines, missing } = taggedLines(lines, tags));
  else lines = lines.filter((line) => !(line.includes("::") && tagLine.test(line)));
  return { lines, missing };
}

/** The document that takes includes, and what it lacks. */
interface Including {
  /** Root-relative. */
  path: string;
  around: Surroundings;
  /** Number of lines of the file before its body. */
  linesBefore: number;
  leftOut: LeftOut[];
  /** The files that are included, by the lines of the body. */
  included: Map<number, string>;
}

/** Root-relative paths from the document to the file that is read now. */
function chainOf(reader: PreprocessorReader, path: string): string[] {
  // The stack has the state of each file around: its fourth member is the path.
  const files = [...(reader.includeStack as unknown[][]).map((state) => state[3]), reader.path];
  return [path, ...files.slice(1).map(String)];
}

function take(
  { path, around, linesBefore, leftOut, included: files }: Including,
  reader: PreprocessorReader,
  target: string,
  attributes: Record<string, string>,
): void {
  const chain = chainOf(reader, path);
  // The library has passed the line already.
  const line = chain.length === 1 ? linesBefore + Number(reader.lineno) - 1 : undefined;
  const isOptional = Object.hasOwn(attributes, "optional-option");
  const leaveOut = (why: string): void => {
    if (!isOptional) leftOut.push({ kind: "include", what: `${target}: ${why}`, line });
  };
  const isId = isResourceId(target);
  const resource = isId ? resourcePath(target, chain.at(-1) ?? path, "page", around) : undefined;
  const read = (file: string): Included => around.includes.read(file, chain);
  const here = read(resource === undefined ? target : `/${resource}`);
  const older = "problem" in here ? olderPartial(resource) : undefined;
  const there = older === undefined ? here : read(`/${older}`);
  const included = "problem" in there ? here : there;
  if ("problem" in included) return leaveOut(included.problem);
  if (chain.length === 1) files.set(Number(reader.lineno) - 1, included.path);
  const { lines, missing } = chooseLines(included.text, attributes);
  if (missing.length > 0) leaveOut(`no tag ${missing.join(", ")}`);
  const { text, comments } = prepareSource(lines.join("\n"), included.path, 0);
  for (let count = 0; count < comments.length; count++) {
    leftOut.push({ kind: "comment", what: "", line: undefined });
  }
  reader.pushInclude(text.split("\n"), included.path, included.path, 1, attributes);
}

/** Extensions of the library with one processor, which answers every include through `around`. */
function createRegistry(including: Including): Registry {
  return Extensions.create("includes", function (this: Registry) {
    this.includeProcessor(function (this: {
      process(
        answer: (
          document: Document,
          reader: PreprocessorReader,
          target: string,
          attributes: Record<string, string>,
        ) => void,
      ): void;
    }) {
      this.process((_document, reader, target, attributes) =>
        take(including, reader, target, attributes),
      );
    });
  });
}

// Each page is read for its title, and counts as included: less than real includes may take.
const mostPages = 100;
const mostChars = 4 * 1024 * 1024;
const mostLines = 200;
const longestTitle = 300;

/** The document title: only comments and attributes stand above it. */
function titleIn(text: string): string | undefined {
  for (const line of text.split("\n", mostLines)) {
    const [, marks, title] = /^(={1,6}|#{1,6})[ \t]+(\S.*)$/.exec(line.trimEnd()) ?? [];
    if (marks !== undefined) return marks.length === 1 ? title : undefined;
  }
  return undefined;
}

/** The text of another page; undefined if it cannot be read: that fails the other page alone. */
function textOf({ includes }: Surroundings, page: string, path: string): string | undefined {
  try {
    const found = includes.read(`/${page}`, [path]);
    return "text" in found ? found.text : undefined;
  } catch (error) {
    if (error instanceof CliError) return undefined;
    throw error;
  }
}

/** Reads the titles of other pages, as a reference without a text shows them. */
function createTitles(path: string, around: Surroundings): (page: string) => string | undefined {
  const titles = new Map<string, string | undefined>();
  let chars = 0;
  return (page) => {
    const isPage = /\.(?:adoc|asciidoc|asc)$/.test(page);
    const isEnough = titles.size >= mostPages || chars >= mostChars;
    if (!isPage || titles.has(page) || isEnough) return titles.get(page);
    const text = textOf(around, page, path) ?? "";
    chars += text.length;
    const title = titleIn(text);
    titles.set(page, title === undefined || title.length > longestTitle ? undefined : title);
    return titles.get(page);
  };
}

// The moment of the reading would change the document each time.
const times: Readonly<Record<string, string>> = Object.fromEntries(
  ["doc", "local"].flatMap((of) =>
    ["date", "datetime", "time", "year"].map((part) => [of + part, ""]),
  ),
);

// For all pages: the library keeps a logger of one call in a store that slows every promise down.
LoggerManager.logger = new NullLogger();

/** docs.asciidoctor.org, "Attribute assignment precedence": `@` lets the page itself say otherwise. */
const softly = (attributes: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [name.toLowerCase(), `${value}@`]),
  );

/** The HTML of a text, the ids in it, and the texts by which references can name them. */
async function convert(
  text: string,
  path: string,
  around: Surroundings,
  linesBefore: number,
  leftOut: LeftOut[],
): Promise<{ html: string; ids: string[]; references: Reference[] }> {
  const extension = posix.extname(path);
  const references: Reference[] = [];
  const included = new Map<number, string>();
  const page = { path, around, titleOf: createTitles(path, around), references, included };
  const document = await load(text, {
    // Reads no file and no address: the registry answers all includes.
    safe: "secure",
    backend: "html5",
    // The files in which references stand.
    sourcemap: true,
    attributes: {
      ...times,
      experimental: "@",
      docname: posix.basename(path, extension),
      docfilesuffix: extension,
      relfilesuffix: extension,
      ...softly(around.attributes ?? {}),
      ...componentAttributes(path, around),
    },
    converter: createConverter(page),
    extension_registry: createRegistry({ path, around, linesBefore, leftOut, included }),
  });
  const html = String(await document.convert({ standalone: false }));
  const ids = new Set(Object.keys(document.catalog.refs as object));
  // An anchor that names an attribute, `[[size_{context}]]`, has its id after the conversion alone.
  for (const [, id = ""] of html.matchAll(/<a id="([^"]*)">/g)) ids.add(id);
  // The library puts places for line breaks behind dashes. Sites draw texts with roles apart.
  return {
    html: html.replaceAll("&#8203;", "").replaceAll("</span><span", "</span> <span"),
    ids: [...ids],
    references,
  };
}

/**
 * Reads AsciiDoc as Markdown, with the files that it includes: Asciidoctor makes the document model,
 * and pageFromHtml() the text. Throws CliError `usage`, with `path:line:column` for broken front
 * matter and for an ignore region that is never closed.
 */
export const readAdoc: LaterReader = async (text, path, around) => {
  // PGP keys and signatures also have the extension `.asc`: they contain no text.
  if (text.startsWith("-----BEGIN PGP ")) {
    return { frontMatter: undefined, body: "", bodyLine: 1, isMarkdown: false, warnings: [] };
  }
  const split = splitFrontMatter(text, path);
  const { text: source, comments } = prepareSource(split.body, path, split.bodyLine);
  const leftOut: LeftOut[] = comments.map((line) => ({ kind: "comment", what: "", line }));
  const { html, ids, references } = await convert(
    source,
    path,
    around,
    split.bodyLine - 1,
    leftOut,
  ).catch((error: unknown) => {
    if (error instanceof CliError) throw error;
    // The library throws what is no Error as well.
    throw new CliError(
      "usage",
      `${path}: Asciidoctor cannot read it: ${error instanceof Error ? error.message : String(error)}`,
    );
  });
  const resolved = readUnresolved(html, source, split.bodyLine);
  const { body, headings, leftOut: unseen } = pageFromHtml(resolved.html, { path });
  // The converter begins with the document title, if there is one.
  const title = html.startsWith("<h1>") ? headings[0]?.text : undefined;
  return {
    ...split,
    body,
    isMarkdown: true,
    headings,
    ids,
    references,
    leftOut: [...leftOut, ...resolved.leftOut, ...unseen].toSorted(
      (one, other) => placeOf(one) - placeOf(other),
    ),
    ...(title === undefined ? {} : { title }),
  };
};

const placeOf = ({ line = Number.MAX_SAFE_INTEGER }: LeftOut): number => line;
