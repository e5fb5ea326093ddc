import { scopeOf } from "../../documents/find/scope.ts";
import type { DocumentSource } from "../ingest/options/settings.ts";

/** Whether a path lies within the inputs. Excluded files count too: they may have been sent before. */
export function orphanScope({ inputs, find, settings }: DocumentSource): (path: string) => boolean {
  return scopeOf(inputs, { ...find, settings: { ...settings, exclude: undefined } });
}
