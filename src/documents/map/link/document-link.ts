import type { Fields } from "../../front-matter/fields.ts";
import { textOf } from "../../front-matter/values.ts";
import { withoutExtension } from "../../read/file-name.ts";
import type { Effective } from "../effective.ts";
import { styledLink } from "./link-style.ts";
import { expandTemplate, withoutIndex, type Link } from "./link-template.ts";
import { joinLink } from "./link.ts";
import type { DocumentSettings } from "../settings.ts";

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
    const styled = { path, textOf: (key: string) => lineOf(fields, key) };
    const link = styledLink(linkStyle.value, styled, linkBase);
    return { result: joinLink(link, linkBase), origin: linkStyle.origin, isMade: true };
  }
  if (!template) return undefined;
  const values = templateValues(path, id);
  const expanded = expandTemplate(template.value, (key) =>
    Object.hasOwn(values, key) ? values[key] : textOf(fields.get(key)),
  );
  const result = "link" in expanded ? joinLink(expanded.link, linkBase) : expanded;
  return { result, origin: template.origin, isMade: true };
}
