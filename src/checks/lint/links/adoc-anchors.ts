import type { Span } from "../rule.ts";
import type { Parsed } from "../../../documents/read/reader.ts";

// `image::x.png[]` has no ids of its own. Macros of extensions can make whole sections.
const macro =
  /^(?!(?:include|ifn?def|ifeval|endif|image|video|audio|toc)::)[a-z]\w{0,50}::\S{0,500}\[/m;
const textFile = /(?:\.(?:adoc|asciidoc|asc|txt)|\}): /;

/** Whether the page lacks a text that can have ids: code has none. */
export const lacksText = ({ leftOut = [] }: Parsed): boolean =>
  leftOut.some(({ what }) => textFile.test(what));

/** Whether extensions of Asciidoctor may add ids to the page. */
export const hasExtensions = (source: string): boolean => macro.test(source);

function decoded(anchor: string): string {
  try {
    return decodeURI(anchor);
  } catch {
    return anchor;
  }
}

// Each failure reads the whole file.
const mostFailures = 20;

/**
 * Returns a function that finds where the file refers to an id: `<<id>>`, `xref:id[]`,
 * `xref:page.adoc#id[]`. The references must come in order, as far as it is known.
 */
export function createFindReference(source: string): (anchor: string) => Span | undefined {
  let last = 0;
  let failures = 0;
  return (anchor) => {
    const id = decoded(anchor);
    // `[#id]` is no reference.
    const escaped = id.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
    const pattern = new RegExp(`(?<!\\[)(?:<<|xref:|#)${escaped}(?![\\p{L}\\p{N}_.-])`, "gu");
    for (const from of new Set([last, 0])) {
      if (failures >= mostFailures) return undefined;
      pattern.lastIndex = from;
      const found = pattern.exec(source);
      if (found) {
        last = pattern.lastIndex;
        return { start: last - id.length, end: last };
      }
      failures++;
    }
    return undefined;
  };
}
