import type { Rule } from "../rule.ts";
import { nearDuplicate } from "./near-duplicates/near-duplicate.ts";
import { numbersDisagree } from "./near-duplicates/numbers-disagree.ts";

/** Documents that say the same, or nearly. */
export const nearDuplicateRules: readonly Rule[] = [nearDuplicate, numbersDisagree];
