import { nearest } from "../../../nearest.ts";
import type { DocumentRef, ReportedCase } from "../result.ts";

/** A place in a suite file. Lines and columns count from 1. */
export type Place = ReportedCase["place"];

export type Path = readonly (string | number)[];

/** The place of a value in the suite file, or with `atKey` of its key. */
export type Locate = (path: Path, atKey?: boolean) => Place;

export interface SuiteProblem {
  place: Place;
  /** One sentence without a period. */
  message: string;
}

/** A known word for an unknown one: `; did you mean "k"?`, or nothing. */
export function didYouMean(word: string, known: readonly string[]): string {
  const found = nearest(word, known);
  return found === undefined ? "" : `; did you mean "${found}"?`;
}

/** A document that a case wants, with its weight for nDCG (1 unless the suite says otherwise). */
export interface Wanted {
  document: DocumentRef;
  relevance: number;
  place: Place;
}

/** One line of `expect`: `contains: 28 days`, `not-cites: [docs/old.md]`. */
export interface Expectation {
  /** Without `not-`. */
  word: string;
  isNot: boolean;
  value: unknown;
  place: Place;
}

export interface Filters {
  sourceTypes?: readonly string[] | undefined;
  documentSets?: readonly string[] | undefined;
  /** `key=value` */
  tags?: readonly string[] | undefined;
  since?: string | undefined;
}

/** A case with all defaults and variables filled in. */
export interface EvalCase {
  id: string;
  group: string | undefined;
  question: string;
  /** Id or name of the agent; undefined for the service's own. */
  agent: number | string | undefined;
  filters: Filters;
  /** Profile of the person who asks; undefined for the profile of the run. */
  profile: string | undefined;
  k: number;
  /** `all` (default): every wanted document must come; `any`: one is enough. */
  match: "all" | "any";
  mustRetrieve: readonly Wanted[];
  mustNotRetrieve: readonly Wanted[];
  expect: readonly Expectation[];
  repeat: number;
  /** Share of the runs that must pass, from 0 to 1. */
  threshold: number;
  /** Drafted by `eval init`: skipped until a person removes the mark. */
  needsReview: boolean;
  place: Place;
}

export interface Judge {
  baseUrl: string;
  model: string;
  /** Name of the environment variable with its key; the suite never holds a key. */
  keyVariable: string | undefined;
}

export interface Suite {
  file: string;
  /** Hash of the cases as far as they decide results: a baseline of another suite has another. */
  digest: string;
  cases: readonly EvalCase[];
  judge: Judge | undefined;
}
