import { loadGlobs } from "../../documents/files/patterns.ts";
import type { Examine } from "../../documents/inspect/inspection.ts";
import type { DocumentSettings } from "../../documents/map/settings.ts";
import { createExamine, type LintSetup } from "./examine.ts";
import { lintUsesPatterns, type LintConfig } from "./levels.ts";
import type { Rule } from "./rule.ts";

function makesErrors({ rules = {}, overrides = [] }: LintConfig): boolean {
  const all = [rules, ...overrides.map((each) => each.rules)];
  return all.some((levels) => Object.values(levels).includes("error"));
}

async function loadRules({ refuses, config }: LintSetup): Promise<readonly Rule[]> {
  return refuses === undefined || makesErrors(config)
    ? (await import("./rules.ts")).rules
    : (await import("./upload-rules.ts")).uploadRules;
}

/** Creates the checks of a setup, after loading the rules that it needs. */
export async function openExamine(
  setup: LintSetup,
  settings: DocumentSettings,
): Promise<Examine | undefined> {
  if (lintUsesPatterns(setup.config)) await loadGlobs();
  return createExamine(setup, settings, await loadRules(setup));
}
