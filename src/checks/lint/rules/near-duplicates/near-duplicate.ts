import { hash } from "node:crypto";
import type {
  FolderFound,
  FolderRule,
  LintPage,
  PageFact,
  PageFacts,
  StoredPage,
} from "../../rule.ts";
import { documentName } from "../../folder/document-name.ts";
import { languageOf, versionOf } from "../../folder/edition.ts";
import { findRepeated } from "../../folder/repeated.ts";
import {
  decodeSignature,
  encodeSignature,
  signatureOf,
  signatureSize,
} from "../../near/signature.ts";
import { findSimilar } from "../../near/similar.ts";

/** Share of common sequences of words from which on two documents count as nearly the same. */
const threshold = 0.8;

interface TextFact {
  signature: string;
  /** Hash of the text. */
  text: string;
}

function collect({ document }: LintPage): TextFact | undefined {
  if (!document) return undefined;
  const texts = document.sections.map(({ text = "" }) => text);
  const signature = signatureOf(texts);
  if (!signature) return undefined;
  const text = hash("sha256", texts.join("\n"), "hex").slice(0, 16);
  return { signature: encodeSignature(signature), text };
}

type Page = PageFact<TextFact>;

const editionOf = ({ path }: StoredPage): string => `${languageOf(path)}\n${versionOf(path)}`;

interface Edition {
  count: number;
  /** One after the other. */
  signatures: Uint16Array;
  /** The place of the fact of each. */
  places: Float64Array;
}

/**
 * The pages of each language and version: other editions of a page resemble it for a reason. About
 * 250 bytes a page.
 */
function editionsOf(facts: PageFacts<TextFact>): Map<string, Edition> {
  // Counted first: arrays that grow leave smaller ones behind.
  const counts = new Map<string, number>();
  for (const page of facts.pages()) {
    const key = editionOf(page);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const editions = new Map<string, Edition>();
  for (const [key, count] of counts) {
    const signatures = new Uint16Array(count * signatureSize);
    editions.set(key, { count: 0, signatures, places: new Float64Array(count) });
  }
  for (const page of facts) {
    const edition = editions.get(editionOf(page));
    if (!edition) continue;
    decodeSignature(page.fact.signature, edition.signatures, edition.count);
    edition.places[edition.count++] = page.place;
  }
  return editions;
}

function foundAt({ path, part, row, fact }: Page, first: Page, similarity: number): FolderFound {
  const name = documentName(first);
  const message =
    fact.text === first.fact.text
      ? `the text is that of ${name}`
      : `the text is nearly that of ${name}: ${shareOf(similarity)} are in both`;
  return { path, part, row, message };
}

/** For a message: an estimate from 120 values. */
function shareOf(similarity: number): string {
  const share = similarity > 0.99 ? "nearly all" : `about ${Math.floor(similarity * 100)} % of all`;
  return `${share} sequences of five words`;
}

const leave = `Employees have 28 days of leave in each calendar year. Ask your team lead for leave in the
portal, at least two weeks before the first day. The team lead answers within three working days. You can
carry five days over to the next year, and you use them until the end of March. A doctor's note stops
your leave: the days of illness come back to your account.`;

const kept = `<!-- file: leave.md -->\n# Leave\n\n${leave}\n\nQuestions: people@example.com.\n`;

/** Documents with nearly the same text. */
export const nearDuplicate: FolderRule<TextFact> = {
  kind: "folder",
  name: "near-duplicate",
  group: "near-duplicates",
  severity: "warning",
  summary: "Two documents have nearly the same text",
  advice:
    "Both take a place among the few documents that an answer is made from. When one is corrected, the " +
    "other stays wrong. Keep one page and link to it, move the common text to a page of its own, or skip " +
    "copies with `ingest: false`. The rule reports documents that have about 80 % or more of all their " +
    "sequences of five words in common, at the later document. Languages and versions in folders of their own are " +
    "compared for equal text only.",
  bad: `<!-- file: leave-2024.md -->\n# Leave\n\n${leave}\n\n${kept}`,
  good: `<!-- file: leave-2024.md -->\n---\ningest: false\n---\n# Leave\n\n${leave}\n\n${kept}`,
  collect,
  *compare(facts) {
    const reported = new Set<number>();
    const editions = editionsOf(facts);
    for (const [key, { signatures, places }] of editions) {
      // Not needed any more: the largest edition may come first.
      editions.delete(key);
      for (const { index, first, similarity } of findSimilar(signatures, threshold)) {
        const [later, earlier] = [places[index], places[first]];
        if (later === undefined || earlier === undefined) continue;
        reported.add(later);
        yield foundAt(facts.at(later), facts.at(earlier), similarity);
      }
    }
    // Another language or version with the same text.
    for (const [later, first] of findRepeated(facts, ({ fact }) => fact.text)) {
      if (!reported.has(later.place)) yield foundAt(later, first, 1);
    }
  },
};
