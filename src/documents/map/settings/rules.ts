import { createFilter, type PathFilter } from "../../files/patterns.ts";

/** One rule of the configuration: settings for the files that match. */
export interface RuleSettings {
  match: string | readonly string[];
  metadata?: Readonly<Record<string, unknown>> | undefined;
  tags?: readonly string[] | undefined;
  source?: string | undefined;
  link?: string | undefined;
  sections?: SectionMode | undefined;
  ccPairId?: number | undefined;
}

export interface Rule {
  readonly settings: RuleSettings;
  /** For messages: `rule 2 (docs/hr/**)`, counted from 1. */
  readonly name: string;
  readonly filter: PathFilter;
}

/** Compiles rules in order. Throws CliError `usage` for a bad pattern. */
export function compileRules(rules: readonly RuleSettings[]): Rule[] {
  return rules.map((settings, index) => {
    const patterns = typeof settings.match === "string" ? [settings.match] : settings.match;
    const name = `rule ${index + 1} (${patterns.join(", ")})`;
    // A rule without a pattern applies to every file.
    const filter = createFilter(patterns, name) ?? createFilter(["**"], name);
    if (!filter) throw new Error("a filter of one pattern always exists");
    return { settings, name, filter };
  });
}

/** The rules that match a root-relative path, in order. */
export function rulesFor(path: string, rules: readonly Rule[]): Rule[] {
  return rules.filter((rule) => rule.filter.matches(path));
}

export type SectionMode = "whole" | "headings";
