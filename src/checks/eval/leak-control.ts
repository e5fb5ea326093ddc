import { documentText, type DocumentMatch } from "./match-document.ts";
import type { Reply } from "./reply.ts";
import type { EvalKind } from "./result.ts";
import type { DocumentRef, EvalCase } from "./suite/suite.ts";

/** Documents that the reader of a case must not see; empty unless the case is a leak test. */
export function leakedOf(
  { profile, expect, mustNotRetrieve }: EvalCase,
  kind: EvalKind,
): DocumentRef[] {
  if (profile === undefined) return [];
  const checked = kind === "answers" ? expect : [];
  const named = checked.filter(({ word, isNot }) => isNot && word === "retrieves");
  return [
    ...mustNotRetrieve.map(({ document }) => document),
    ...named.flatMap(({ value }) => value as readonly DocumentRef[]),
  ];
}

/**
 * Why a leak test proves nothing: the profile of the run does not get the documents either, for
 * example because they are not indexed. Undefined if it gets all of them among the first `k`.
 */
export function controlProblem(
  leaked: readonly DocumentRef[],
  control: Reply | undefined,
  k: number | null,
  matches: DocumentMatch,
): string | undefined {
  if (leaked.length === 0) return undefined;
  const proves = "so that the leak test proves nothing";
  if (control === undefined) return `the profile of the run was not asked, ${proves}`;
  if (control.error !== undefined) {
    return `the same question failed for the profile of the run, ${proves}: ${control.error}`;
  }
  const found = control.retrieved.slice(0, k ?? undefined);
  const absent = leaked.filter((ref) => !found.some((each) => matches(ref, each)));
  if (absent.length === 0) return undefined;
  const names = absent.map(documentText).join(", ");
  return `the profile of the run does not get ${names} either, ${proves}`;
}
