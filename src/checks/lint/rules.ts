import type { Rule } from "./rule.ts";
import { createDisableComment } from "./rules/disable-comment.ts";
import { empty } from "./rules/empty.ts";

// A file of rules is one line here, in the order of the docs.
const ofDocuments: readonly Rule[] = [empty];

/** All rules. */
export const rules: readonly Rule[] = [...ofDocuments, createDisableComment(ofDocuments)];
