import { bySimilarity, nearest } from "../../../nearest.ts";
import { findContradictions } from "./contradictions.ts";
import type { DocumentRef, EvalCase, Place, Suite } from "./suite.ts";
import type { SuiteProblem } from "./suite-problems.ts";

/** What the folder knows of the files that suites name. */
export interface FolderFacts {
  /** Paths of all files that an upload of the whole project takes. */
  paths: readonly string[];
  /** Why a file is left out of the upload; undefined if it is uploaded or does not exist. */
  leftOut(path: string): string | undefined;
}

/** Paths that a suite names, with their places. Cases that wait for a review are left out. */
export function namedPaths({ cases }: Suite): { path: string; place: Place }[] {
  const named: { ref: DocumentRef; place: Place }[] = cases
    .filter(({ needsReview }) => !needsReview)
    .flatMap(({ mustRetrieve, mustNotRetrieve, expect }) => [
      ...[...mustRetrieve, ...mustNotRetrieve].map(({ document, place }) => ({
        ref: document,
        place,
      })),
      ...expect
        .filter(({ word }) => word === "cites" || word === "retrieves")
        .flatMap(({ value, place }) => (value as DocumentRef[]).map((ref) => ({ ref, place }))),
    ]);
  return named.flatMap(({ ref, place }) => ("path" in ref ? [{ path: ref.path, place }] : []));
}

const baseOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
const folderOf = (path: string): string => path.slice(0, path.lastIndexOf("/") + 1);

// Comparing a name with each of many others takes time: for many names, the rest of the message does.
const mostCompared = 2000;
const mostNamed = 20;

/** The file that was probably meant: moved to another folder, renamed, or mistyped. */
function nearestPath(path: string, paths: readonly string[]): string | undefined {
  const moved = paths.filter((each) => baseOf(each) === baseOf(path));
  if (moved.length > 0) return bySimilarity(path, moved.slice(0, mostCompared))[0];
  const beside = paths.filter((each) => folderOf(each) === folderOf(path));
  const found = nearest(baseOf(path), beside.slice(0, mostCompared).map(baseOf));
  if (found !== undefined) return folderOf(path) + found;
  return nearest(path, paths.slice(0, mostCompared));
}

function missingMessage(path: string, paths: readonly string[], namesNearest: boolean): string {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(path)) return `${path} is no path: write {link: "${path}"}`;
  if (path.startsWith("../") || path.startsWith("/")) {
    return `${path} is outside the project: paths are relative to the project root`;
  }
  const slashed = path.replaceAll("\\", "/");
  if (slashed !== path && namesNearest && paths.includes(slashed))
    return `${path}: write it as ${slashed}`;
  const near = namesNearest ? nearestPath(path, paths) : undefined;
  const hint = near === undefined ? "" : `; the nearest is ${near}`;
  return `${path} does not exist${hint}`;
}

function pathProblems(suite: Suite, { paths, leftOut }: FolderFacts): SuiteProblem[] {
  const known = new Set(paths);
  let missing = 0;
  return namedPaths(suite).flatMap(({ path, place }): SuiteProblem[] => {
    const reason = leftOut(path);
    if (reason !== undefined) {
      return [{ place, message: `${path} is not uploaded: ${reason}` }];
    }
    if (known.has(path)) return [];
    missing++;
    return [{ place, message: missingMessage(path, paths, missing <= mostNamed) }];
  });
}

/** The cases that count. */
function reviewedCases({ cases }: Suite): EvalCase[] {
  return cases.filter(({ needsReview }) => !needsReview);
}

/**
 * Finds what makes a suite meaningless before the first question: no case that counts, expectations
 * that cannot hold, documents that do not exist or are not uploaded. In the order of the file.
 */
export function checkSuite(suite: Suite, facts: FolderFacts): SuiteProblem[] {
  const start = { file: suite.file, line: 1, column: 1 };
  const { cases } = suite;
  if (cases.length === 0) return [{ place: start, message: "the suite has no cases" }];
  const reviewed = reviewedCases(suite);
  if (reviewed.length === 0) {
    const message =
      "each case waits for a review: check the questions, then remove the lines `review: true`";
    return [{ place: start, message }];
  }
  const problems = [...reviewed.flatMap(findContradictions), ...pathProblems(suite, facts)];
  return problems.toSorted(
    (a, b) => a.place.line - b.place.line || a.place.column - b.place.column,
  );
}
