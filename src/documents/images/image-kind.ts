/** Images that every deployment and its models take. */
export type ImageMime = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

const extensions: Readonly<Record<ImageMime, readonly string[]>> = {
  "image/png": ["png"],
  "image/jpeg": ["jpg", "jpeg"],
  "image/gif": ["gif"],
  "image/webp": ["webp"],
};

/** What a file is by its first bytes, whatever its name says; undefined for anything else. */
export function imageKindOf(bytes: Uint8Array): ImageMime | undefined {
  const start = Buffer.from(bytes.subarray(0, 16)).toString("latin1");
  if (start.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (start.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (start.startsWith("GIF87a") || start.startsWith("GIF89a")) return "image/gif";
  if (start.startsWith("RIFF") && start.slice(8, 12) === "WEBP") return "image/webp";
  return undefined;
}

/**
 * The name under which an image is uploaded: the file's own without its folder,
 * with an extension that fits its bytes. A service may unpack what is called
 * `.zip` (observed-service.md 5).
 */
export function uploadNameOf(path: string, mime: ImageMime): string {
  const base = path.slice(path.lastIndexOf("/") + 1);
  // oxlint-disable-next-line no-control-regex
  const name = base.replace(/[\0-\x1f\x7f"\\:*?<>|]/g, "_");
  const extension = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? "";
  return extensions[mime].includes(extension) ? name : `${name}.${extensions[mime][0] ?? "bin"}`;
}
