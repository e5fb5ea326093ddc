import { basename, dirname } from "node:path";
import { realPath, relativeTo } from "../../documents/find/root.ts";
import { CliError } from "../../errors.ts";
import { join } from "node:path";
import { stateName } from "../../config/find/project-mark.ts";
import type { InspectSetup } from "../../documents/inspect/inspection.ts";
import { namedStateFolder } from "../../sync/state/state-folder.ts";
import type { Targets } from "../../sync/state/target.ts";
import type { DocumentSource, MappingFlags } from "./options/settings.ts";

/**
 * Folder of the state store; undefined with `--no-state`. Throws CliError `usage` for one that
 * would give the same files another project root.
 */
export function stateFolder(source: DocumentSource, flags: MappingFlags): string | undefined {
  if (flags.state === false) return undefined;
  if (typeof flags.state !== "string") return join(source.settings.root, stateName);
  const folder = namedStateFolder(source.cwd, flags.state);
  refuseOtherMark(folder, source);
  return folder;
}

/** What looking at the files of `source` takes, here or in a worker thread; `keys` as in ownKeys(). */
export function inspectSetup(
  source: DocumentSource,
  targets: Targets,
  keys: readonly string[],
): InspectSetup {
  const { raw } = source;
  return { settings: raw, pair: targets.pair, dropAccess: raw.dropAccess, keys };
}

/** A folder of this name marks its parent as the project root: the next run would take that one. */
export function refuseOtherMark(
  folder: string,
  { settings: { root }, mark }: DocumentSource,
): void {
  const marked = realPath(dirname(folder)) ?? dirname(folder);
  if (basename(folder) !== stateName || marked === root) return;
  const isAbove = relativeTo(marked, root) !== undefined;
  if (isAbove ? mark === "flag" : relativeTo(root, marked) === undefined) return;
  throw new CliError("usage", `--state ${folder} would make ${marked} a project root`, {
    details: [`the root of this run is ${root}`],
    hints: [
      `name the state folder otherwise than ${stateName}, or leave --state out`,
      `or make that folder the root: --root ${marked}`,
    ],
  });
}
