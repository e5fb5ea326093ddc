import { comparePaths } from "../../../documents/inspect/stamp.ts";
import type { LintFinding } from "../place.ts";
import type { ComparedPage, Finding, Findings } from "../rule.ts";
import { createPageTexts } from "./page-texts.ts";
import { createStoredTexts } from "./texts.ts";

/** Findings in the order in which they are added; on disk. */
export interface StoredFindings extends Findings {
  add(finding: Finding): void;
  /** Forgets the findings, and closes their file. */
  clear(): void;
}

/** Creates an empty store. */
export function createStoredFindings(): StoredFindings {
  const texts = createStoredTexts();
  let length = 0;
  return {
    get length() {
      return length;
    },
    add(finding) {
      length++;
      texts.add(JSON.stringify(finding));
    },
    *[Symbol.iterator]() {
      for (const [, text] of texts.entries()) yield JSON.parse(text) as Finding;
    },
    clear() {
      length = 0;
      texts.clear();
    },
  };
}

/** The order of reports: by path and place. */
export function byPlace(a: Finding, b: Finding): number {
  return (
    comparePaths(a.path, b.path) ||
    (a.line ?? 0) - (b.line ?? 0) ||
    (a.column ?? 0) - (b.column ?? 0) ||
    comparePaths(a.rule, b.rule)
  );
}

/** The findings of pages; on disk. It yields them by path and place. */
export interface PageFindings extends Iterable<LintFinding> {
  add(page: ComparedPage, findings: readonly LintFinding[]): void;
  /** Forgets the findings, and closes their file. */
  clear(): void;
}

/** Creates an empty store. */
export function createPageFindings(): PageFindings {
  const texts = createPageTexts();
  return {
    add(page, findings) {
      if (findings.length > 0) texts.add(page, JSON.stringify(findings));
    },
    *[Symbol.iterator]() {
      let open: LintFinding[] = [];
      let last: ComparedPage | undefined;
      for (const { path, row, text } of texts) {
        // Several rows can stand in one line: their findings are sorted together.
        if (last && (last.path !== path || last.row?.line !== row?.line)) {
          yield* open.sort(byPlace);
          open = [];
        }
        open.push(...(JSON.parse(text) as LintFinding[]));
        last = { path, part: 0, row };
      }
      yield* open.sort(byPlace);
    },
    clear: () => texts.clear(),
  };
}

/** Two lists that are ordered by place as one; equal places of the first come first. */
export function* mergeFindings(
  first: Iterable<LintFinding>,
  second: readonly LintFinding[],
): Generator<LintFinding> {
  let next = 0;
  for (const each of first) {
    for (let other = second[next]; other && byPlace(other, each) < 0; other = second[++next]) {
      yield other;
    }
    yield each;
  }
  yield* second.slice(next);
}
