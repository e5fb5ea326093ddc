import { createFilter, type PathFilter } from "../../documents/files/patterns.ts";
import type { RuleText, Severity, Rule } from "./rule.ts";
import { CliError } from "../../errors.ts";
import { nearest } from "../../nearest.ts";

/** Severity of a rule as the configuration names it. */
export type Level = Severity | "off";

/** `lint` of the configuration. */
export interface LintConfig {
  rules?: Readonly<Record<string, Level>> | undefined;
  /** Days that the date of a page may be older than the last commit of its file. */
  staleDays?: number | undefined;
  overrides?:
    | readonly { paths: readonly string[]; rules: Readonly<Record<string, Level>> }[]
    | undefined;
}

/** The severity of a rule for a path; later overrides win. */
export type LevelOf = (rule: RuleText, path: string) => Level;

/** Whether createLevels() needs loadGlobs() first. */
export function lintUsesPatterns({ overrides = [] }: LintConfig): boolean {
  return overrides.length > 0;
}

/**
 * Compiles the severities of a configuration. Overrides need loadGlobs() first. Throws CliError
 * `usage` for a bad pattern.
 */
export function createLevels({ rules = {}, overrides = [] }: LintConfig): LevelOf {
  const compiled: { filter: PathFilter | undefined; rules: Readonly<Record<string, Level>> }[] =
    overrides.map((each, index) => ({
      filter: createFilter(each.paths, `lint.overrides[${index}].paths`),
      rules: each.rules,
    }));
  // Rules ask for one page after the other.
  let known: { path: string; matching: Readonly<Record<string, Level>>[] } | undefined;
  const matchingOf = (path: string): Readonly<Record<string, Level>>[] => {
    if (known?.path !== path) {
      const matching = compiled.filter(({ filter }) => filter?.matches(path));
      known = { path, matching: matching.map((each) => each.rules) };
    }
    return known.matching;
  };
  return ({ name, severity }, path) => {
    let level = rules[name] ?? severity;
    if (compiled.length === 0) return level;
    for (const each of matchingOf(path)) level = each[name] ?? level;
    return level;
  };
}

/** Whether any path can give a rule a severity of these. */
export function mayBe(
  { name, severity }: RuleText,
  { rules = {}, overrides = [] }: LintConfig,
  levels: readonly Level[],
): boolean {
  const possible = [rules[name] ?? severity, ...overrides.map((each) => each.rules[name])];
  return possible.some((level) => level !== undefined && levels.includes(level));
}

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
