const [dotCode, slashCode, zCode] = [0x2e, 0x2f, 0x7a];

/**
 * Offset of the dot of the extension in a path; -1 for none. The dot is seldom more than a few
 * characters from the end, so a library search costs several times as much as this loop.
 */
export function extensionStart(path: string): number {
  for (let at = path.length - 1; at > 0; at--) {
    const code = path.charCodeAt(at);
    if (code === slashCode) return -1;
    if (code === dotCode) return path.charCodeAt(at - 1) === slashCode ? -1 : at;
  }
  return -1;
}

/** For messages: the extension with its dot, or `no extension`. */
export function extensionOf(path: string): string {
  const dot = extensionStart(path);
  return dot === -1 ? "no extension" : path.slice(dot);
}

/** The name of a file or folder, without the folders above it. */
export const nameIn = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** The folder of a root-relative path; "" for the root. */
export const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")));

/** A text without percent-encoding; as it is where it has none, such as `100%.png`. */
export function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Whether the name ends in `.gz`: the content is packed with gzip. */
export function isPacked(path: string): boolean {
  // Checks the last letter first: few paths end in z, but `.md` has its dot in the same place.
  if ((path.charCodeAt(path.length - 1) | 0x20) !== zCode) return false;
  const dot = path.length - 3;
  return path.charCodeAt(dot) === dotCode && path.slice(dot + 1).toLowerCase() === "gz";
}

/** The path without its extension; `page.md.gz` loses both. */
export function withoutExtension(path: string): string {
  return (isPacked(path) ? path.slice(0, -3) : path).replace(/\.[^./]*$/, "");
}
