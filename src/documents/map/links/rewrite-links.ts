import { decodePercent } from "../../files/file-name.ts";
import {
  angled,
  definition,
  endOfBare,
  labelKey,
  skipBlanks,
  unescape,
  readAttribute,
} from "../images/image-references.ts";
import { countBefore } from "../../text/count-before.ts";
import { createLookup, createUnreadTest, indentedCodeOf } from "../../text/structure.ts";
import { plainText, slugOf } from "../../text/heading-text.ts";
import { resolveLink, type LinkingFile, type Resolved } from "./resolve-link.ts";

/** An address for a message. Not truncated: redaction could not recognise a truncated key. */
export const shownAddress = (address: string): string =>
  address.length > 120 ? `an address of ${address.length} characters` : address;

/** The address of a link in Markdown text. */
export interface FoundLink {
  /** Offsets of the address as written, with `<…>` or quotes. */
  start: number;
  end: number;
  /** Without escapes and character references. */
  target: string;
  isAttribute: boolean;
  /** A definition that nothing refers to: nobody can follow it. */
  isUnused?: boolean;
  /** Of `[…](…)`: the offsets of the text in the brackets. */
  label?: readonly [start: number, end: number];
}

// Escapes, brackets, tags, and blank lines. A blank line ends every open bracket.
const marks = /\\[^\n]|!?\[|\]|<a(?=[\s/>])|\n[ \t]*(?=\n)/gi;
const restOfDefinition = /[ \t]*(?:"[^"\n]*"|'[^'\n]*'|\([^()\n]*\))?[ \t]*(?:\n|$)/y;

