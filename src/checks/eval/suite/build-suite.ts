import { posix } from "node:path";
import { patternProblem } from "../../time-limit.ts";
import type { DocumentRef } from "../result.ts";
import {
  didYouMean,
  type EvalCase,
  type Expectation,
  type Suite,
  type Wanted,
  type Judge,
  type SuiteProblem,
  type Locate,
  type Path,
} from "./suite.ts";
import { type CaseContent, type SuiteContent, variableName } from "./suite-schema.ts";
import { hash } from "node:crypto";

/** JSON whose members are in the order of their names. */
function stable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stable);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => key !== "place");
  return Object.fromEntries(
    entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, each]) => [key, stable(each)]),
  );
}

/**
 * Hash of what decides the results of a suite. Its layout, the order and the groups of its cases, and
 * cases that wait for a review do not count.
 */
function digestOf(cases: readonly EvalCase[], judge: Judge | undefined): string {
  const counting = cases
    .filter(({ needsReview }) => !needsReview)
    .map(({ group: _group, needsReview: _mark, ...rest }) => rest)
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const usesJudge = counting.some(({ expect }) => expect.some(({ word }) => word === "judge"));
  const basis = { cases: counting, judge: usesJudge ? judge : undefined };
  return hash("sha256", JSON.stringify(stable(basis)), "hex");
}

/** Values of `{{name}}` by name. */
type Variables = ReadonlyMap<string, string>;

/**
 * Replaces each `{{name}}` of a text by its value, once: a value is not searched again. Calls
 * `report` for an unknown name, and for anything else between the braces.
 */
function fillIn(text: string, variables: Variables, report: (message: string) => void): string {
  return text.replace(/\{\{([^{}]*)\}\}/g, (whole, inside: string) => {
    const name = inside.trim();
    const value = variables.get(name);
    if (value !== undefined) return value;
    if (variableName.test(name)) {
      report(`the variable ${name} is not defined${didYouMean(name, [...variables.keys()])}`);
    } else report(`${whole.slice(0, 60)}: only the name of a variable can stand between {{ and }}`);
    return whole;
  });
}

const defaultK = 5;

interface Building {
  content: SuiteContent;
  locate: Locate;
  variables: Variables;
  problems: SuiteProblem[];
}

type Named = { path?: string | undefined; id?: string | undefined; link?: string | undefined };

function refOf(document: string | Named): DocumentRef {
  const { path, id, link } = typeof document === "string" ? { path: document } : document;
  if (id !== undefined) return { id };
  if (link !== undefined || path === undefined) return { link: link ?? "" };
  // An address keeps its `//`, so that the message about a path that does not exist shows it.
  return { path: path.includes("://") ? path : posix.normalize(path) };
}

function wantedOf(
  list: readonly (string | (Named & { relevance?: number | undefined }))[],
  path: Path,
  { locate }: Building,
): Wanted[] {
  return list.map((each, index) => ({
    document: refOf(each),
    relevance: typeof each === "string" ? 1 : (each.relevance ?? 1),
    place: locate([...path, index]),
  }));
}

const documentWords = new Set(["cites", "retrieves"]);
const wordsWithVariables = new Set(["contains", "icontains", "contains-any", "contains-all"]);

/** The value of a word in the form that words/ takes. Reports problems that the schema cannot express. */
function valueOf(
  word: string,
  value: unknown,
  building: Building,
  report: (message: string) => void,
): unknown {
  const fill = (text: string): string => fillIn(text, building.variables, report);
  if (documentWords.has(word)) return ([value].flat() as (string | Named)[]).map(refOf);
  if (wordsWithVariables.has(word)) {
    return Array.isArray(value) ? value.map((each: string) => fill(each)) : fill(value as string);
  }
  if (word === "regex") {
    const problem = patternProblem(value as string);
    if (problem !== undefined) report(`the regular expression does not compile: ${problem}`);
  }
  if (word === "judge") {
    if (!building.content.judge) report("`judge` of the suite is missing: it names the server");
    const { rubric, threshold } = value as { rubric: string; threshold: number };
    return { rubric: fill(rubric), threshold };
  }
  return value;
}

