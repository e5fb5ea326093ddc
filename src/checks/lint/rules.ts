import { nearest } from "../../nearest.ts";
import { disablesIn } from "./place.ts";
import type { PageRule, Rule } from "./rule.ts";
import {
  accessWithoutEffect,
  futureDate,
  longTag,
  metadataNotText,
  openFrontMatter,
  ownerWithoutEmail,
  staleDate,
} from "./rules/metadata.ts";
import {
  danglingReference,
  genericHeading,
  hugeSection,
  skippedLevel,
  splitList,
} from "./rules/sections.ts";
import { tableWithoutHeader } from "./rules/tables.ts";
import { empty, textElsewhere, tiny } from "./rules/little-text.ts";
import { undefinedAttribute } from "./rules/undefined-attribute.ts";
import { leakedJsx, placeholder, templateText } from "./rules/markup.ts";
import { bidiControls, hiddenWords, invisibleCharacters, tagCharacters } from "./rules/hidden.ts";
import { identityRules } from "./rules/identity.ts";
import { linkRules } from "./rules/links.ts";
import { nearDuplicateRules } from "./rules/near-duplicates.ts";
import { secretsRules } from "./rules/secrets.ts";

const text = {
  kind: "page",
  name: "disable-comment",
  group: "content",
  severity: "warning",
  summary: "A knowctl-disable-next-line comment has no effect",
  advice:
    "The comment names a rule that does not exist, or a rule about secrets. Correct the name. " +
    "Allow a secret in the configuration: `lint.overrides`, or `ingest.allowSecrets`.",
  bad: "# Rooms\n\n<!-- knowctl-disable-next-line emty -- a placeholder -->\nWe have four rooms on each floor of the house in Main Street.\n",
  good: "# Rooms\n\n<!-- knowctl-disable-next-line empty -- a placeholder -->\nWe have four rooms on each floor of the house in Main Street.\n",
} as const;

/** A name for a message. What is no name may be a piece of a secret: it is cut. */
function shownName(name: string): string {
  return /^[a-z][a-z0-9-]{0,50}$/i.test(name) ? name : `${name.slice(0, 2)}…`;
}

/** The rule about comments that switch rules off; `rules` are all others. */
export function createDisableComment(rules: readonly Rule[]): PageRule {
  const groups = new Map(rules.map(({ name, group }) => [name, group]));
  groups.set(text.name, text.group);
  const problemOf = (name: string): string | undefined => {
    const group = groups.get(name);
    if (group === "secrets") return `a comment cannot allow secrets (${name}): configure it`;
    if (group !== undefined) return undefined;
    const similar = nearest(name, [...groups.keys()]);
    return `unknown rule "${shownName(name)}"${similar === undefined ? "" : `; did you mean "${similar}"?`}`;
  };
  return {
    ...text,
    *check({ source = "" }) {
      for (const disable of disablesIn(source)) {
        for (const { name, start, end } of disable.rules) {
          const message = problemOf(name);
          if (message !== undefined) yield { span: { start, end }, message };
        }
      }
    },
  };
}

/** The rules on content, metadata, hidden text and access, in the order of the docs. */
export const pageRules: readonly PageRule[] = [
  empty,
  tiny,
  hugeSection,
  genericHeading,
  danglingReference,
  splitList,
  skippedLevel,
  tableWithoutHeader,
  templateText,
  placeholder,
  leakedJsx,
  openFrontMatter,
  metadataNotText,
  longTag,
  futureDate,
  staleDate,
  ownerWithoutEmail,
  invisibleCharacters,
  bidiControls,
  tagCharacters,
  hiddenWords,
  accessWithoutEffect,
];

// A file of rules is one line here, in the order of the docs.
const ofDocuments: readonly Rule[] = [
  ...pageRules,
  textElsewhere,
  undefinedAttribute,
  ...identityRules,
  ...linkRules,
  ...nearDuplicateRules,
  ...secretsRules,
];

/** All rules. */
export const rules: readonly Rule[] = [...ofDocuments, createDisableComment(ofDocuments)];
