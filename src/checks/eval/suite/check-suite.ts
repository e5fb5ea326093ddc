import { nameIn } from "../../../documents/files/file-name.ts";
import { bySimilarity, nearest } from "../../../nearest.ts";
import type { EvalCase, Place, Suite, SuiteProblem, Expectation, Wanted } from "./suite.ts";
import type { DocumentRef } from "../result.ts";
import { documentText } from "../documents.ts";
import { expectationName } from "../words.ts";

interface NeededText {
  text: string;
  anyCase: boolean;
}

const lower = (text: string): string => text.normalize("NFC").toLowerCase();

/** The texts of an expectation about the text of the answer; none for another word. */
function textsOf({ word, value }: Expectation): NeededText[] {
  if (!/^i?contains/.test(word)) return [];
  const anyCase = word === "icontains";
  return [value as string | readonly string[]].flat().map((text) => ({ text, anyCase }));
}

/** Texts that the answer must contain, each alternative on its own: `contains-any` has several. */
function neededTexts(expectation: Expectation): NeededText[][] {
  const { word, isNot } = expectation;
  if (isNot) return [];
  const texts = textsOf(expectation);
  return word === "contains-any" ? [texts] : texts.map((each) => [each]);
}

/** Texts that the answer must not contain: of `not-contains-all` it may contain any. */
function bannedTexts(expectation: Expectation): NeededText[] {
  return expectation.isNot && expectation.word !== "contains-all" ? textsOf(expectation) : [];
}

/** Whether an answer with the needed text always contains the banned one. */
function excludes(needed: NeededText, banned: NeededText): boolean {
  if (banned.anyCase) return lower(needed.text).includes(lower(banned.text));
  return !needed.anyCase && needed.text.normalize("NFC").includes(banned.text.normalize("NFC"));
}

const lineOf = ({ line }: Place): string => `line ${line}`;

function textProblems({ expect }: EvalCase): SuiteProblem[] {
  const bans = expect.flatMap((by) => bannedTexts(by).map((banned) => ({ by, banned })));
  return expect.flatMap((wanting) =>
    neededTexts(wanting).flatMap((alternatives): SuiteProblem[] => {
      const found = alternatives.map((text) => bans.find(({ banned }) => excludes(text, banned)));
      const ban = found[0]?.by;
      if (!ban || found.includes(undefined)) return [];
      const shown = alternatives.map(({ text }) => JSON.stringify(text)).join(" or ");
      const message = `the answer cannot contain ${shown}: ${expectationName(ban)} in ${lineOf(ban.place)} excludes it`;
      return [{ place: wanting.place, message }];
    }),
  );
}

type Named = Pick<Wanted, "document" | "place">;

const keyOf = (ref: DocumentRef): string => JSON.stringify(ref);

function refsOf(expect: readonly Expectation[], isNot: boolean, words: readonly string[]): Named[] {
  return expect
    .filter((each) => each.isNot === isNot && words.includes(each.word))
    .flatMap(({ value, place }) =>
      (value as DocumentRef[]).map((document) => ({ document, place })),
    );
}

/** Documents that must be and must not be in the same list. A cited document was retrieved. */
function documentProblems({
  mustRetrieve,
  mustNotRetrieve,
  match,
  expect,
}: EvalCase): SuiteProblem[] {
  const isCertain = match === "all" || mustRetrieve.length === 1;
  const needed = [
    ...(isCertain ? mustRetrieve : []),
    ...refsOf(expect, false, ["cites", "retrieves"]),
  ];
  const banned = [...mustNotRetrieve, ...refsOf(expect, true, ["retrieves"])];
  const clash = (some: readonly Named[], others: readonly Named[]): SuiteProblem[] =>
    some.flatMap(({ document, place }): SuiteProblem[] => {
      const other = others.find((each) => keyOf(each.document) === keyOf(document));
      if (!other) return [];
      const message = `${documentText(document)} is both wanted and unwanted: see ${lineOf(other.place)}`;
      return [{ place, message }];
    });
  return [
    ...clash(needed, banned),
    ...clash(refsOf(expect, false, ["cites"]), refsOf(expect, true, ["cites"])),
  ];
}

function repeatedDocuments(list: readonly Named[]): SuiteProblem[] {
  const seen = new Set<string>();
  return list.flatMap(({ document, place }): SuiteProblem[] => {
    const key = keyOf(document);
    if (seen.has(key)) return [{ place, message: `${documentText(document)} is named twice` }];
    seen.add(key);
    return [];
  });
}

