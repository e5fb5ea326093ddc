/** Searches one text from growing offsets; each search goes on where the last one ended. */
export interface Finder {
  /** Offset of a text at or after `from`; -1 for none. */
  text(what: string, from: number): number;
  /** Offset of a mark that can end a constrained text: after a word, before none. */
  closer(mark: string, from: number): number;
  /** Offset of the end of an address: a blank or bracket; the length of the text for none. */
  addressEnd(from: number): number;
  /** Offset of the bracket that closes a macro's text: the next one, or the matching one. */
  bracket(open: number, isNested: boolean): number;
}

type Search = (from: number) => number;

/** Makes repeated searches linear: a known result is used until `from` has passed it. */
function remember(search: Search): Search {
  let searched = -1;
  let result = -2;
  return (from) => {
    const isKnown = result !== -2 && from >= searched && (result === -1 || from <= result);
    if (isKnown) return result;
    searched = from;
    result = search(from);
    return result;
  };
}

function matchingBrackets(text: string): Map<number, number> {
  const matches = new Map<number, number>();
  const open: number[] = [];
  for (const { 0: char, index } of text.matchAll(/\\.|[[\]]/gs)) {
    if (char === "[") open.push(index);
    else if (char === "]") {
      const start = open.pop();
      if (start !== undefined) matches.set(start, index);
    }
  }
  return matches;
}

export function createFinder(text: string): Finder {
  const searches = new Map<string, Search>();
  let matches: Map<number, number> | undefined;
  const searchOf = (key: string, search: Search): Search => {
    const known = searches.get(key) ?? remember(search);
    searches.set(key, known);
    return known;
  };
  const byPattern = (pattern: RegExp, from: number): number => {
    pattern.lastIndex = from;
    return pattern.exec(text)?.index ?? -1;
  };
  return {
    text: (what, from) => searchOf(what, (at) => text.indexOf(what, at))(from),
    closer: (mark, from) =>
      searchOf(`closer ${mark}`, (at) =>
        byPattern(
          mark === "`" ? /(?<=\S)`(?![\p{L}\p{N}_"'`])/gu : /(?<=\S)\+(?![\p{L}\p{N}_+])/gu,
          at,
        ),
      )(from),
    addressEnd(from) {
      const end = searchOf("address", (at) => byPattern(/[\s[\]<>]/g, at))(from);
      return end === -1 ? text.length : end;
    },
    bracket(open, isNested) {
      if (isNested) return (matches ??= matchingBrackets(text)).get(open) ?? -1;
      return searchOf("]", (at) => byPattern(/(?<!\\)\]/g, at))(open);
    },
  };
}
