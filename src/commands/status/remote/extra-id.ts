import { createHasAlike } from "../../../documents/find/place/alike-place.ts";

/** The id that a stored id is made of; undefined where the service encodes no id like that. */
function sentId(stored: string, storedId: (id: string) => string): string | undefined {
  try {
    const id = decodeURIComponent(stored);
    return storedId(id) === stored ? id : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns a function for listed documents without a record that no file yields: the id of a
 * document of this project, and undefined if it belongs to another project (it is not below the
 * prefix, or not encoded like an id of this project) or if a file has its path (excluded, opted out,
 * or not read as rows).
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
    // Without a prefix, all documents of the pair count. A foreign id is shown as it is stored.
    const id = sentId(stored, storedId) ?? (idPrefix === "" ? stored : undefined);
    if (id === undefined) return undefined;
    const path = id.slice(idPrefix.length);
    // The id of a row ends with its number.
    const isFile = hasAlike(path) || hasAlike(path.replace(/#\d+$/, ""));
    return isFile ? undefined : id;
  };
}
