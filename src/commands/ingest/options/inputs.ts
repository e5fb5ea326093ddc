import { scopeOf, removedPath } from "../../../documents/find/scope.ts";
import type { DocumentSource } from "./settings.ts";
import { readdirSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { exists } from "../../../documents/files/real-place.ts";
import { noSuchPath } from "../../../documents/files/root.ts";
import { createHasPath } from "../../../sync/state/by-path.ts";
import type { Session } from "../session.ts";

/** Whether a path lies within the inputs. Excluded files count too: they may have been sent before. */
export function orphanScope({ inputs, find, settings }: DocumentSource): (path: string) => boolean {
  return scopeOf(inputs, { ...find, settings: { ...settings, exclude: undefined } });
}

/** Throws CliError `usage` for a path that does not exist and that no target of `keys` records. */
export function refuseUnrecorded(
  { source, state }: Pick<Session, "source" | "state">,
  keys: readonly string[],
): void {
  // Inputs of the record may be gone.
  if (source.isWhole) return;
  const hasPath = createHasPath(state.database);
  for (const input of source.inputs) {
    const path = removedPath(input, source.find);
    if (path === undefined || keys.some((key) => hasPath(key, path))) continue;
    throw noSuchPath(input, source.cwd);
  }
}

/**
 * Whether every path was removed from a folder that still has entries. An empty folder may be a
 * file system that is not mounted.
 */
export function areInputsRemoved({ inputs, find, settings }: DocumentSource): boolean {
  return (
    inputs.length > 0 &&
    inputs.every((input) => {
      const path = removedPath(input, find);
      if (path === undefined) return false;
      let folder = dirname(join(settings.root, path));
      while (!exists(folder)) folder = dirname(folder);
      return statSync(folder).isDirectory() && readdirSync(folder).length > 0;
    })
  );
}

/** Whether the inputs are the whole project root. */
export function coversRoot({ inputs, cwd, settings, isWhole }: DocumentSource): boolean {
  if (isWhole) return settings.include.length === 0;
  if (isWhole === undefined && settings.only) return false;
  if (inputs.length === 0) return settings.include.length === 0;
  return inputs.some((input) => resolve(cwd, input) === settings.root);
}

/** Whether the inputs are the whole project: its root, or what its configuration includes. */
export function coversProject(source: DocumentSource): boolean {
  if (source.isWhole) return true;
  const isConfigured = source.inputs.length === 0 && !source.settings.only;
  return isConfigured || coversRoot(source);
}
