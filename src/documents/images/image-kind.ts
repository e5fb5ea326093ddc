/** Image types that every deployment and its models accept. */
export type ImageMime = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

const extensions: Readonly<Record<ImageMime, readonly string[]>> = {
  "image/png": ["png"],
  "image/jpeg": ["jpg", "jpeg"],
  "image/gif": ["gif"],
  "image/webp": ["webp"],
};

/** The image type by the first bytes of a file, not by its name; undefined for anything else. */
export function imageKindOf(bytes: Uint8Array): ImageMime | undefined {
  const start = Buffer.from(bytes.subarray(0, 16)).toString("latin1");
  if (start.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (start.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (start.startsWith("GIF87a") || start.startsWith("GIF89a")) return "image/gif";
  if (start.startsWith("RIFF") && start.slice(8, 12) === "WEBP") return "image/webp";
  return undefined;
}

/**
 * The upload name of an image: the file name without its folder, with an extension that fits the
 * bytes. A service may unpack a file with the name `.zip` (observed-service.md 5).
 */
export function uploadNameOf(path: string, mime: ImageMime): string {
  const base = path.slice(path.lastIndexOf("/") + 1);
  // oxlint-disable-next-line no-control-regex
  const name = base.replace(/[\0-\x1f\x7f"\\:*?<>|]/g, "_");
  const extension = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? "";
  return extensions[mime].includes(extension) ? name : `${name}.${extensions[mime][0] ?? "bin"}`;
}
