import type { LintSetup } from "../../checks/lint/examine.ts";
import type { LintConfig } from "../../checks/lint/levels.ts";
import type { Config } from "../../config/load.ts";
import type { MappingFlags } from "./options/mapping-flags.ts";

const namesRules = ({ rules = {}, overrides = [] }: LintConfig): boolean =>
  Object.keys(rules).length > 0 || overrides.length > 0;

/**
 * The checks of documents that are about to be sent: rules of level error, and with --no-lint only
 * those for secrets. Undefined for a command that sends none of what it reads. Throws CliError
 * `not-configured` for an unknown rule in the configuration.
 */
export async function uploadChecks(
  { lint: config }: Pick<Config, "lint">,
  { idsOnly, lint }: Pick<MappingFlags, "idsOnly" | "lint">,
): Promise<Omit<LintSetup, "keys"> | undefined> {
  if (idsOnly) return undefined;
  if (namesRules(config)) {
    const [{ refuseUnknownRules }, { rules }] = await Promise.all([
      import("../../checks/lint/known-rules.ts"),
      import("../../checks/lint/rules.ts"),
    ]);
    refuseUnknownRules(config, rules);
  }
  return { config, refuses: lint === false ? "secrets" : "all" };
}
