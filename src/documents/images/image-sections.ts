import type { Section } from "../../api/schemas.ts";
import { placeOf } from "./image-places.ts";
import { findReferences } from "./image-references.ts";
import { readImage, type LocalImage } from "./images.ts";

export interface PlacedImage {
  image: LocalImage;
  /** Where the text first refers to it. */
  offset: number;
}

interface PlacedProblem {
  offset: number;
  text: string;
  /** A Git LFS pointer stands in the image's place. */
  isPointer: boolean;
}

export interface FoundImages {
  /** Each content once, in order. */
  images: readonly PlacedImage[];
  /** References that no image of `images` stands for. */
  leftOut: number;
  /** References that name a file which cannot be sent, one line each, without the document's path. */
  problems: readonly PlacedProblem[];
}

/**
 * What stands for the service's id of an image until it has been uploaded. Only
 * what the mapping names in `uploads` may be replaced: a given document may
 * hold the same text.
 */
export function imagePlaceholder(sha256: string): string {
  return `knowctl-image:${sha256}`;
}

const mostProblems = 50;

/** Not cut: the part of a key that a cut leaves could not be told from other text. */
const nameOf = (source: string): string =>
  source.length > 120 ? `with an address of ${source.length} characters` : source;

type Result = ReturnType<typeof readImage> | { elsewhere: true };

function resultOf(source: string, from: { root: string; absolutePath: string }): Result {
  const place = placeOf(source);
  if (place.kind === "elsewhere") return { elsewhere: true };
  if (place.kind === "refused") return { problem: place.reason };
  return readImage(from.root, from.absolutePath, place);
}

/**
 * The images of the project that a Markdown body refers to. `root` is a real
 * path, `absolutePath` the document's. Each address is looked at once; what
 * lies elsewhere is only counted.
 */
export function findImages(
  body: string,
  from: { root: string; absolutePath: string },
): FoundImages {
  const results = new Map<string, Result>();
  const images = new Map<string, PlacedImage>();
  const problems: PlacedProblem[] = [];
  let leftOut = 0;
  let more = 0;
  for (const { source, offset } of findReferences(body)) {
    const before = results.get(source);
    const result = before ?? resultOf(source, from);
    if (!before) results.set(source, result);
    if ("image" in result) {
      const { sha256 } = result.image;
      if (!images.has(sha256)) images.set(sha256, { image: result.image, offset });
      continue;
    }
    leftOut++;
    if (before || !("problem" in result)) continue;
    const isPointer = result.isPointer === true;
    const text = `image ${nameOf(source)}${isPointer ? "" : " left out"}: ${result.problem}`;
    // None of those that fail the document may be among the many.
    if (problems.length >= mostProblems && !isPointer) more++;
    else problems.push({ offset, text, isPointer });
  }
  const last = problems.at(-1);
  if (more > 0 && last) last.text += ` (and ${more} more images)`;
  return { images: [...images.values()], leftOut, problems };
}

/** Gives the sections of the images referred to before an offset; the offsets must grow. */
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
