import type { Rule } from "./rule.ts";
import { secretsRules } from "./rules/secrets.ts";

/**
 * The rules of level error without configuration: an upload loads no others, unless the
 * configuration makes one an error.
 */
export const uploadRules: readonly Rule[] = secretsRules;
