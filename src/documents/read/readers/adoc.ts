import type { Parsed } from "../reader.ts";
import { splitFrontMatter } from "../../front-matter/front-matter.ts";

// Lines allowed above the document title (docs.asciidoctor.org, "Document Header"): comments and
// attribute entries.
const headerLine = /^(?:\/\/(?!\/)|:[^\s:][^:]*:|ifdef::|ifndef::|endif::|include::)/;

function underlined(text: string, line: string, from: number): string | undefined {
  const bar = /={4,1000}(?=[ \t]*(?:\n|$))/y;
  bar.lastIndex = from;
  const found = bar.exec(text)?.[0];
  return found !== undefined && Math.abs(found.length - line.length) <= 3 ? line : undefined;
}

function documentTitle(text: string): string | undefined {
  let isComment = false;
  for (let start = 0; start < text.length;) {
    const next = text.indexOf("\n", start);
    const end = next === -1 ? text.length : next;
    const line = text.slice(start, Math.min(end, start + 2000)).trimEnd();
    start = end + 1;
    if (/^\/{4,}$/.test(line)) isComment = !isComment;
    else if (!isComment && line !== "" && !headerLine.test(line)) {
      // `#` is an alternative to `=`; older texts underline their title.
      const title = /^[=#][ \t]+(\S.*)$/.exec(line)?.[1] ?? underlined(text, line, start);
      return title?.replace(/[*_`]{2}|(?<!\w)[*_`](?=\w)|(?<=\w)[*_`](?!\w)/g, "").trim();
    }
  }
  return undefined;
}

/**
 * Reads AsciiDoc as text. The document title (`= Title`) becomes the title. Throws CliError `usage`
 * with `path:line:column` for broken front matter.
 */
export function readAdoc(text: string, path: string): Parsed {
  // PGP keys and signatures also have the extension `.asc`: they contain no text.
  if (text.startsWith("-----BEGIN PGP ")) {
    return { frontMatter: undefined, body: "", bodyLine: 1, isMarkdown: false, warnings: [] };
  }
  const split = splitFrontMatter(text, path);
  const title = documentTitle(split.body);
  return { ...split, isMarkdown: false, ...(title ? { title } : {}) };
}
