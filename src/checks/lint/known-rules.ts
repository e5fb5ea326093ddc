import { CliError } from "../../errors.ts";
import { nearest } from "../../nearest.ts";
import type { LintConfig } from "./levels.ts";
import type { Rule } from "./rule.ts";

function unknownText(name: string, rules: readonly Rule[]): string {
  const similar = nearest(
    name,
    rules.map((rule) => rule.name),
  );
  return `unknown rule "${name}"${similar === undefined ? "" : `; did you mean "${similar}"?`}`;
}

const hintsOf = (rules: readonly Rule[]): string[] => [
  `the rules are ${rules.map(({ name }) => name).join(", ")}`,
];

/**
 * Throws CliError `usage` for an unknown rule in `only` (--rule), `not-configured` for one in the
 * configuration.
 */
export function refuseUnknownRules(
  { rules: configured = {}, overrides = [] }: LintConfig,
  rules: readonly Rule[],
  only: readonly string[] = [],
): void {
  const hints = hintsOf(rules);
  const known = new Set(rules.map(({ name }) => name));
  const unknown = only.find((name) => !known.has(name));
  if (unknown !== undefined) {
    throw new CliError("usage", `--rule: ${unknownText(unknown, rules)}`, { hints });
  }
  const places: [string, Readonly<Record<string, unknown>>][] = [
    ["lint.rules", configured],
    ...overrides.map((each, index): [string, Readonly<Record<string, unknown>>] => [
      `lint.overrides[${index}].rules`,
      each.rules,
    ]),
  ];
  for (const [place, levels] of places) {
    const name = Object.keys(levels).find((each) => !known.has(each));
    if (name === undefined) continue;
    throw new CliError("not-configured", `${place}: ${unknownText(name, rules)}`, { hints });
  }
}
