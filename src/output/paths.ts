import { join, relative } from "node:path";

/** Turns a root-relative path into the one that people read. */
export type ShownPath = (path: string) => string;

/**
 * Gives the function that turns a root-relative path into one that a terminal opens from `cwd`;
 * "" and "." are the root itself.
 */
export function pathsFrom(cwd: string, root: string): ShownPath {
  if (relative(cwd, root) === "") return (path) => (path === "" ? "." : path);
  return (path) => relative(cwd, join(root, path)) || ".";
}

/** A text that begins with the path of its file (`docs/a.md:3:5: …`), with that path as people read it. */
export function shownText(path: string, text: string, shown: ShownPath): string {
  const isOf = path !== "" && text.startsWith(path);
  return isOf ? shown(path) + text.slice(path.length) : text;
}
