import type { Fields } from "../../front-matter/fields.ts";
import { textOf, type Value } from "../../front-matter/values.ts";
import { withoutExtension } from "../../files/file-name.ts";
import type { Effective } from "../effective.ts";
import { styledLink } from "./link-style.ts";
import { siteLinks } from "./site-links.ts";
import { expandTemplate, withoutIndex, type Link } from "./template.ts";
import type { DocumentSettings } from "../settings.ts";

const absolute = /^[A-Za-z][A-Za-z0-9+.-]+:/;
// These schemes run or embed something when somebody clicks on a citation.
const unsafe = /^(?:javascript|data|vbscript):/i;

/** Keeps an absolute link; joins a relative link to `base`. Returns a `problem` for a bad link. */
function joinLink(link: string, base: string | undefined): Link {
  // Browsers skip blanks and control characters in front of a scheme and in it.
  const bare = link.replace(/[^!-~\u00a1-\uffff]/g, "");
  if (unsafe.test(bare))
    return { problem: `${bare.slice(0, bare.indexOf(":"))}: links are unsafe` };
  if (absolute.test(link)) return { link };
  if (base === undefined)
    return {
      problem: link === "" ? "the link is empty" : "the link is relative and linkBase is not set",
    };
  // Joined as text: `new URL("/x", "https://host/prefix")` would lose the prefix.
  return { link: `${base.replace(/\/+$/, "")}/${link.replace(/^(?:\.?\/)+/, "")}` };
}

/** A file whose link is wanted: of a document, or of a file that a document links to. */
export interface LinkedFile {
  /** Root-relative. */
  path: string;
  fields: Fields;
  settings: DocumentSettings;
  effective: Effective;
  id: string;
}

function templateValues(path: string, id: string): Readonly<Record<string, string>> {
  const stem = withoutExtension(path);
  return {
    path,
    dir: path.slice(0, Math.max(0, path.lastIndexOf("/"))),
    name: stem.slice(stem.lastIndexOf("/") + 1),
    slug: withoutIndex(stem),
    id,
  };
}

/** A front matter value on one line; undefined for a blank one. */
function lineOf(fields: Fields, key: string): string | undefined {
  const text = textOf(fields.get(key))?.replace(/\s+/g, " ").trim();
  return text === "" || text === "null" || text === "~" ? undefined : text;
}

export interface DocumentLink {
  result: Link;
  /** For `explain`. */
  origin: string;
  /** Whether a template or a style made it, so that two files may have the same one. */
  isMade: boolean;
}

/** The link of a file: front matter, else the template or the style. Undefined if there is none. */
export function documentLink(file: LinkedFile): DocumentLink | undefined {
  const { path, fields, settings, effective, id } = file;
  const { link: template, linkStyle } = effective;
  const { linkBase } = settings;
  const field = fields.takeText(settings.keys.link);
  if (field) {
    const origin = fields.originOf(field.key);
    return { result: joinLink(field.value, linkBase), origin, isMade: false };
  }
  if (linkStyle) {
    const { site, pages } = siteLinks(effective, settings);
    const valueOf = (key: string): Value | undefined => fields.get(key);
    const styled = { path, valueOf, textOf: (key: string) => lineOf(fields, key), site };
    const link = styledLink(linkStyle.value, styled, linkBase, pages);
    const base = linkBase ?? pages?.base;
    return { result: joinLink(link, base), origin: linkStyle.origin, isMade: true };
  }
  if (!template) return undefined;
  const values = templateValues(path, id);
  const valueOf = (key: string): string | undefined =>
    Object.hasOwn(values, key) ? values[key] : textOf(fields.get(key));
  const isIndex = values["slug"] !== withoutExtension(path);
  const expanded = expandTemplate(template.value, valueOf, isIndex);
  const result = "link" in expanded ? joinLink(expanded.link, linkBase) : expanded;
  return { result, origin: template.origin, isMade: true };
}
