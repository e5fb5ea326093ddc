import { notesOf } from "../../parts/notes-by-name.ts";
import { effectiveFor } from "../effective.ts";
import type { DocumentSettings } from "../settings.ts";
import { pageFolderOf } from "./link-style.ts";
import type { LinkingFile } from "./resolve-link.ts";
import { targetsFor } from "./targets.ts";

/** A document as its links are resolved. `note` is called with each path that is looked at. */
export function linkingFile(
  path: string,
  settings: DocumentSettings,
  note: LinkingFile["note"],
): LinkingFile {
  const { resolving: style, site: own, anchors, pages } = effectiveFor(path, settings);
  const site = pageFolderOf(own, settings);
  const file = { path, style, site, pages, targets: targetsFor(settings), note };
  if (own?.generator !== "obsidian") return file;
  return { ...file, vault: { find: (name) => notesOf(settings).find(name, path), anchors } };
}
