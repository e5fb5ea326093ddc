import type { Rule } from "../rule.ts";
import { collidingId } from "./identity/colliding-id.ts";
import { duplicateId } from "./identity/duplicate-id.ts";
import { duplicateTitle } from "./identity/duplicate-title.ts";
import { missingTitle } from "./identity/missing-title.ts";

/** The rules on ids and titles. */
export const identityRules: readonly Rule[] = [
  duplicateId,
  collidingId,
  missingTitle,
  duplicateTitle,
];
