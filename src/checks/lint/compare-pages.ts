import type { PageReport } from "./examine.ts";
import type { LevelOf } from "./levels.ts";
import { placeFindings, type LintFinding, type Raw } from "./place.ts";
import type { ComparedPage, FolderRule, PageFact, PageFacts } from "./rule.ts";
import { createPageTexts, type PageText, type PageTexts } from "./store.ts";

/** The facts of all pages, by rule; on disk. */
export interface Facts {
  add(path: string, part: number, report: PageReport): void;
  /**
   * Runs the folder rules, once: what they compared is forgotten. `sourceOf` reads the text of a file again; it is called once for each
   * file with a finding. `isWhole`: see PageFacts.
   */
  compare(
    levelOf: LevelOf,
    sourceOf: (path: string) => string | undefined,
    isWhole: boolean,
  ): LintFinding[];
}

interface Page extends ComparedPage {
  raw: Raw[];
}

const factOf = ({ path, part, row, place, text }: PageText): PageFact<unknown> => ({
  path,
  part,
  row,
  place,
  fact: JSON.parse(text),
});

const factsIn = (texts: PageTexts, isWhole: boolean): PageFacts<unknown> => ({
  *[Symbol.iterator]() {
    for (const each of texts) yield factOf(each);
  },
  pages: () => texts,
  isWhole,
  at: (place) => factOf(texts.at(place)),
});

/** Collects what folder rules noted about pages, and compares it. */
export function createFacts(rules: readonly FolderRule[]): Facts {
  const stores = new Map(rules.map(({ name }) => [name, createPageTexts()]));
  return {
    add(path, part, { facts, row }) {
      for (const [name, fact] of Object.entries(facts)) {
        stores.get(name)?.add({ path, part, row }, fact);
      }
    },
    compare(levelOf, sourceOf, isWhole) {
      const pages = new Map<string, Page>();
      for (const rule of rules) {
        const store = stores.get(rule.name);
        if (!store) continue;
        for (const { path, part, row, ...found } of rule.compare(factsIn(store, isWhole))) {
          const severity = levelOf(rule, path);
          if (severity === "off") continue;
          const key = `${part}/${path}`;
          let page = pages.get(key);
          if (!page) pages.set(key, (page = { path, part, row, raw: [] }));
          page.raw.push({ rule, severity, found });
        }
        store.clear();
      }
      return [...pages.values()].flatMap(({ path, part, row, raw }) =>
        placeFindings({ path, source: part === 0 ? sourceOf(path) : undefined, row }, raw),
      );
    },
  };
}
