import data from "./pack.json" with { type: "json" };

// pack.json contains rules of gitleaks (MIT licence, notice in LICENSES.txt), converted by
// scripts/secret-rules.js.

interface PackRule {
  /** The name that gitleaks gives it. */
  id: string;
  pattern: string;
  flags?: string;
  /** A value with less information per character is no secret. */
  entropy?: number;
  /** The group of `pattern` that is the secret; default: the first one with text, else all. */
  group?: number;
  /** Values that are no secrets. */
  allow?: readonly string[];
}

/** A secret with a form of its own, such as `ghp_…`. */
export interface KnownForm extends PackRule {
  /** In lower case. Where none is near, `pattern` does not match. */
  keywords: readonly string[];
}

/** A value that is a secret if the name of a service is assigned to it, such as `datadog_key = …`. */
export interface AssignedForm extends PackRule {
  /** The names, as an expression. Case does not matter. */
  names: string;
}

interface Pack {
  known: readonly KnownForm[];
  assigned: readonly AssignedForm[];
  generic: {
    /** Names with "key" or "token" that are not names of secrets. */
    otherNames: string;
    /** Parts of values that are no secrets, separated by spaces. */
    stopwords: string;
  };
}

export const pack: Pack = data;
