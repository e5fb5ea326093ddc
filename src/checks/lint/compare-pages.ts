import { comparePaths } from "../../documents/files/source-file.ts";
import type { LevelOf } from "./levels.ts";
import { placeFindings, type LintFinding, type Raw } from "./place.ts";
import type { ComparedPage, Finding, FolderRule, PageFact } from "./rule.ts";

/** A page with what folder rules noted about it, by the name of the rule. */
export interface NotedPage extends ComparedPage {
  facts: Readonly<Record<string, unknown>>;
}

const factsOf = (pages: readonly NotedPage[], rule: string): PageFact<unknown>[] =>
  pages.flatMap(({ path, part, row, facts }) =>
    facts[rule] === undefined ? [] : [{ path, part, row, fact: facts[rule] }],
  );

/**
 * Runs the folder rules. `sourceOf` reads the text of a file again; it is called once for each file
 * with a finding. `isWhole`: see FolderRule.
 */
export function comparePages(
  rules: readonly FolderRule[],
  pages: readonly NotedPage[],
  levelOf: LevelOf,
  sourceOf: (path: string) => string | undefined,
  isWhole: boolean,
): LintFinding[] {
  const ordered = pages.toSorted((a, b) => comparePaths(a.path, b.path) || a.part - b.part);
  const found = new Map<string, ComparedPage & { raw: Raw[] }>();
  for (const rule of rules) {
    const facts = factsOf(ordered, rule.name);
    for (const { path, part, row, ...each } of rule.compare(facts, isWhole)) {
      const severity = levelOf(rule, path);
      if (severity === "off") continue;
      const key = `${part}/${path}`;
      let page = found.get(key);
      if (!page) found.set(key, (page = { path, part, row, raw: [] }));
      page.raw.push({ rule, severity, found: each });
    }
  }
  return [...found.values()].flatMap(({ path, part, row, raw }) =>
    placeFindings({ path, source: part === 0 ? sourceOf(path) : undefined, row }, raw),
  );
}

/** The order of reports: by path and place. */
export const byPlace = (a: Finding, b: Finding): number =>
  comparePaths(a.path, b.path) ||
  (a.line ?? 0) - (b.line ?? 0) ||
  (a.column ?? 0) - (b.column ?? 0) ||
  comparePaths(a.rule, b.rule);
