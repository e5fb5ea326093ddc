import type { IngestionRequest } from "../../api/schemas.ts";
import { imagePlaceholder } from "../../documents/map/images/image-sections.ts";
import type { LocalImage } from "../../documents/map/images/images.ts";
import { stateFailure } from "../state/state-failure.ts";
import type { State } from "../state/state.ts";

/** Images of the documents of a run: uploaded once per content, remembered in the state. */
export interface Images {
  /**
   * Returns the request with the service's file ids in place of the image placeholders.
   * Uploads images that have no id yet. Throws what the upload throws.
   */
  place(body: Uint8Array, images: readonly LocalImage[]): Promise<Uint8Array>;
}

export interface ImagesRequest {
  state: State;
  /** Origin and path prefix of the service that issued the ids. */
  service: string;
  /** Upload images of earlier runs again: the service may have lost them. */
  force: boolean;
  /** Uploads one image; resolves with its id. */
  upload: (image: LocalImage) => Promise<string>;
  now: () => number;
}

function withFileIds(body: Uint8Array, ids: ReadonlyMap<string, string>): Uint8Array {
  const request = JSON.parse(Buffer.from(body).toString()) as IngestionRequest;
  for (const section of request.document.sections) {
    const id = ids.get(section.image_file_id ?? "");
    if (id !== undefined) section.image_file_id = id;
  }
  return Buffer.from(JSON.stringify(request));
}

/** Creates the image uploader. With a temporary state it remembers images until the state closes. */
export function createImages({ state, service, force, upload, now }: ImagesRequest): Images {
  const { database } = state;
  const select = database.prepare("SELECT file_id FROM images WHERE service = ? AND hash = ?");
  const insert = database.prepare(
    "INSERT OR REPLACE INTO images (service, hash, file_id, sent_at) VALUES (?, ?, ?, ?)",
  );
  const uploads = new Map<string, Promise<string>>();
  const uploadedInThisRun = new Set<string>();

  const uploadOne = async (image: LocalImage): Promise<string> => {
    const { sha256 } = image;
    const id = await upload(image);
    // Record the image before its document is sent, so that a retry finds the id.
    try {
      database.transaction(() => insert.run(service, sha256, id, now()));
    } catch (error) {
      throw stateFailure("for images", error);
    }
    if (force) uploadedInThisRun.add(sha256);
    return id;
  };
  const idOf = (image: LocalImage): Promise<string> | string => {
    const { sha256 } = image;
    const known = force && !uploadedInThisRun.has(sha256) ? undefined : select.get(service, sha256);
    if (known) return String(known["file_id"]);
    let uploading = uploads.get(sha256);
    if (!uploading) {
      uploading = uploadOne(image).finally(() => uploads.delete(sha256));
      uploads.set(sha256, uploading);
    }
    return uploading;
  };
  return {
    async place(body, images) {
      if (images.length === 0) return body;
      const ids = new Map<string, string>();
      // Sequential: several documents are already in flight at the same time.
      for (const image of images) ids.set(imagePlaceholder(image.sha256), await idOf(image));
      return withFileIds(body, ids);
    },
  };
}
