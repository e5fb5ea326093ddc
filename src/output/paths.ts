import { join, relative } from "node:path";

/** Turns a root-relative path into the path to display. */
export type ShownPath = (path: string) => string;

/**
 * Returns a function that turns a root-relative path into one relative to `cwd`, which a terminal
 * can open. "" and "." are the root itself.
 */
export function pathsFrom(cwd: string, root: string): ShownPath {
  if (relative(cwd, root) === "") return (path) => (path === "" ? "." : path);
  return (path) => relative(cwd, join(root, path)) || ".";
}

/** A reason without the path that it starts with, for a place that names the path already. */
export function withoutPath(path: string, reason: string): string {
  return reason.startsWith(`${path}:`) ? reason.slice(path.length + 1).trimStart() : reason;
}

/** Replaces the path that a text starts with (`docs/a.md:3:5: …`) by the path to display. */
export function shownText(path: string, text: string, shown: ShownPath): string {
  const hasPath = path !== "" && text.startsWith(path);
  return hasPath ? shown(path) + text.slice(path.length) : text;
}

/** A reason behind the path to display, which some reasons start with already. */
export function problemAt(path: string, reason: string, shown: ShownPath): string {
  return reason.startsWith(path) ? shownText(path, reason, shown) : `${shown(path)}: ${reason}`;
}
