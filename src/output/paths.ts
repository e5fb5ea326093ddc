import { join, relative } from "node:path";

/**
 * Gives the function that turns a root-relative path into one that people can open from `cwd`:
 * relative to it, with the separators of the system. "" and "stdin" name no file and stay.
 */
export function pathsFrom(cwd: string, root: string): (path: string) => string {
  const toRoot = relative(cwd, root);
  if (toRoot === "") return (path) => (path === "" ? "." : path);
  return (path) => relative(cwd, join(root, path)) || ".";
}
