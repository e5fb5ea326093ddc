/** The target of an image address, judged by its text alone. */
export type ImagePlace =
  /** On the web, or within the document: not a file. */
  | { kind: "elsewhere" }
  /** Path with "/"; `isFromRoot` if it begins with "/". */
  | { kind: "file"; path: string; isFromRoot: boolean }
  | { kind: "refused"; reason: string };

// oxlint-disable-next-line no-control-regex
const control = /[\0-\x1f\x7f]/;

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A name without percent-encoding, for example "100%.png".
    return text;
  }
}

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
