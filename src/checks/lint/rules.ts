import type { Rule } from "./rule.ts";
import { createDisableComment } from "./rules/disable-comment.ts";
import { identityRules } from "./rules/identity.ts";
import { linkRules } from "./rules/links.ts";
import { nearDuplicateRules } from "./rules/near-duplicates.ts";
import { pageRules } from "./rules/page-rules.ts";
import { secretsRules } from "./rules/secrets.ts";

// A file of rules is one line here, in the order of the docs.
const ofDocuments: readonly Rule[] = [
  ...pageRules,
  ...identityRules,
  ...linkRules,
  ...nearDuplicateRules,
  ...secretsRules,
];

/** All rules. */
export const rules: readonly Rule[] = [...ofDocuments, createDisableComment(ofDocuments)];
