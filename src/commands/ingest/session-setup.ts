import { basename, dirname } from "node:path";
import { realPath, relativeTo } from "../../documents/find/root.ts";
import { CliError } from "../../errors.ts";
import { join } from "node:path";
import { stateName } from "../../config/find/project-mark.ts";
import type { InspectSetup } from "../../documents/inspect/inspection.ts";
import { namedStateFolder } from "../../sync/state/file/state-folder.ts";
import type { Targets } from "../../sync/state/target.ts";
import type { MappingFlags } from "./options/mapping-flags.ts";
import type { DocumentSource } from "./options/settings.ts";

/**
 * Folder of the state; undefined with `--no-state`. Throws CliError `usage` for a folder that
 * would change the project root of the same files.
 */
export function stateFolder(source: DocumentSource, flags: MappingFlags): string | undefined {
  if (flags.state === false) return undefined;
  if (typeof flags.state !== "string") return join(source.settings.root, stateName);
  const folder = namedStateFolder(source.cwd, flags.state);
  refuseOtherMark(folder, source);
  return folder;
}

/** Setup for inspecting the files of `source`, here or in a worker thread; `keys` from ownKeys(). */
export function inspectSetup(
  source: DocumentSource,
  targets: Targets,
  keys: readonly string[],
): InspectSetup {
  const { raw, checks } = source;
  const { pair } = targets;
  const { dropAccess } = raw;
  return { settings: raw, pair, dropAccess, checks: checks && { ...checks, keys } };
}

/** Throws when a folder named `.knowctl` would mark another folder as the root of the next run. */
function refuseOtherMark(folder: string, { settings: { root }, mark }: DocumentSource): void {
  const marked = realPath(dirname(folder)) ?? dirname(folder);
  if (basename(folder) !== stateName || marked === root) return;
  const isAbove = relativeTo(marked, root) !== undefined;
  if (isAbove ? mark === "flag" : relativeTo(root, marked) === undefined) return;
  throw new CliError("usage", `--state ${folder} would make ${marked} a project root`, {
    details: [`the root of this run is ${root}`],
    hints: [
      `use another name than ${stateName} for the state folder, or omit --state`,
      `or make that folder the root: --root ${marked}`,
    ],
  });
}
