import { createHasAlike } from "../../../documents/find/alike-place.ts";

/** The id that a stored id is made of; the stored id itself where it is made otherwise. */
function sentId(stored: string, storedId: (id: string) => string): string {
  try {
    const id = decodeURIComponent(stored);
    return storedId(id) === stored ? id : stored;
  } catch {
    return stored;
  }
}

/**
 * Returns a function for listed documents without a record that no file yields: the id of a
 * document of this project, and undefined if it may belong to another project (it is not below the
 * prefix) or if a file has its path (excluded, opted out, or not read as a row).
 */
export function createExtraId({
  root,
  idPrefix,
  storedId,
}: {
  root: string;
  idPrefix: string;
  storedId: (id: string) => string;
}): (stored: string) => string | undefined {
  const storedPrefix = storedId(idPrefix);
  const hasAlike = createHasAlike(root);
  return (stored) => {
    if (!stored.startsWith(storedPrefix)) return undefined;
    const id = sentId(stored, storedId);
    const path = id.slice(idPrefix.length);
    // The id of a row ends with its number.
    const isFile = hasAlike(path) || hasAlike(path.replace(/#\d+$/, ""));
    return isFile ? undefined : id;
  };
}
