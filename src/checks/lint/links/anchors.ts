import { githubSlug, plainText } from "../../../documents/markdown/heading-text.ts";
import { hashText } from "../store/numbers-by-hash.ts";
import type { AnchorSources } from "./anchor-sources.ts";

// Site generators make different anchors of a heading. An anchor counts as existing if any of them
// makes it: what remains is wrong on every site.

/** An anchor without what generators disagree about: case, and which marks separate words. */
export function comparableAnchor(anchor: string): string {
  let decoded = anchor;
  try {
    decoded = decodeURIComponent(anchor);
  } catch {
    // Not percent-encoded.
  }
  return decoded
    .normalize("NFC")
    .toLowerCase()
    .replaceAll("\u00ad", "")
    .replace(/^user-content-/, "")
    .replace(/[\s_\p{Pd}]+/gu, "-")
    .replace(/^-+|-+$/g, "");
}

const image = /!\[[^[\]]*\](?:\([^()]*\)|\[[^[\]]*\])/g;
const withoutImages = (heading: string): string =>
  heading.replace(image, "").replace(/\[\]\([^()]*\)/g, "");

const dropMarks = (text: string): string => text.replace(/[^\p{L}\p{M}\p{N}\p{Pc}\p{Pd}\s]/gu, "");
const separateMarks = (text: string): string => text.replace(/[^\p{L}\p{M}\p{N}]+/gu, "-");

// Most headings: all generators make the same anchor.
const isSimple = /^[A-Za-z][A-Za-z\d]*(?:[ -][A-Za-z\d]+)*$/;

/** The anchors that generators make of a heading, comparable. */
function slugsOf(heading: string): Set<string> {
  if (isSimple.test(heading)) return new Set([heading.toLowerCase().replaceAll(" ", "-")]);
  const slugs = new Set<string>();
  for (const text of [plainText(heading), plainText(withoutImages(heading)), heading]) {
    // mkdocs and docutils keep ASCII alone.
    const ascii = text.normalize("NFKD").replace(/[^ -~]/g, "");
    const forms = [
      text,
      dropMarks(text),
      separateMarks(text),
      dropMarks(ascii),
      separateMarks(ascii),
    ];
    for (const form of forms) {
      const slug = comparableAnchor(form);
      slugs.add(slug);
      // pandoc and docutils begin with the first letter.
      slugs.add(slug.replace(/^[^\p{L}]+/u, ""));
    }
  }
  return slugs;
}

/** Checks anchors of one page. */
export interface Anchors {
  has(anchor: string): boolean;
  /** The first of them, comparable. */
  first(most: number): string[];
}

// A repeated heading has a number: the second `Notes` is `notes-1` on GitHub.
const repeated = "-#";

/** A set of texts. */
interface Texts {
  has(text: string): boolean;
}

/** Takes four bytes for each text: two have the same hash in one of four billion cases. */
function createHashes(texts: ReadonlySet<string>): Texts {
  const hashes = Int32Array.from(texts, hashText).sort();
  return {
    has(text) {
      const hash = hashText(text);
      let [from, to] = [0, hashes.length];
      while (from < to) {
        const middle = (from + to) >> 1;
        if ((hashes[middle] ?? 0) < hash) from = middle + 1;
        else to = middle;
      }
      return hashes[from] === hash;
    },
  };
}

/** Whether an anchor is that of a heading behind that of the heading above it, as SvelteKit makes them. */
function isNested(anchor: string, all: Texts): boolean {
  for (let at = anchor.indexOf("-"); at !== -1; at = anchor.indexOf("-", at + 1)) {
    if (all.has(anchor.slice(0, at)) && all.has(anchor.slice(at + 1))) return true;
  }
  return false;
}

/** The anchors that any generator makes of headings and ids, comparable. */
export function allAnchors({ headings, ids }: AnchorSources): Set<string> {
  const all = new Set(ids.split("\n").map((id) => comparableAnchor(id)));
  for (const text of headings.split("\n")) {
    for (const made of slugsOf(text)) {
      // DocFX names headings without letters.
      const slug = made === "" ? "section" : made;
      if (all.has(slug)) all.add(slug + repeated);
      all.add(slug);
    }
  }
  all.delete("");
  return all;
}

/** Headings and ids as they are written. */
function writtenAnchors({ headings, ids }: AnchorSources): Set<string> {
  const written = new Set(ids.split("\n"));
  for (const text of headings.split("\n")) written.add(githubSlug(text));
  return written;
}

/** Whether an anchor is among those that are written, or among all of them. */
function isAmong(anchor: string, written: Texts, findAll: () => Texts): boolean {
  // Nearly all links are right, and most of them are the id or the heading itself.
  if (written.has(anchor)) return true;
  const comparable = comparableAnchor(anchor);
  if (comparable === "") return true;
  const all = findAll();
  if (all.has(comparable) || isNested(comparable, all)) return true;
  const [, stem] = /^(.+?)-?\d+$/.exec(comparable) ?? [];
  return stem !== undefined && all.has(stem + repeated);
}

/** Returns a function that says whether headings and ids make an anchor: for a page that is at hand. */
export function createAnchorCheck(sources: AnchorSources): (anchor: string) => boolean {
  const written = writtenAnchors(sources);
  let all: Texts | undefined;
  return (anchor) => isAmong(anchor, written, () => (all ??= allAnchors(sources)));
}

/**
 * The anchors that any generator makes of headings and ids; undefined if `read` knows none. They are
 * read again rather than kept.
 */
export function createAnchors(read: () => AnchorSources | undefined): Anchors | undefined {
  const sources = read();
  if (!sources) return undefined;
  const written = createHashes(writtenAnchors(sources));
  let all: Texts | undefined;
  const find = (): Set<string> => {
    const found = read();
    return found ? allAnchors(found) : new Set();
  };
  return {
    has: (anchor) => isAmong(anchor, written, () => (all ??= createHashes(find()))),
    first(most) {
      const names: string[] = [];
      for (const anchor of find()) {
        if (names.length === most) break;
        if (!anchor.endsWith(repeated)) names.push(anchor);
      }
      return names;
    },
  };
}
