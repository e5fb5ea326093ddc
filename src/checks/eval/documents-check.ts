import { documentText, type DocumentMatch } from "./match-document.ts";
import type { Check, RetrievedDocument } from "./result.ts";
import type { DocumentRef, EvalCase } from "./suite/suite.ts";

/** Checks of one run, and why a part of them could not be decided. */
export interface Judged {
  checks: Check[];
  undecided: string[];
}

/** A document as a check names it: a path as text, else `{id}` or `{link}`. */
function valueOf(ref: DocumentRef): unknown {
  return "path" in ref ? ref.path : ref;
}

/** A document that must not come, and the word of the suite that says so. */
export interface Unwanted {
  word: string;
  document: DocumentRef;
}

/** The documents of a response, and how a suite's names are compared with them. */
export interface Response {
  retrieved: readonly RetrievedDocument[];
  /** Only the first `k` count; null: all. */
  k: number | null;
  matches: DocumentMatch;
  /** Then an unwanted document fails at any rank. */
  isLeakTest: boolean;
}

type Documents = Pick<EvalCase, "mustRetrieve" | "match"> & { unwanted: readonly Unwanted[] };

interface Place {
  document: DocumentRef;
  /** From 1; undefined if the document is not among the first k. */
  rank: number | undefined;
  isUndecided: boolean;
}

/** Where a document is. A response without ids cannot rule out an id or a path. */
function placeOf(document: DocumentRef, { retrieved, k, matches }: Response): Place {
  const first = retrieved.slice(0, k ?? undefined);
  const at = first.findIndex((each) => matches(document, each));
  const isUnnamed = first.some(({ id, path }) => id === null && path === null);
  const isUndecided = at < 0 && isUnnamed && !("link" in document);
  return { document, rank: at < 0 ? undefined : at + 1, isUndecided };
}

function missingText(ref: DocumentRef, { retrieved, k, matches }: Response): string {
  if (k === null) return `not among the ${retrieved.length} documents of the answer`;
  const later = retrieved.findIndex((each) => matches(ref, each)) + 1;
  const text = `not among the first ${k}`;
  return later > 0 ? `${text}: rank ${later}` : text;
}

function undecidedText(ref: DocumentRef): string {
  return `cannot tell whether ${documentText(ref)} is among the documents: this search names no document ids; name the document by its link`;
}

/** One check for all wanted documents: one of them is enough. */
function checkAny(places: readonly Place[], response: Response): Judged {
  const passed = places.some(({ rank }) => rank !== undefined);
  const open = passed ? undefined : places.find(({ isUndecided }) => isUndecided);
  if (open) return { checks: [], undecided: [undecidedText(open.document)] };
  const missing = places.map(
    ({ document }) => `${documentText(document)}: ${missingText(document, response)}`,
  );
  const value = places.map(({ document }) => valueOf(document));
  const detail = passed ? undefined : missing.join("; ");
  return { checks: [{ word: "must_retrieve", value, passed, detail }], undecided: [] };
}

/** One check for each document. */
function checkEach(
  word: string,
  places: readonly Place[],
  judge: (place: Place) => Pick<Check, "passed" | "detail">,
): Judged {
  const decided = places.filter(({ isUndecided }) => !isUndecided);
  const undecided = places.filter(({ isUndecided }) => isUndecided);
  return {
    checks: decided.map((each) => ({ word, value: valueOf(each.document), ...judge(each) })),
    undecided: undecided.map(({ document }) => undecidedText(document)),
  };
}

function checkUnwanted(unwanted: readonly Unwanted[], response: Response): Judged {
  const all = { ...response, k: response.isLeakTest ? null : response.k };
  const judged = unwanted.map(({ word, document }) =>
    checkEach(word, [placeOf(document, all)], ({ rank }) =>
      rank === undefined ? { passed: true } : { passed: false, detail: `came at rank ${rank}` },
    ),
  );
  return {
    checks: judged.flatMap(({ checks }) => checks),
    undecided: judged.flatMap(({ undecided }) => undecided),
  };
}

/** Checks which documents a case wants and does not want. */
export function checkDocuments(
  { mustRetrieve, match, unwanted }: Documents,
  response: Response,
): Judged {
  const wanted = mustRetrieve.map(({ document }) => placeOf(document, response));
  const needed =
    match === "any" && wanted.length > 0
      ? checkAny(wanted, response)
      : checkEach("must_retrieve", wanted, ({ document, rank }) =>
          rank === undefined
            ? { passed: false, detail: missingText(document, response) }
            : { passed: true },
        );
  const refused = checkUnwanted(unwanted, response);
  return {
    checks: [...needed.checks, ...refused.checks],
    undecided: [...needed.undecided, ...refused.undecided],
  };
}
