import { decodeEntities } from "../../../documents/images/image-tags.ts";

// Without one of them it is a part of a page, and the rest of the page can have more ids.
const wholePage = /<(?:!doctype|html|body)[\s>]/i;
// What a program replaces by text.
const generated = /\{\{|\{%|<%|<\?(?!xml)|<!--#|<(?:iframe|object|slot|[a-z]\w*-[\w-]*)[\s>/]/i;
const script = /<script(?:\s[^>]{0,500})?>/gi;
const isData =
  /\btype\s*=\s*["']?(?:application\/(?:ld\+)?json|text\/(?:x-mathjax-config|plain|template))/i;

/** Whether a program may add ids to a page when a browser shows it, or when a site is made of it. */
function mayGetIds(text: string): boolean {
  if (!wholePage.test(text) || generated.test(text)) return true;
  for (const [tag] of text.matchAll(script)) if (!isData.test(tag)) return true;
  return false;
}

// Also of attributes whose names end with them: that hides a finding at most.
const idOrName =
  /\b(?:id|name)\s{0,9}=\s{0,9}(?:"([^"]{1,500})"|'([^']{1,500})'|([^\s"'>]{1,500}))/gi;

/** The ids and names of an HTML page, one a line; undefined if programs may add some. */
export function htmlIds(text: string): string | undefined {
  if (mayGetIds(text)) return undefined;
  const ids = new Set<string>();
  for (const [, double, single, bare = ""] of text.matchAll(idOrName)) {
    const id = double ?? single ?? bare;
    ids.add((id.includes("&") ? decodeEntities(id) : id).trim());
  }
  return [...ids].join("\n");
}
