import { createHash } from "node:crypto";
import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { CliError, codeOf, fileProblem } from "../../../errors.ts";
import { readContent } from "../../files/bytes/content.ts";
import { isPointer, pointerProblem } from "../../files/bytes/file-bytes.ts";
import { relativeTo } from "../../files/root.ts";
import { sourceFile, stampOf } from "../../files/source-file.ts";

/** Image types that every deployment and its models accept. */
type ImageMime = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

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

/** An image of the project, as of the mapping of its document. Contains no bytes. */
export interface LocalImage {
  /** Real path, relative to the root, with "/". */
  path: string;
  /** Real path. */
  absolutePath: string;
  /** Hex. */
  sha256: string;
  /** Detected from the bytes. */
  mime: ImageMime;
  sizeBytes: number;
  /** Upload name: without folders, with an extension that fits the bytes. */
  name: string;
}

/** Why an image cannot be sent. If the file is a pointer, its document cannot be sent either. */
export interface ImageProblem {
  problem: string;
  isPointer?: true;
}

type ReadImage = { image: LocalImage; bytes: Uint8Array | undefined } | ImageProblem;

const maxImageBytes = 20 * 1024 * 1024;

function problemOf(error: unknown): { problem: string } {
  if (error instanceof CliError) return { problem: error.message };
  const code = codeOf(error);
  if (code === undefined) throw error;
  return { problem: fileProblem(code) };
}

function refusalOf(path: string | undefined): string | undefined {
  if (path === undefined) return "it lies outside the project root";
  const isInternal = /(?:^|\/)(?:\.git|\.knowctl)(?:\/|$)/i.test(path);
  return isInternal ? "it lies in a .git or .knowctl folder" : undefined;
}

// Many documents can refer to one image, for example a logo. Bounded: cleared when full.
const imageCache = new Map<string, { stamp: string; image: LocalImage }>();
const maxCached = 10_000;
// A file that changed just now may change again without a new stamp.
const settledMs = 2000;

function remember(stamp: string, changedMs: number, image: LocalImage): void {
  if (Date.now() - changedMs < settledMs) return;
  if (imageCache.size >= maxCached) imageCache.clear();
  imageCache.set(image.absolutePath, { stamp, image });
}

// Linux reports the real path of an open file, even if somebody replaces a folder meanwhile. On
// other systems only the comparison of stamps before and after protects.
function isOpenAt(real: string): (descriptor: number) => boolean {
  return (descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`) === real;
    } catch {
      return true;
    }
  };
}

const stampAt = (path: string): string => stampOf(lstatSync(path, { bigint: true }));

function readReal(root: string, real: string, needsBytes: boolean): ReadImage {
  const path = relativeTo(root, real);
  const refusal = refusalOf(path);
  if (refusal !== undefined || path === undefined) return { problem: refusal ?? "" };
  const stats = lstatSync(real, { bigint: true });
  if (!stats.isFile()) return { problem: "not a regular file" };
  if (stats.size > BigInt(maxImageBytes)) return { problem: "more than 20 MiB" };
  const stamp = stampOf(stats);
  const cached = imageCache.get(real);
  if (!needsBytes && cached?.stamp === stamp) {
    return { image: { ...cached.image, path }, bytes: undefined };
  }
  // Opened without following a link. Size, times and inode are then those of the open file. They
  // differ from the checked ones if somebody replaced the file, or a folder on its path by a link.
  const file = sourceFile("it", real, stats);
  const content = readContent(file, maxImageBytes, isOpenAt(real));
  const isSamePath = realpathSync.native(real) === real;
  if (!isSamePath || content.stamp !== stamp || stampAt(real) !== stamp) {
    return { problem: "changed while it was read" };
  }
  const { bytes } = content;
  if (isPointer(bytes)) return { problem: pointerProblem, isPointer: true };
  const mime = imageKindOf(bytes);
  if (mime === undefined) return { problem: "not a PNG, JPEG, GIF or WebP image" };
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const name = uploadNameOf(path, mime);
  const image = { path, absolutePath: real, sha256, mime, sizeBytes: bytes.length, name };
  remember(stamp, Number(stats.ctimeMs), image);
  return { image, bytes };
}

function readFrom(root: string, wanted: string, needsBytes: boolean): ReadImage {
  try {
    return readReal(root, realpathSync.native(wanted), needsBytes);
  } catch (error) {
    return problemOf(error);
  }
}

export const missingFile = fileProblem("ENOENT");

/**
 * The image that a path names, relative to a document at `from` (absolute), or why it cannot be
 * sent. Opens only regular files inside the root (a real path). `path` has "/", as in placeOf().
 * Calls `note` with each root-relative path before it reads the file.
 */
export function readImage(
  root: string,
  from: string,
  { path, isFromRoot }: { path: string; isFromRoot: boolean },
  note: (path: string) => void = () => {},
): { image: LocalImage } | ImageProblem {
  let last: ImageProblem = { problem: missingFile };
  // Some file systems keep names as typed, for example in NFD on macOS.
  for (const form of new Set([path, path.normalize("NFC"), path.normalize("NFD")])) {
    const wanted = join(isFromRoot ? root : dirname(from), form);
    const below = relativeTo(root, wanted);
    if (below === undefined) return { problem: "it lies outside the project root" };
    note(below);
    const read = readFrom(root, wanted, false);
    if ("image" in read) return { image: read.image };
    last = read;
    if (read.problem !== missingFile) break;
  }
  return last;
}

/**
 * Reads the bytes of a mapped image for its upload. Throws CliError `usage` when the image can no
 * longer be read or has changed.
 */
export function readImageBytes(root: string, image: LocalImage): Uint8Array {
  const read = readFrom(root, image.absolutePath, true);
  if ("problem" in read) {
    throw new CliError("usage", `${image.path}: the image cannot be read: ${read.problem}`);
  }
  if (read.image.sha256 !== image.sha256 || read.bytes === undefined) {
    throw new CliError("usage", `${image.path}: the image changed during the run`, {
      hints: ["run the command again when no program writes to it"],
    });
  }
  // A copy: the buffer is reused for the next file.
  return Uint8Array.from(read.bytes);
}