function opposite(one: Expectation, other: Expectation): boolean {
  if (one.isNot || !other.isNot || one.word !== other.word) return false;
  if (one.word === "latency") return (one.value as number) <= (other.value as number);
  if (one.word === "min-sources") return (one.value as number) >= (other.value as number);
  if (["contains", "icontains", "contains-any", "cites", "retrieves"].includes(one.word))
    return false;
  return JSON.stringify(one.value) === JSON.stringify(other.value);
}

const citing = ["cites", "min-sources", "answered"];

/** Words that exclude each other, whatever the answer is. */
function wordProblems({ expect }: EvalCase): SuiteProblem[] {
  return expect.flatMap((one, index): SuiteProblem[] => {
    const isClash = (other: Expectation): boolean =>
      opposite(one, other) ||
      (!one.isNot && !other.isNot && one.word === "declined" && citing.includes(other.word));
    const other = expect.find((each, at) => at !== index && isClash(each));
    if (!other) return [];
    const message = `${expectationName(one)} and ${expectationName(other)} (${lineOf(other.place)}) exclude each other`;
    return [{ place: one.place, message }];
  });
}

// Only a search stops at k: an answer may cite more documents.
function countProblems({ mustRetrieve, match, k, place }: EvalCase): SuiteProblem[] {
  if (match !== "all" || mustRetrieve.length <= k) return [];
  const message = `${mustRetrieve.length} documents cannot be among the first ${k}: raise k, or write match: any`;
  return [{ place: mustRetrieve[0]?.place ?? place, message }];
}

/** Expectations of a case that no answer and no search result can meet, and a case without any. */
function findContradictions(one: EvalCase): SuiteProblem[] {
  const { mustRetrieve, mustNotRetrieve, expect, place, id } = one;
  if (mustRetrieve.length + mustNotRetrieve.length + expect.length === 0) {
    const message = `the case ${id} expects nothing: add must_retrieve, must_not_retrieve or expect`;
    return [{ place, message }];
  }
  return [
    ...countProblems(one),
    ...repeatedDocuments(mustRetrieve),
    ...repeatedDocuments(mustNotRetrieve),
    ...documentProblems(one),
    ...textProblems(one),
    ...wordProblems(one),
  ];
}

/** What the folder knows of the files that suites name. */
export interface FolderFacts {
  /** Paths of all files that an upload of the whole project takes. */
  paths: readonly string[];
  /** Why a file is left out of the upload; undefined if it is uploaded or does not exist. */
  leftOut(path: string): string | undefined;
}

/** Paths that a suite names, with their places: of cases that wait for a review only with `drafts`. */
export function namedPaths(suite: Suite, drafts = false): { path: string; place: Place }[] {
  const words = ["cites", "retrieves"];
  return (drafts ? suite.cases : reviewedCases(suite))
    .flatMap(({ mustRetrieve, mustNotRetrieve, expect }): Named[] => [
      ...mustRetrieve,
      ...mustNotRetrieve,
      ...refsOf(expect, false, words),
      ...refsOf(expect, true, words),
    ])
    .flatMap(({ document, place }) => ("path" in document ? [{ path: document.path, place }] : []));
}

const folderOf = (path: string): string => path.slice(0, path.lastIndexOf("/") + 1);

// Comparing a name with each of many others takes time: for many names, the rest of the message does.
const mostCompared = 2000;
const mostNamed = 20;

/** The file that was probably meant: moved to another folder, renamed, or mistyped. */
function nearestPath(path: string, paths: readonly string[]): string | undefined {
  const moved = paths.filter((each) => nameIn(each) === nameIn(path));
  if (moved.length > 0) return bySimilarity(path, moved.slice(0, mostCompared))[0];
  const beside = paths.filter((each) => folderOf(each) === folderOf(path));
  const found = nearest(nameIn(path), beside.slice(0, mostCompared).map(nameIn));
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
 * that cannot hold, documents that do not exist or are not uploaded. In the order of the file. With
 * `drafts` a suite may have nothing else; they are never a problem.
 */
export function checkSuite(suite: Suite, facts: FolderFacts, drafts = false): SuiteProblem[] {
  const start = { file: suite.file, line: 1, column: 1 };
  const { cases } = suite;
  if (cases.length === 0) return [{ place: start, message: "the suite has no cases" }];
  const reviewed = reviewedCases(suite);
  if (reviewed.length === 0 && !drafts) {
    const message =
      "each case waits for a review: check the questions, then remove the lines `review: true`";
    return [{ place: start, message }];
  }
  const problems = [...reviewed.flatMap(findContradictions), ...pathProblems(suite, facts)];
  return problems.toSorted(
    (a, b) => a.place.line - b.place.line || a.place.column - b.place.column,
  );
}
