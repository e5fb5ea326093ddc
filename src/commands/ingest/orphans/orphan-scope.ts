import { scopeOf } from "../../../documents/find/scope.ts";
import type { DocumentSource } from "../options/settings.ts";

/** Whether the inputs reach a path; what `exclude` names is in scope too, as it may have been sent before. */
export function orphanScope({ inputs, cwd, settings }: DocumentSource): (path: string) => boolean {
  return scopeOf(inputs, { cwd, settings: { ...settings, exclude: undefined } });
}
