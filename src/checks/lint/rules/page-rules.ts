import type { PageRule } from "../rule.ts";
import {
  accessWithoutEffect,
  futureDate,
  longTag,
  metadataNotText,
  ownerWithoutEmail,
  staleDate,
} from "./metadata.ts";
import {
  danglingReference,
  empty,
  genericHeading,
  hugeSection,
  skippedLevel,
  splitList,
  tableWithoutHeader,
  tiny,
} from "./sections.ts";
import { leakedJsx, placeholder, templateText } from "./markup.ts";
import { bidiControls, hiddenWords, invisibleCharacters, tagCharacters } from "./hidden.ts";

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
