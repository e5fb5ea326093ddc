import type { PageRule } from "../rule.ts";
import { accessWithoutEffect } from "./access/access-without-effect.ts";
import { danglingReference } from "./content/dangling-reference.ts";
import { empty } from "./content/empty.ts";
import { genericHeading } from "./content/generic-heading.ts";
import { hugeSection } from "./content/huge-section.ts";
import { leakedJsx } from "./content/leaked-jsx.ts";
import { placeholder } from "./content/placeholder.ts";
import { skippedLevel } from "./content/skipped-level.ts";
import { splitList } from "./content/split-list.ts";
import { tableWithoutHeader } from "./content/table-without-header.ts";
import { templateText } from "./content/template-text.ts";
import { tiny } from "./content/tiny.ts";
import { bidiControls } from "./hidden/bidi-controls.ts";
import { hiddenWords } from "./hidden/hidden-words.ts";
import { invisibleCharacters } from "./hidden/invisible-characters.ts";
import { tagCharacters } from "./hidden/tag-characters.ts";
import { futureDate } from "./metadata/future-date.ts";
import { longTag } from "./metadata/long-tag.ts";
import { metadataNotText } from "./metadata/metadata-not-text.ts";
import { ownerWithoutEmail } from "./metadata/owner-without-email.ts";
import { staleDate } from "./metadata/stale-date.ts";

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
