import { CliError } from "../../../errors.ts";
import { pathIn, type Folder } from "../folder.ts";
import { normalise } from "../../inspect/stamp.ts";

/** Shows combining marks as code points: otherwise the names look equal on a screen. */
function spelledOut(name: string): string {
  return name.replace(/\p{M}/gu, (mark) => `\\u{${mark.codePointAt(0)?.toString(16)}}`);
}

/**
 * Throws CliError `usage` when two files or two folders in one folder have the same NFC path:
 * neither the state nor a document id could distinguish them. `entries` are sorted by their
 * normalised names.
 */
export function refuseNormalisationCollisions(
  entries: readonly { kind: "file" | "folder" | "link" | "found"; key: string }[],
  folder: Folder,
  dirents: readonly { name: string }[],
): void {
  let previousKey: string | undefined;
  for (const { kind, key } of entries) {
    // A link is no document: its target has its own path.
    if (kind === "found" || kind === "link") continue;
    if (key === previousKey) {
      const name = key.replace(/\/$/, "");
      const colliding = dirents.filter((each) => normalise(each.name) === name);
      throw new CliError("usage", "two names differ only in their Unicode normalisation", {
        details: colliding.map((each) => pathIn(folder, spelledOut(each.name))),
        hints: ["rename one of them: otherwise one document overwrites the other"],
      });
    }
    previousKey = key;
  }
}
