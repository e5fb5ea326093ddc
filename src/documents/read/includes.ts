import { lstatSync, realpathSync } from "node:fs";
import { posix } from "node:path";
import { CliError, codeOf } from "../../errors.ts";
import { relativeTo } from "../find/root.ts";
import { sourceFile } from "../inspect/stamp.ts";
import { readContent } from "./content.ts";
import { decodeText } from "./decode.ts";
import { pointerHint, isPointer, pointerProblem } from "./lfs.ts";

/** Text of another file of the project, or why it cannot be taken. */
export type Included = { text: string; path: string } | { problem: string };

/** Reads the files that a document includes. */
export interface Includes {
  /**
   * Reads the file that `target` names: relative to the folder of the last file of `chain`, or to
   * the root if it begins with `/`. `chain` leads from the document to the file with the include,
   * root-relative. Never reads outside the root, a hidden file, or more than the limits. Throws
   * CliError `usage` for a Git LFS pointer: without its text, the document would be wrong.
   */
  read(target: string, chain: readonly string[]): Included;
  /** Root-relative paths that read() looked for in the root, also the missing ones. */
  readonly parts: ReadonlySet<string>;
}

/** How deep includes nest, and how much they add to a document. */
export const mostDepth = 16;
const mostFileBytes = 4 * 1024 * 1024;
const mostBytes = 16 * 1024 * 1024;

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "no such file",
  ENOTDIR: "no such file",
  ENAMETOOLONG: "no such file",
  ELOOP: "a symbolic link in a loop",
  EACCES: "permission denied",
};

/** The root-relative path that a target names; undefined outside the root. */
function pathOf(target: string, from: string): string | undefined {
  // A backslash, a NUL or a scheme is no path of a project.
  if (/[\\\0]|^[A-Za-z][A-Za-z\d+.-]*:/.test(target)) return undefined;
  const joined = target.startsWith("/") ? target : posix.join(posix.dirname(from), target);
  const path = posix.normalize(joined.replace(/^\/+/, ""));
  return path === ".." || path.startsWith("../") ? undefined : path.replace(/^\.\//, "");
}

// A person who uploads a folder does not expect its hidden files, for example `.env`, in a document.
const isHidden = (path: string): boolean =>
  /(?:^|\/)(?:\.git|\.knowctl)(?:\/|$)|(?:^|\/)\.[^/]*$/i.test(path);

function readText(root: string, path: string): { text: string; sizeBytes: number } {
  const real = realpathSync.native(`${root}/${path}`);
  const realPath = relativeTo(root, real);
  if (realPath === undefined) throw new CliError("usage", "it lies outside the project root");
  if (isHidden(realPath)) throw new CliError("usage", "it is a hidden file");
  const stats = lstatSync(real, { bigint: true });
  const { bytes } = readContent(sourceFile(path, real, stats), mostFileBytes);
  if (isPointer(bytes)) {
    throw new CliError("usage", `${path}: ${pointerProblem}`, { hints: [pointerHint] });
  }
  return { text: decodeText(bytes, path), sizeBytes: bytes.length };
}

/**
 * Creates the reader of includes for one document. `root` is absolute and real. Calls `note` with
 * each root-relative path before it reads the file.
 */
export function createIncludes(root: string, note: (path: string) => void = () => {}): Includes {
  const parts = new Set<string>();
  let total = 0;
  return {
    parts,
    read(target, chain) {
      const path = pathOf(target, chain.at(-1) ?? "");
      if (path === undefined) return { problem: "it lies outside the project root" };
      if (chain.includes(path)) return { problem: `a cycle: ${[...chain, path].join(" → ")}` };
      if (chain.length > mostDepth) return { problem: `nested deeper than ${mostDepth} files` };
      if (isHidden(path)) return { problem: "it is a hidden file" };
      parts.add(path);
      note(path);
      try {
        const { text, sizeBytes } = readText(root, path);
        total += sizeBytes;
        if (total > mostBytes) return { problem: "the included files are more than 16 MiB" };
        return { text, path };
      } catch (error) {
        if (error instanceof CliError) {
          if (error.hints.includes(pointerHint)) throw error;
          return { problem: error.message.replace(`${path}: `, "") };
        }
        const code = codeOf(error);
        if (code === undefined) throw error;
        return { problem: reasons[code] ?? code };
      }
    },
  };
}

/** For a text without a file, for example from stdin: it has no folder to look in. */
export const noIncludes: Includes = {
  parts: new Set(),
  read: () => ({ problem: "a text without a file includes nothing" }),
};
