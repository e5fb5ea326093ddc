import { loadGlobs } from "../../documents/find/patterns.ts";
import type { Examine } from "../../documents/inspect/inspection.ts";
import type { DocumentSettings } from "../../documents/map/settings.ts";
import { createExamine, type LintSetup } from "./examine.ts";
import { lintUsesPatterns } from "./levels.ts";

/** Creates the checks of a setup, after loading the rules that it needs. */
export async function openExamine(
  setup: LintSetup,
  settings: DocumentSettings,
): Promise<Examine | undefined> {
  if (lintUsesPatterns(setup.config)) await loadGlobs();
  const { rules } = await import("./rules.ts");
  return createExamine(setup, settings, rules);
}
