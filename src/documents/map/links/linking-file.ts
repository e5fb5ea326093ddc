import { notesOf } from "../../parts/notes-by-name.ts";
import { formatOf, formats } from "../../formats/formats.ts";
import { effectiveFor } from "../effective.ts";
import type { DocumentSettings } from "../settings.ts";
import type { LinkingFile } from "./resolve-link.ts";
import { siteLinks } from "./site-links.ts";
import { targetsFor } from "./targets.ts";

/** A document as its links are resolved. `note` is called with each path that is looked at. */
export function linkingFile(
  path: string,
  settings: DocumentSettings,
  note: LinkingFile["note"],
): LinkingFile {
  const effective = effectiveFor(path, settings);
  const { resolving: style, site: own } = effective;
  const { site, anchors, pages, isMade } = siteLinks(effective, settings);
  const indents =
    formatOf(path, settings.format) === formats.markdown &&
    !/^(?:docusaurus|starlight|mintlify)$/.test(own?.generator ?? "");
  const file = { path, style, site, pages, targets: targetsFor(settings), isMade, indents, note };
  if (own?.generator !== "obsidian") return file;
  return { ...file, vault: { find: (name) => notesOf(settings).find(name, path), anchors } };
}
