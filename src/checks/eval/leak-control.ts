import { documentText, type DocumentMatch } from "./match-document.ts";
import type { Reply } from "./reply.ts";
import type { DocumentRef, EvalCase } from "./suite/suite.ts";

type Leaky = Pick<EvalCase, "profile" | "expect" | "mustNotRetrieve">;

/** Documents that `not-retrieves` names in a case with the profile of another reader. */
export function leakWords({ profile, expect }: Omit<Leaky, "mustNotRetrieve">): DocumentRef[] {
  if (profile === undefined) return [];
  return expect
    .filter(({ word, isNot }) => isNot && word === "retrieves")
    .flatMap(({ value }) => value as readonly DocumentRef[]);
}

/**
 * Documents that the reader of a case must not see; empty unless the case is a leak test. At any
 * rank: a reader who sees the document at rank 7 sees it.
 */
export function leakedOf(evalCase: Leaky): DocumentRef[] {
  if (evalCase.profile === undefined) return [];
  return [...evalCase.mustNotRetrieve.map(({ document }) => document), ...leakWords(evalCase)];
}

/**
 * Why a leak test proves nothing: the profile of the run does not get the documents either, for
 * example because they are not indexed. Undefined if it gets all of them, at whatever rank.
 */
export function controlProblem(
  leaked: readonly DocumentRef[],
  control: Reply | undefined,
  matches: DocumentMatch,
): string | undefined {
  if (leaked.length === 0) return undefined;
  const proves = "so that the leak test proves nothing";
  if (control === undefined) return `the profile of the run was not asked, ${proves}`;
  if (control.error !== undefined) {
    return `the same question failed for the profile of the run, ${proves}: ${control.error}`;
  }
  const absent = leaked.filter((ref) => !control.retrieved.some((each) => matches(ref, each)));
  if (absent.length === 0) return undefined;
  const names = absent.map(documentText).join(", ");
  return `the profile of the run does not get ${names} either, ${proves}`;
}
