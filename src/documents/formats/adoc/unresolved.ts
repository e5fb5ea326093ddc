import type { LeftOut, LeftOutKind } from "../../text/left-out.ts";

// docs.asciidoctor.org, "Macros": what Asciidoctor itself has. A page that explains them shows them.
const builtIn = new Set(
  "anchor asciimath audio btn endif footnote footnoteref ftp http https icon ifdef ifeval ifndef image include indexterm indexterm2 irc kbd latexmath link mailto menu pass stem toc video xref".split(
    " ",
  ),
);

// Code stays as it is. A tag ends before any macro begins.
const pieces =
  /<(pre|code|script|style)\b[^]*?<\/\1>|<[^>]*>|(?<![\w:/.#@$\\-])([a-z][\w-]+)(::?)((?=[\w./$])[^\s<>[\]"]*|[A-Za-z][\w-]{0,40}(?: [\w-]{1,40}){1,5}(?=\[[\],A-Za-z]))\[((?:[^<>[\]]|<[^>]*>)*)\]|\{(\w[\w-]*)\}/g;

// Of a hostile page.
const mostFound = 1000;

/** What Asciidoctor leaves as it is written because something is missing. */
interface Unresolved {
  kind: LeftOutKind;
  what: string;
  /** Its beginning in the source. */
  written: string;
}

/** The text of a macro: what stands in its brackets, without attributes and the mark of a new window. */
function textOfMacro(brackets: string): string {
  const [first = ""] = brackets.split(/,(?=\s*[\w-]+=)/);
  // `term:lamp[,lamps]`: the second place is the text.
  return /^\s*[\w-]+=/.test(first) ? "" : first.trim().replace(/^[\s,]+|\^$/g, "");
}

/** The lines of a text on which each of some texts begins, from `firstLine`, in order. */
function linesOf(
  source: string,
  firstLine: number,
  wanted: ReadonlySet<string>,
): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const [index, line] of source.split("\n").entries()) {
    if (!line.includes("{") && !line.includes("[")) continue;
    for (const [text] of line.matchAll(
      /(?<!\\)(?:\{\w[\w-]*\}|(?<![\w-])[a-z][\w-]+::?(?:[^\s[\]]*|[\w-]{1,41}(?: [\w-]{1,40}){1,5})\[)/g,
    )) {
      const key = text.toLowerCase();
      if (!wanted.has(key)) continue;
      const lines = found.get(key);
      if (lines) lines.push(firstLine + index);
      else found.set(key, [firstLine + index]);
    }
  }
  return found;
}

/** Whether the source has a name only behind a backslash. */
function createProtectedTest(source: string): (name: string) => boolean {
  const names = new Map<string, boolean>();
  for (const [, slash = "", name = ""] of source.matchAll(/(\\?)\{(\w[\w-]*)\}/g)) {
    names.set(name, (names.get(name) ?? true) && slash !== "");
  }
  return (name) => names.get(name) === true;
}

/**
 * Replaces the macros of extensions, which Asciidoctor alone prints as they are written, by their
 * texts: a block by that in its brackets, another one also by its target. Counts them, and the
 * references to attributes that nothing defines, which stay. `source` is the text of the page, whose
 * first line is `firstLine`. The time is linear.
 */
export function readUnresolved(
  html: string,
  source: string,
  firstLine: number,
): { html: string; leftOut: LeftOut[] } {
  const found: Unresolved[] = [];
  const isProtected = createProtectedTest(source);
  const shown = html.replace(
    pieces,
    (whole, _code, name?: string, colons = "", target = "", brackets = "", attribute?: string) => {
      if (attribute !== undefined) {
        const written = `{${attribute.toLowerCase()}}`;
        // What the page protects by a backslash is text.
        if (found.length < mostFound && !isProtected(attribute)) {
          found.push({ kind: "undefined", what: attribute.toLowerCase(), written });
        }
        return whole;
      }
      if (name === undefined || builtIn.has(name)) return whole;
      const what = `${name}${colons}${target}`;
      if (found.length < mostFound)
        found.push({ kind: "macro", what, written: `${what}[`.toLowerCase() });
      const text = textOfMacro(brackets);
      return text === "" && colons === ":" ? target : text;
    },
  );
  if (found.length === 0) return { html, leftOut: [] };
  const lines = linesOf(source, firstLine, new Set(found.map(({ written }) => written)));
  const leftOut = found.map(({ kind, what, written }) => ({
    kind,
    what,
    line: lines.get(written)?.shift(),
  }));
  return { html: shown, leftOut };
}
