import { comparePaths } from "../../documents/inspect/stamp.ts";
import type { PageReport } from "./examine.ts";
import type { LevelOf } from "./levels.ts";
import { placeFindings, type LintFinding, type Raw, type RowPlace } from "./place.ts";
import type { FolderRule, PageFact } from "./rule.ts";

/** The facts of all pages, by rule. */
export interface Facts {
  add(path: string, part: number, report: PageReport): void;
  /**
   * Runs the folder rules, once: what they compared is forgotten. `sourceOf` reads the text of a file again; it is called once for each
   * file with a finding.
   */
  compare(levelOf: LevelOf, sourceOf: (path: string) => string | undefined): LintFinding[];
}

interface Page {
  path: string;
  part: number;
  raw: Raw[];
}

/** Collects what folder rules noted about pages, and compares it. */
export function createFacts(rules: readonly FolderRule[]): Facts {
  const facts = new Map<string, PageFact<unknown>[]>(rules.map(({ name }) => [name, []]));
  // Rows have no text of their own: their findings stand at the line where they begin.
  const rows = new Map<string, RowPlace>();
  const keyOf = (path: string, part: number): string => `${part}/${path}`;
  return {
    add(path, part, { facts: noted, row }) {
      for (const [name, fact] of Object.entries(noted)) facts.get(name)?.push({ path, part, fact });
      if (row && Object.keys(noted).length > 0) rows.set(keyOf(path, part), row);
    },
    compare(levelOf, sourceOf) {
      const pages = new Map<string, Page>();
      for (const rule of rules) {
        const list = (facts.get(rule.name) ?? []).toSorted(
          (a, b) => comparePaths(a.path, b.path) || a.part - b.part,
        );
        facts.delete(rule.name);
        for (const { path, part, ...found } of rule.compare(list)) {
          const severity = levelOf(rule, path);
          if (severity === "off") continue;
          const key = keyOf(path, part);
          let page = pages.get(key);
          if (!page) pages.set(key, (page = { path, part, raw: [] }));
          page.raw.push({ rule, severity, found });
        }
      }
      return [...pages.values()].flatMap(({ path, part, raw }) =>
        placeFindings(
          {
            path,
            source: part === 0 ? sourceOf(path) : undefined,
            row: rows.get(keyOf(path, part)),
          },
          raw,
        ),
      );
    },
  };
}
