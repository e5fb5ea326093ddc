import type { Section } from "../../../api/schemas.ts";
import { decodePercent } from "../../files/file-name.ts";
import { findReferences } from "./image-references.ts";
import { missingFile, readImage, type LocalImage } from "./images.ts";

/** The target of an image address, judged by its text alone. */
type ImagePlace =
  /** On the web, or within the document: not a file. */
  | { kind: "elsewhere" }
  /** Path with "/"; `isFromRoot` if it begins with "/". */
  | { kind: "file"; path: string; isFromRoot: boolean }
  | { kind: "refused"; reason: string };

// oxlint-disable-next-line no-control-regex
const control = /[\0-\x1f\x7f]/;

const refused = (reason: string): ImagePlace => ({ kind: "refused", reason });

/** Reads an image address like a browser: "\" is "/"; query and fragment are ignored. */
export function placeOf(source: string): ImagePlace {
  const address = source.trim();
  if (address.startsWith("//")) return { kind: "elsewhere" };
  if (/^[\\/]{2}/.test(address)) return refused("a network path is not read");
  const scheme = /^([A-Za-z][A-Za-z\d+.-]*):/.exec(address)?.[1]?.toLowerCase();
  if (scheme === "file") return refused("a file: address is not read");
  if (scheme?.length === 1) return refused("a path with a drive letter is not read");
  if (scheme !== undefined) return { kind: "elsewhere" };
  const path = decodePercent(address.replace(/[?#][^]*$/, "")).replaceAll("\\", "/");
  if (path === "") return { kind: "elsewhere" };
  if (control.test(path)) return refused("the path contains control characters");
  return { kind: "file", path, isFromRoot: path.startsWith("/") };
}

export interface PlacedImage {
  image: LocalImage;
  /** Where the text first refers to it. */
  offset: number;
}

interface PlacedProblem {
  offset: number;
  text: string;
  /** The file is a Git LFS pointer instead of an image. */
  isPointer: boolean;
}

export interface FoundImages {
  /** Each content once, in order. */
  images: readonly PlacedImage[];
  /** Number of references without an entry in `images`. */
  leftOut: number;
  /** One line for each reference to a file that cannot be sent, without the document's path. */
  problems: readonly PlacedProblem[];
}

/**
 * Placeholder for the service's id of an image that is not uploaded yet. Replace only the
 * placeholders that the mapping lists in `uploads`: a JSON document may contain the same text.
 */
export function imagePlaceholder(sha256: string): string {
  return `knowctl-image:${sha256}`;
}

const maxProblems = 50;

/** Not truncated: redaction could not recognise a truncated key. */
const nameOf = (source: string): string =>
  source.length > 120 ? `with an address of ${source.length} characters` : source;

const family =
  /^((?:.*\/)?modules\/[^/]+\/|(?:\.\.\/)+(?:[^./][^/]*\/)?)(?=(?:images|attachments)\/)/;

/**
 * The other folder where a module of Antora keeps the image or attachment that a page names by the
 * path to the family (docs.antora.org, "Images": `assets/images`); undefined for other paths.
 */
export function inAssets(path: string): string | undefined {
  const other = path.replace(family, "$1assets/");
  return other === path ? undefined : other;
}

type Result = ReturnType<typeof readImage> | { elsewhere: true };

/** Where images are looked for. */
interface Place {
  root: string;
  /** Of the document. */
  absolutePath: string;
  /** Called with the root-relative path of each file before it is read. */
  note: (path: string) => void;
  /** Finds a file that a note names, see LinkingFile. */
  find: ((name: string) => string | undefined) | undefined;
}

function resultOf(source: string, from: Place): Result {
  const place = placeOf(source);
  if (place.kind === "elsewhere") return { elsewhere: true };
  if (place.kind === "refused") return { problem: place.reason };
  const { root, absolutePath, note, find } = from;
  const read = readImage(root, absolutePath, place, note);
  if (!("problem" in read) || read.problem !== missingFile) return read;
  const named = find?.(place.path);
  if (named !== undefined) {
    return readImage(root, absolutePath, { path: named, isFromRoot: true }, note);
  }
  const assets = inAssets(place.path);
  if (assets === undefined) return read;
  const other = readImage(root, absolutePath, { path: assets, isFromRoot: false }, note);
  return "problem" in other && other.problem === missingFile ? read : other;
}

/**
 * Finds the images of the project that a Markdown body refers to. `root` is a real path;
 * Each address is read once. Addresses that are no
 * file are only counted.
 */
export function findImages(body: string, from: Place): FoundImages {
  const results = new Map<string, Result>();
  const images = new Map<string, PlacedImage>();
  const problems: PlacedProblem[] = [];
  let leftOut = 0;
  let more = 0;
  for (const { source, offset } of findReferences(body)) {
    const earlier = results.get(source);
    const result = earlier ?? resultOf(source, from);
    if (!earlier) results.set(source, result);
    if ("image" in result) {
      const { sha256 } = result.image;
      if (!images.has(sha256)) images.set(sha256, { image: result.image, offset });
      continue;
    }
    leftOut++;
    if (earlier || !("problem" in result)) continue;
    const isPointer = result.isPointer === true;
    const text = `image ${nameOf(source)}${isPointer ? "" : " skipped"}: ${result.problem}`;
    // A pointer fails the document, so it is reported even beyond the limit.
    if (problems.length >= maxProblems && !isPointer) more++;
    else problems.push({ offset, text, isPointer });
  }
  const last = problems.at(-1);
  if (more > 0 && last) last.text += ` (and ${more} more images)`;
  return { images: [...images.values()], leftOut, problems };
}

/**
 * Returns a function that creates the sections of the images referred to before an offset. The
 * offset must grow from call to call.
 */
export function createImagePlacer(
  images: readonly PlacedImage[],
): (end: number, link: string | undefined) => Section[] {
  let next = 0;
  return (end, link) => {
    const sections: Section[] = [];
    for (let placed = images[next]; placed && placed.offset < end; placed = images[++next]) {
      const image_file_id = imagePlaceholder(placed.image.sha256);
      sections.push(link === undefined ? { image_file_id } : { image_file_id, link });
    }
    return sections;
  };
}
