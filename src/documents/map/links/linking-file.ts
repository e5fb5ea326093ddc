import { notesOf } from "../../parts/notes-by-name.ts";
import { effectiveFor } from "../effective.ts";
import type { DocumentSettings } from "../settings.ts";
import type { LinkingFile } from "./resolve-link.ts";
import { targetsFor } from "./targets.ts";

/** A document as its links are resolved. `note` is called with each path that is looked at. */
export function linkingFile(
  path: string,
  settings: DocumentSettings,
  note: LinkingFile["note"],
): LinkingFile {
  const { resolving: style, site, anchors, pages } = effectiveFor(path, settings);
  const file = { path, style, pages, targets: targetsFor(settings), note };
  if (site?.generator !== "obsidian") return file;
  return { ...file, vault: { find: (name) => notesOf(settings).find(name, path), anchors } };
}
