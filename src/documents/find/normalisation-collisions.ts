import { CliError } from "../../errors.ts";
import { pathIn, type Folder } from "./folder.ts";
import { normalise } from "../inspect/stamp.ts";

/** A name as it can be told apart on a screen: combining marks by their numbers. */
function spelledOut(name: string): string {
  return name.replace(/\p{M}/gu, (mark) => `\\u{${mark.codePointAt(0)?.toString(16)}}`);
}

/**
 * Throws CliError `usage` where two files or two folders of one folder have one path: paths are
 * NFC, and neither the state nor a document id could tell them apart. `entries` are sorted by
 * their normalised names.
 */
export function refuseNormalisationCollisions(
  entries: readonly { kind: "file" | "folder" | "link" | "found"; key: string }[],
  folder: Folder,
  dirents: readonly { name: string }[],
): void {
  let before: string | undefined;
  for (const { kind, key } of entries) {
    // A link is no document: what it leads to has a path of its own.
    if (kind === "found" || kind === "link") continue;
    if (key === before) {
      const name = key.replace(/\/$/, "");
      const twins = dirents.filter((each) => normalise(each.name) === name);
      throw new CliError("usage", "two names differ in nothing but their Unicode normalisation", {
        details: twins.map((each) => pathIn(folder, spelledOut(each.name))),
        hints: ["rename one of them: as documents each would overwrite the other"],
      });
    }
    before = key;
  }
}
