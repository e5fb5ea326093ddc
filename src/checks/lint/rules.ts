import type { Rule } from "./rule.ts";
import { empty } from "./rules/empty.ts";

/** All rules, in the order of the docs. A file of rules is one line here. */
export const rules: readonly Rule[] = [empty];
