import type { Client } from "../../../api/client.ts";
import type { Gate } from "../../../api/retry/gate.ts";
import { readImageBytes, type LocalImage } from "../../../documents/images/images.ts";
import { ApiError, CliError } from "../../../errors.ts";

export interface ImageUploads {
  /** Uploads one image of the project; resolves with its id in the service. */
  upload(image: LocalImage): Promise<string>;
  /** Number of uploads without a response: the service may have stored files that no document uses. */
  lost(): number;
}

function failureOf(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const { message, hints, details, status, exit, method, url } = error;
  // The service rejected this image, so only its document fails.
  if (status === 200) return new CliError("usage", message, { hints, details, cause: error });
  if (status !== 404 && status !== 405) return error;
  return new ApiError(exit, message, {
    method,
    url,
    status,
    details,
    hints: ["the service accepts no images at this address: use --images skip", ...hints],
    cause: error,
  });
}

/** Uploads images of the project below `root` (a real path), through the gate of the run. */
export function createImageUploads(client: Client, root: string, gate: Gate): ImageUploads {
  let lost = 0;
  return {
    async upload(image) {
      const { name, mime: type, sizeBytes } = image;
      let unreadable: unknown;
      // Read just before sending, so that waiting images use no memory.
      // oxlint-disable-next-line typescript/require-await
      const bytes = async function* (): AsyncGenerator<Uint8Array> {
        try {
          yield readImageBytes(root, image);
        } catch (error) {
          unreadable = error;
          throw error;
        }
      };
      const onOrphan = (): void => void lost++;
      const options = { gate, isRemembered: true, onOrphan };
      try {
        const { uploadImage } = await import("../../../api/files.ts");
        return await uploadImage(client, { name, type, sizeBytes, bytes }, options);
      } catch (error) {
        throw unreadable ?? failureOf(error);
      }
    },
    lost: () => lost,
  };
}
