import { load, NullLogger } from "@asciidoctor/core";
import { posix } from "node:path";
import { CliError } from "../../../../errors.ts";
import { splitFrontMatter } from "../../../front-matter/front-matter.ts";
import { pageFromHtml } from "../../../page/page.ts";
import type { LaterReader, LeftOut, Surroundings } from "../../reader.ts";
import { componentAttributes } from "./antora.ts";
import { createConverter } from "./html.ts";
import { createRegistry } from "./includes.ts";
import { prepareSource } from "./source.ts";

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

/** The HTML of a text, the ids in it, and the texts by which references can name them. */
async function convert(
  text: string,
  path: string,
  around: Surroundings,
  linesBefore: number,
  leftOut: LeftOut[],
): Promise<{ html: string; ids: string[] }> {
  const extension = posix.extname(path);
  const document = await load(text, {
    // Reads no file and no address: the registry answers all includes.
    safe: "secure",
    backend: "html5",
    attributes: {
      ...times,
      experimental: "@",
      docname: posix.basename(path, extension),
      docfilesuffix: extension,
      relfilesuffix: extension,
      ...componentAttributes(path, around.includes),
    },
    converter: createConverter({ path, titleOf: createTitles(path, around) }),
    extension_registry: createRegistry({ path, around, linesBefore, leftOut }),
    logger: new NullLogger(),
  });
  const html = String(await document.convert({ standalone: false }));
  const ids = Object.keys(document.catalog.refs as object);
  // The library puts places for line breaks behind dashes. Sites draw texts with roles apart.
  return { html: html.replaceAll("&#8203;", "").replaceAll("</span><span", "</span> <span"), ids };
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
  const { html, ids } = await convert(source, path, around, split.bodyLine - 1, leftOut).catch(
    (error: unknown) => {
      if (error instanceof CliError) throw error;
      // The library throws what is no Error as well.
      throw new CliError(
        "usage",
        `${path}: Asciidoctor cannot read it: ${error instanceof Error ? error.message : String(error)}`,
      );
    },
  );
  const { body, headings, leftOut: unseen } = pageFromHtml(html, { path });
  // The converter begins with the document title, if there is one.
  const title = html.startsWith("<h1>") ? headings[0]?.text : undefined;
  return {
    ...split,
    body,
    isMarkdown: true,
    headings,
    ids,
    leftOut: [...leftOut, ...unseen].toSorted((one, other) => placeOf(one) - placeOf(other)),
    ...(title === undefined ? {} : { title }),
  };
};

const placeOf = ({ line = Number.MAX_SAFE_INTEGER }: LeftOut): number => line;
