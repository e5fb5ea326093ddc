import { findLinks, type FoundLink } from "./find-links.ts";
import { resolveLink, type LinkingFile, type Resolved } from "./resolve-link.ts";

export interface Rewritten {
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
    // The last replacement before the offset.
    let [low, high] = [0, shifts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((shifts[middle]?.end ?? Infinity) <= offset) low = middle + 1;
      else high = middle;
    }
    return offset + (shifts[low - 1]?.by ?? 0);
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
    const target = found.target.trim();
    if (elsewhere.test(target)) continue;
    const at = target.search(/[?#]/);
    const resolved = resolve(at === -1 ? target : target.slice(0, at));
    yield { ...found, target, resolved, suffix: at === -1 ? "" : target.slice(at) };
  }
}

/**
 * Replaces relative links to files of the project by the links of their documents, and other
 * addresses that begin with "/" by those of `site`, where a browser would look for them.
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
  for (const found of relativeLinks(findLinks(text), file)) {
    const { resolved, suffix, start, target } = found;
    if (resolved.kind === "dead") {
      dead++;
      firstDead ??= { offset: start, target };
    }
    const link = resolved.kind === "document" ? resolved.target.link() : undefined;
    if (link !== undefined) replace(found, withSuffix(link, suffix));
    else if (site !== undefined && target.startsWith("/")) replace(found, site + target);
  }
  return { text: result + text.slice(from), shift: shiftOf(shifts), dead, firstDead };
}
