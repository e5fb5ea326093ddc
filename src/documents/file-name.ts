/** For messages: the extension with its dot, or that there is none. */
export function extensionOf(path: string): string {
  const dot = path.lastIndexOf(".");
  return dot > path.lastIndexOf("/") + 1 ? path.slice(dot) : "no extension";
}

/** Whether the name says that the content is packed with gzip. */
export function isPacked(path: string): boolean {
  return path.endsWith(".gz") || path.slice(-3).toLowerCase() === ".gz";
}

/** The path without its extension, of `page.md.gz` without both. */
export function withoutExtension(path: string): string {
  return (isPacked(path) ? path.slice(0, -3) : path).replace(/\.[^./]*$/, "");
}