function expectationOf(
  item: NonNullable<CaseContent["expect"]>[number],
  path: Path,
  building: Building,
): Expectation {
  const [name = "", value] =
    typeof item === "string" ? [item, true] : (Object.entries(item)[0] ?? []);
  const isNot = name.startsWith("not-");
  const word = isNot ? name.slice(4) : name;
  const place = building.locate(path);
  const report = (message: string): void => {
    building.problems.push({ place, message: `${name}: ${message}` });
  };
  return { word, isNot, value: valueOf(word, value, building, report), place };
}

function caseOf(item: CaseContent, path: Path, building: Building): EvalCase {
  const { locate, content, variables, problems } = building;
  const { defaults = {} } = content;
  const questionPlace = locate([...path, "question"]);
  const question = fillIn(item.question, variables, (message) =>
    problems.push({ place: questionPlace, message }),
  );
  const { source_types, document_sets, tags, since } = { ...defaults.filters, ...item.filters };
  return {
    id: item.id,
    group: item.group,
    question: question.trim(),
    agent: item.agent ?? defaults.agent,
    filters: { sourceTypes: source_types, documentSets: document_sets, tags, since },
    profile: item.profile ?? defaults.profile,
    k: item.k ?? defaults.k ?? defaultK,
    match: item.match ?? defaults.match ?? "all",
    mustRetrieve: wantedOf(item.must_retrieve ?? [], [...path, "must_retrieve"], building),
    mustNotRetrieve: wantedOf(
      item.must_not_retrieve ?? [],
      [...path, "must_not_retrieve"],
      building,
    ),
    expect: (item.expect ?? []).map((each, index) =>
      expectationOf(each, [...path, "expect", index], building),
    ),
    repeat: item.repeat ?? defaults.repeat ?? 1,
    threshold: item.threshold ?? defaults.threshold ?? 1,
    needsReview: item.review === true,
    place: locate(path),
  };
}

function checkIds(
  cases: readonly CaseContent[],
  pathOf: (index: number) => Path,
  building: Building,
): void {
  const seen = new Map<string, string>();
  for (const [index, { id }] of cases.entries()) {
    // Recordings and reports may name files by the id.
    const key = id.normalize("NFC").toLowerCase();
    const earlier = seen.get(key);
    if (earlier === undefined) {
      const { line } = building.locate(pathOf(index));
      seen.set(key, `the case in line ${line} has the id ${id}`);
    } else {
      const place = building.locate([...pathOf(index), "id"]);
      building.problems.push({ place, message: `the id ${id} is not unique: ${earlier}` });
    }
  }
}

/**
 * Makes a suite from the content of its file: fills in defaults and variables. `indexOf` is the index
 * in the file of each case. Returns the problems that the schema of suites cannot express.
 */
export function buildSuite(
  content: SuiteContent,
  file: string,
  locate: Locate,
  indexOf: (index: number) => number = (index) => index,
): { suite: Suite; problems: SuiteProblem[] } {
  const variables = new Map(
    Object.entries(content.variables ?? {}).map(([name, value]) => [name, String(value)]),
  );
  const building: Building = { content, locate, variables, problems: [] };
  const pathOf = (index: number): Path => ["cases", indexOf(index)];
  checkIds(content.cases, pathOf, building);
  const cases = content.cases.map((item, index) => caseOf(item, pathOf(index), building));
  for (const { question, place } of cases) {
    if (question === "") building.problems.push({ place, message: "the question is empty" });
  }
  const judge = content.judge && {
    baseUrl: content.judge.base_url,
    model: content.judge.model,
    keyVariable: content.judge.key_variable,
  };
  const digest = digestOf(cases, judge);
  return { suite: { file, digest, cases, judge }, problems: building.problems };
}
