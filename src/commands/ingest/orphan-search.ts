import { dialects } from "../../api/dialects.ts";
import { createRealPlaces, exists } from "../../documents/real-place.ts";
import type { OrphanSearch } from "../../sync/orphans.ts";
import type { Target } from "../../sync/target.ts";
import type { DocumentSource } from "./settings.ts";

/** How orphans of a target are told from documents that are only out of sight. */
export function orphanSearch(source: DocumentSource, target: Target): OrphanSearch {
  const realPlaceOf = createRealPlaces(source.settings.root);
  return {
    target: target.key,
    storesAlike: dialects[source.config.dialect].storedId !== undefined,
    exists: (path) => exists(realPlaceOf(path)),
  };
}
