import { posix } from "node:path";
import { fileProblem } from "../../errors.ts";
import type { Included, Includes } from "./format.ts";

/** Why a path above the root is not read. */
export const outside = "it lies outside the project root";
const absent = new Set([fileProblem("ENOENT"), outside]);

/**
 * Reads a file that a page names as site generators do: relative to the folder of the page, else to
 * a folder above it, up to the root. `folders` are tried in each of these folders, for example
 * `docs`. `chain` is that of Includes.read(). If no file can be read, the problem is that of the first
 * place with a file, else that of the first place.
 */
export function readProjectFile(
  target: string,
  includes: Includes,
  chain: readonly string[],
  folders: readonly string[],
): Included {
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(target)) return { problem: "it is an address, not a file" };
  const from = posix.dirname(chain.at(-1) ?? "");
  const parts = from === "." ? [] : from.split("/");
  let first: Included | undefined;
  let present: Included | undefined;
  for (let depth = parts.length; depth >= 0; depth--) {
    for (const folder of folders) {
      const base = [...parts.slice(0, depth), folder].filter((part) => part !== "").join("/");
      // Not normalised here: `..` that leads out of the root must not end in it.
      const found = includes.read(`/${base}/${target}`, chain);
      if ("text" in found) return found;
      first ??= found;
      if (!absent.has(found.problem)) present ??= found;
    }
  }
  return present ?? first ?? { problem: "no such file" };
}
