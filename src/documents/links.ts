import { realpathSync, statSync } from "node:fs";
import { codeOf } from "../errors.ts";
import { relativeTo } from "./root.ts";
import type { DirectReach } from "./folder.ts";

export type LinkTarget =
  | { kind: "file" | "folder"; absolute: string; real: string }
  | { kind: "skipped"; reason: string };

/** Follows symbolic links within one walk, each real file and folder at most once. */
export interface Links {
  resolve(path: string): LinkTarget;
  /** The reason not to take a real file or folder that was reached through a link. */
  refuse(kind: "file" | "folder", real: string): string | undefined;
}

export function createLinks(root: string, direct: DirectReach): Links {
  const takenFiles = new Set<string>();
  const takenFolders = new Set<string>();
  return {
    resolve(path) {
      try {
        const absolute = realpathSync.native(path);
        const real = relativeTo(root, absolute);
        if (real === undefined) {
          return { kind: "skipped", reason: "symbolic link that leaves the project root" };
        }
        const stats = statSync(absolute);
        if (stats.isDirectory()) return { kind: "folder", absolute, real };
        if (stats.isFile()) return { kind: "file", absolute, real };
        return { kind: "skipped", reason: "symbolic link to something that is not a regular file" };
      } catch (error) {
        const reason =
          codeOf(error) === "ELOOP"
            ? "symbolic link in a loop"
            : "symbolic link that leads nowhere";
        return { kind: "skipped", reason };
      }
    },
    refuse(kind, real) {
      const shown = real === "" ? "the project root" : real;
      if (`/${real}/`.includes("/.knowctl/")) return "symbolic link into the state folder";
      if (direct[kind](real)) return `symbolic link to ${shown}, which is taken itself`;
      const taken = kind === "file" ? takenFiles : takenFolders;
      if (taken.has(real)) return `symbolic link to ${shown}, which is taken already`;
      taken.add(real);
      return undefined;
    },
  };
}
