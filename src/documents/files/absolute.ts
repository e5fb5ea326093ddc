import { sep } from "node:path";

/** The absolute path of a root-relative one. */
export function absoluteOf(root: string, path: string): string {
  return root.endsWith(sep) ? root + path : root + sep + path;
}
