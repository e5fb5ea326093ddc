import { partsText, stampAt } from "./part-stamps.ts";
import { trustedStamp } from "../files/stamp.ts";

/**
 * The files, besides its own, that a document is made of: included files, images, files that it
 * links to. Also those that were looked for in vain: when one appears, the document changes.
 */
export interface Parts {
  /** Records a root-relative path. Call it before the file is read, so that no change is missed. */
  note(path: string): void;
  /** Records a path with the stamp that it had before it was read; undefined if not trusted. */
  add(path: string, stamp: string | undefined): void;
  /** As the state records them; undefined without parts. */
  text(): string | undefined;
  /** Whether every later change of a part changes text(). */
  isTrusted(): boolean;
}

/** A document with more parts is read on each run, and with each `--since`. */
export const mostParts = 1000;

/** The stamp of a part now: "" for a missing file, undefined if it cannot be trusted. */
function stampNow(root: string, path: string): string | undefined {
  const stamp = stampAt(root, path);
  if (stamp === "") return stamp;
  return trustedStamp(stamp, Date.now()) || undefined;
}

/** Creates the empty list of parts of one document. `root` is absolute and real. */
export function createParts(root: string): Parts {
  const stamps = new Map<string, string>();
  let isTrusted = true;
  const add: Parts["add"] = (path, stamp) => {
    if (stamp === undefined) isTrusted = false;
    if (stamps.has(path)) return;
    if (stamps.size >= mostParts) isTrusted = false;
    if (stamps.size < mostParts) stamps.set(path, stamp ?? "");
  };
  return {
    note(path) {
      if (stamps.has(path)) return;
      add(path, stamps.size < mostParts ? stampNow(root, path) : undefined);
    },
    add,
    text: () => (stamps.size === 0 ? undefined : partsText(stamps)),
    isTrusted: () => isTrusted,
  };
}
