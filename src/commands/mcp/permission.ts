import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import { realPath, relativeTo } from "../../documents/files/root.ts";
import { CliError } from "../../errors.ts";
import { findProjectRoot } from "../project-root.ts";

/** What agents may do. */
export interface PermissionFlags {
  allowTokens?: number;
  allowIngest?: string;
  ccPairId?: number;
}

/** The project whose files agents see. Throws CliError `usage` where the folder marks none. */
export function rootOf(context: Context, flags: GlobalFlags): string {
  const { folder, mark } = findProjectRoot(context, [], flags);
  if (mark === undefined && flags.root === undefined) {
    throw new CliError("usage", `${folder} is no project: agents would see every file in it`, {
      hints: ["name the project: knowctl mcp --root DIR"],
    });
  }
  return folder;
}

/** The folder that agents may upload, relative to the root. Throws CliError `usage`. */
export function checkPermission(
  context: Context,
  root: string,
  flags: PermissionFlags,
): string | undefined {
  const { allowIngest, ccPairId } = flags;
  if (allowIngest === undefined) return undefined;
  if (ccPairId === undefined) {
    throw new CliError("usage", "--allow-ingest needs the pair of the uploads", {
      hints: ["add --cc-pair-id N; `knowctl connectors list` shows the pairs"],
    });
  }
  const folder = realPath(resolve(context.cwd, allowIngest));
  if (folder === undefined || !statSync(folder).isDirectory()) {
    throw new CliError("usage", `--allow-ingest ${allowIngest}: no such folder`);
  }
  const below = relativeTo(root, folder);
  if (below === undefined) {
    throw new CliError("usage", `--allow-ingest ${allowIngest}: it lies outside of ${root}`, {
      hints: ["name a folder of the project, or another --root"],
    });
  }
  return below || ".";
}
