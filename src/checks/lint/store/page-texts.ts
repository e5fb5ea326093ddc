import { comparePaths } from "../../../documents/inspect/stamp.ts";
import type { ComparedPage, StoredPage } from "../rule.ts";
import { createStoredTexts } from "./texts.ts";

/** A page with a text. */
export interface PageText extends StoredPage {
  text: string;
}

/** Texts about pages, on disk. */
export interface PageTexts extends Iterable<PageText> {
  add(page: ComparedPage, text: string): void;
  /** Reads a text again. */
  at(place: number): PageText;
  /** Forgets the texts, and closes their file. */
  clear(): void;
}

function comparePages(a: ComparedPage, b: ComparedPage): number {
  return comparePaths(a.path, b.path) || a.part - b.part;
}

// JSON has no line breaks.
const encode = ({ path, part, row }: ComparedPage, text: string): string =>
  `${JSON.stringify(row ? [path, part, row] : [path, part])}\n${text}`;

function decode(stored: string, place: number): PageText {
  const end = stored.indexOf("\n");
  const page = JSON.parse(stored.slice(0, end)) as [string, number, ComparedPage["row"]?];
  const [path, part, row] = page;
  return { path, part, row, text: stored.slice(end + 1), place };
}

/** Creates an empty store. It yields texts by path and part of their pages. */
export function createPageTexts(): PageTexts {
  const texts = createStoredTexts();
  let last: ComparedPage | undefined;
  let isInOrder = true;
  let latest: PageText | undefined;

  function* inOrder(): Generator<PageText> {
    for (const [place, text] of texts.entries()) yield decode(text, place);
  }
  // Files that only symbolic links reach come last: their pages alone need another order.
  function* sorted(): Generator<PageText> {
    const pages = Array.from(inOrder(), ({ path, part, place }) => ({ path, part, place }));
    for (const { place } of pages.sort(comparePages)) yield decode(texts.at(place), place);
  }
  return {
    add(page, text) {
      if (last && comparePages(last, page) > 0) isInOrder = false;
      last = page;
      texts.add(encode(page, text));
    },
    [Symbol.iterator]: () => (isInOrder ? inOrder() : sorted()),
    at(place) {
      // The first of many equal ones is read for each of them.
      if (latest?.place !== place) latest = decode(texts.at(place), place);
      return latest;
    },
    clear() {
      texts.clear();
      last = latest = undefined;
      isInOrder = true;
    },
  };
}
