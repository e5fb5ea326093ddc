import type { DocumentRef, RetrievedDocument } from "./result.ts";

/** How the folder and the service name documents. */
export interface DocumentNames {
  /** Ids of the documents that a file yields, as the service stores them; empty if there are none. */
  idsOfPath(path: string): readonly string[];
  /** The ids under which the service may store a document, see storedIdsOf(). */
  storedIds(id: string): readonly string[];
}

/** Whether a document that the service returned is the one that a suite names. */
export type DocumentMatch = (ref: DocumentRef, found: RetrievedDocument) => boolean;

/** A link as it is compared: as browsers write it, without the fragment unless `withFragment`. */
function comparedLink(link: string, withFragment: boolean): string {
  if (!URL.canParse(link)) return withFragment ? link : link.replace(/#.*$/s, "");
  const url = new URL(link);
  if (!withFragment) url.hash = "";
  return url.href;
}

function matchesLink(wanted: string, found: string | null): boolean {
  if (found === null) return false;
  const withFragment = wanted.includes("#");
  return comparedLink(wanted, withFragment) === comparedLink(found, withFragment);
}

/**
 * Creates the comparison of documents. A path matches the documents of its file: by the local path
 * that was found for the document, or by the id that the mapping gives to the file. An id matches as
 * written or as the service stores it. A link matches without regard to a fragment, unless the suite
 * names one.
 */
export function createDocumentMatch({ idsOfPath, storedIds }: DocumentNames): DocumentMatch {
  return (ref, { id, path, link }) => {
    if ("link" in ref) return matchesLink(ref.link, link);
    if ("id" in ref) return id !== null && (id === ref.id || storedIds(ref.id).includes(id));
    if (path === ref.path) return true;
    return id !== null && idsOfPath(ref.path).includes(id);
  };
}

/** A document of a suite as people read it. */
export function documentText(ref: DocumentRef): string {
  if ("path" in ref) return ref.path;
  return "id" in ref ? `id ${ref.id}` : ref.link;
}