/** Reads the parentheses of `[…](…)`; `at` is the offset after the opening parenthesis. */
function readInline(text: string, at: number): FoundLink | undefined {
  const start = skipBlanks(text, at);
  angled.lastIndex = start;
  const inAngles = text[start] === "<" ? angled.exec(text) : null;
  const end = inAngles ? angled.lastIndex : endOfBare(text, start);
  if (end === undefined || end === start) return undefined;
  const after = skipBlanks(text, end);
  const hasTitle = after > end && /["'(]/.test(text[after] ?? "");
  if (text[after] !== ")" && !hasTitle) return undefined;
  const target = unescape(inAngles?.[1] ?? text.slice(start, end));
  return { start, end, target, isAttribute: false };
}

/** The labels in brackets that are no definitions, by their offsets, for a text with definitions at `own`. */
function labelsOutside(text: string, own: ReadonlySet<number>): ReadonlySet<string> {
  const labels = text.matchAll(/\[([^[\]]{1,999})\]/g);
  return new Set(
    Array.from(labels, ({ 1: label = "", index }) => (own.has(index) ? "" : labelKey(label))),
  );
}

/** The definitions `[label]: address`. A footnote is none, and of two of a label the first one counts. */
function findDefinitions(text: string): FoundLink[] {
  if (!text.includes("]:")) return [];
  let isCode: ((offset: number) => boolean) | undefined;
  const found: FoundLink[] = [];
  const labels = new Set<string>();
  const all = [...text.matchAll(definition)];
  const used = labelsOutside(
    text,
    new Set(all.map(({ 0: whole, index }) => index + whole.indexOf("["))),
  );
  for (const match of all) {
    const [whole, label = "", inAngles, bare = ""] = match;
    const end = match.index + whole.length;
    restOfDefinition.lastIndex = end;
    if (label.startsWith("^") || !restOfDefinition.test(text)) continue;
    isCode ??= createUnreadTest(text);
    if (isCode(match.index + whole.indexOf("["))) continue;
    const key = labelKey(label);
    if (labels.has(key)) continue;
    labels.add(key);
    const start = end - (inAngles === undefined ? bare.length : inAngles.length + 2);
    const link = { start, end, target: unescape(inAngles ?? bare), isAttribute: false };
    found.push(used.has(key) ? link : { ...link, isUnused: true });
  }
  return found;
}

/** `[…](…)` and `<a href>` outside of code. */
function findInline(text: string): FoundLink[] {
  const isCode = createUnreadTest(text);
  let labels: Set<string> | undefined;
  const isDefined = (label: string): boolean =>
    (labels ??= new Set([...text.matchAll(definition)].map(([, each = ""]) => labelKey(each)))).has(
      labelKey(label),
    );
  const found: FoundLink[] = [];
  // The offset of each open bracket; undefined for one of an image.
  let open: (number | undefined)[] = [];
  marks.lastIndex = 0;
  for (let match = marks.exec(text); match; match = marks.exec(text)) {
    const [mark] = match;
    const next = marks.lastIndex;
    if (mark.startsWith("\n")) open = [];
    if (mark.startsWith("\n") || mark.startsWith("\\") || isCode(match.index)) continue;
    if (mark === "]") {
      const from = open.pop();
      const isLink = from !== undefined && text[next] === "(";
      // CommonMark, "Links": of `[text][label](more)`, the label counts, where it is defined.
      const isLabel =
        isLink && text[from - 1] === "]" && isDefined(text.slice(from + 1, match.index));
      const link = isLink && !isLabel ? readInline(text, next + 1) : undefined;
      if (link && from !== undefined) found.push({ ...link, label: [from + 1, match.index] });
      if (link) marks.lastIndex = link.end;
    } else if (mark.startsWith("<")) {
      const { attribute, end } = readAttribute(text, next, "href");
      const { value: target, ...range } = attribute ?? { value: "", start: 0, end: 0 };
      if (attribute) found.push({ ...range, target, isAttribute: true });
      marks.lastIndex = end;
    } else open.push(mark.startsWith("!") ? undefined : match.index);
  }
  return found;
}

/**
 * Finds the addresses of links in Markdown text, in order: `[…](…)`, definitions, and `<a href>`.
 * Not in code, and not of images. The time is linear in the length of the text, also for hostile
 * text.
 */
export function findLinks(text: string): FoundLink[] {
  const mayHaveInline = text.includes("](") || /<a\s/i.test(text);
  const all = [...(mayHaveInline ? findInline(text) : []), ...findDefinitions(text)];
  all.sort((one, other) => one.start - other.start);
  let end = 0;
  return all.filter((each) => {
    const isApart = each.start >= end;
    if (isApart) end = each.end;
    return isApart;
  });
}

/** The links of a page: as far as its format has it, none in indented code. */
export function linksIn(text: string, { indents }: LinkingFile): FoundLink[] {
  const found = findLinks(text);
  if (indents !== true || found.length === 0) return found;
  const isCode = createLookup(indentedCodeOf(text));
  return found.filter(({ start }) => !isCode(start));
}

interface Rewritten {
  text: string;
  /** The offset in `text` of an offset in the original. */
  shift(offset: number): number;
  /** Relative links to no file. */
  dead: number;
  firstDead: { offset: number; target: string } | undefined;
}

// Fragments, schemes, other hosts, repositories (`git@host:path`), and expressions of template languages.
const elsewhere =
  /^(?:$|[#?]|\/\/|[A-Za-z][A-Za-z\d+.-]*:|[\w.-]{1,100}@[\w.-]{1,200}:|%.*%$)|[{$]\{|\{[%<]|<%/;
// A hostile document: further addresses stay as written.
const mostTargets = 10_000;
const longest = 4096;

/** Adds the query and the fragment of a link; the link's own fragment gives way. */
function withSuffix(link: string, suffix: string): string {
  if (suffix === "") return link;
  const hash = suffix.indexOf("#");
  const query = hash === -1 ? suffix : suffix.slice(0, hash);
  const fragment = hash === -1 ? "" : suffix.slice(hash);
  const ownHash = link.indexOf("#");
  const base = ownHash === -1 ? link : link.slice(0, ownHash);
  const ownFragment = ownHash === -1 ? "" : link.slice(ownHash);
  const joinedQuery = base.includes("?") ? query.replace("?", "&") : query;
  return base + joinedQuery + (fragment === "" ? ownFragment : fragment);
}

/** An address that Markdown and HTML read as it is. */
function written(link: string, isAttribute: boolean): string {
  const safe = link.replace(/[\s<>()[\]\\"`|]/g, (char) =>
    char === "(" ? "%28" : char === ")" ? "%29" : encodeURIComponent(char),
  );
  return isAttribute ? `"${safe.replaceAll("&", "&amp;")}"` : safe;
}

/** Where each replacement is, and by how much it makes the text longer. */
type Shifts = { end: number; by: number }[];

function shiftOf(shifts: Shifts): (offset: number) => number {
  return (offset) => {
    const count = countBefore(shifts.length, (at) => (shifts[at]?.end ?? Infinity) <= offset);
    return offset + (shifts[count - 1]?.by ?? 0);
  };
}

function createResolver(file: LinkingFile): (path: string) => Resolved {
  const known = new Map<string, Resolved>();
  return (path) => {
    let resolved = known.get(path);
    if (!resolved) {
      const isBounded = known.size < mostTargets && path.length <= longest;
      resolved = isBounded ? resolveLink(path, file) : { kind: "other" };
      if (isBounded) known.set(path, resolved);
    }
    return resolved;
  };
}

/** A relative link of a text. */
export interface RelativeLink extends FoundLink {
  resolved: Resolved;
  /** Query and fragment. */
  suffix: string;
}

/** The relative ones of some links in order, with the documents that they lead to. */
export function* relativeLinks(
  links: readonly FoundLink[],
  file: LinkingFile,
): Generator<RelativeLink> {
  const resolve = createResolver(file);
  for (const found of links) {
    // docusaurus.io, "pathname:// protocol": an address that is no page.
    const target = found.target.trim().replace(/^pathname:\/\/(?=\/)/, "");
    if (elsewhere.test(target)) continue;
    const at = target.search(/[?#]/);
    const place = resolve(at === -1 ? target : target.slice(0, at));
    const resolved = found.isUnused && place.kind === "dead" ? { kind: "other" as const } : place;
    yield { ...found, target, resolved, suffix: at === -1 ? "" : target.slice(at) };
  }
}

const restOfInline = /\s*(?:"[^"]*"|'[^']*'|\([^()]*\))?\s*\)/y;

/** Where the parentheses of a link end whose address ends at `end`. */
function endOfInline(text: string, end: number): number {
  restOfInline.lastIndex = end;
  return restOfInline.test(text) ? restOfInline.lastIndex : end;
}

/** The relative links of a text in order; of a note also those to its own headings. */
function linksOf(text: string, file: LinkingFile, hasLink: boolean): RelativeLink[] {
  const links = linksIn(text, file);
  const relative = [...relativeLinks(links, file)];
  if (!file.vault) return relative;
  const page = {
    kind: "document",
    stamp: undefined,
    link: () => (hasLink ? "" : undefined),
  } as const;
  const own = links
    .filter(({ target }) => target.startsWith("#"))
    .map((found) => ({
      ...found,
      resolved: { kind: "document" as const, target: page },
      suffix: found.target,
    }));
  return [...relative, ...own].sort((one, other) => one.start - other.start);
}

/** The fragment of a heading that a note names by its text. */
function suffixOf(suffix: string, { vault }: LinkingFile): string {
  if (!vault || !suffix.startsWith("#")) return suffix;
  return `#${slugOf(plainText(decodePercent(suffix.slice(1))), vault.anchors)}`;
}

/**
 * Replaces relative links to files of the project by the links of their documents, and other
 * addresses that begin with "/" by those of `site`, where a browser would look for them. In a note, a
 * link without an address becomes its text.
 */
export function rewriteLinks(text: string, file: LinkingFile, site?: string): Rewritten {
  const shifts: Shifts = [];
  let result = "";
  let from = 0;
  let dead = 0;
  let firstDead: Rewritten["firstDead"];
  const replace = ({ start, end, isAttribute }: FoundLink, link: string): void => {
    result += text.slice(from, start) + written(link, isAttribute);
    from = end;
    shifts.push({ end, by: result.length - end });
  };
  const unwrap = ([start, labelEnd]: readonly [number, number], end: number): void => {
    result += text.slice(from, start - 1) + text.slice(start, labelEnd);
    from = endOfInline(text, end);
    shifts.push({ end: from, by: result.length - from });
  };
  for (const found of linksOf(text, file, site !== undefined)) {
    const { resolved, start, end, target, label } = found;
    if (resolved.kind === "dead") {
      dead++;
      firstDead ??= { offset: start, target };
    }
    const link = resolved.kind === "document" ? resolved.target.link() : undefined;
    if (link !== undefined) replace(found, withSuffix(link, suffixOf(found.suffix, file)));
    else if (file.vault && label) unwrap(label, end);
    else if (site !== undefined && target.startsWith("/")) replace(found, site + target);
  }
  return { text: result + text.slice(from), shift: shiftOf(shifts), dead, firstDead };
}
