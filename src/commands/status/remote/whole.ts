import { resolve } from "node:path";
import type { DocumentSource } from "../../ingest/options/settings.ts";

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
