import type { Rule } from "../rule.ts";
import { collidingId } from "./identity/colliding-id.ts";
import { duplicateId } from "./identity/duplicate-id.ts";
import { duplicateTitle } from "./identity/duplicate-title.ts";
import { missingTitle } from "./identity/missing-title.ts";

/** What makes documents one, or keeps them apart. */
export const identityRules: readonly Rule[] = [
  duplicateId,
  collidingId,
  missingTitle,
  duplicateTitle,
];
