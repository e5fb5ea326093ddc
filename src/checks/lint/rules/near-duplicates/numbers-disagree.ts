import { posix } from "node:path";
import type { ComparedPage, FolderRule, LintPage, PageFacts, Span } from "../../rule.ts";
import { documentName } from "../../folder/document-name.ts";
import { versionOf } from "../../folder/edition.ts";
import { pageBody } from "../../links/page-body.ts";
import { claimOf, type Claim } from "../../near/claims.ts";
import { proseSentences } from "../../near/prose.ts";
import { createNumbersByHash, hashText } from "../../store/numbers-by-hash.ts";

interface ClaimFact extends Claim {
  span?: Span | undefined;
}

// A page with more of them is a list of numbers.
const mostClaims = 100;
// What more documents say in different ways is a form that each of them fills in.
const mostDocuments = 5;

function collect(page: LintPage): ClaimFact[] | undefined {
  if (!page.document) return undefined;
  const { text, spanOf } = pageBody(page);
  const claims: ClaimFact[] = [];
  for (const sentence of proseSentences(text)) {
    const claim = claimOf(sentence);
    if (!claim) continue;
    if (claims.length === mostClaims) return undefined;
    claims.push({ ...claim, span: spanOf(sentence.start, sentence.end) });
  }
  return claims.length > 0 ? claims : undefined;
}

/** The same sentence in a document. */
interface Saying {
  page: ComparedPage;
  claim: ClaimFact;
}

type Facts = PageFacts<ClaimFact[]>;

function* claimsIn(facts: Facts): Generator<Saying & { key: string }> {
  for (const { fact, ...page } of facts) {
    const version = versionOf(page.path);
    for (const claim of fact) yield { page, claim, key: `${claim.key} ${version}` };
  }
}

/** Hashes of the sentences that two documents say with different numbers; of few others. */
function findDisputed(facts: Facts): ReadonlySet<number> {
  const numbersOf = createNumbersByHash();
  const disputed = new Set<number>();
  for (const { key, claim } of claimsIn(facts)) {
    const [hash, numbers] = [hashText(key), hashText(claim.numbers) >>> 0];
    const [known] = numbersOf.of(hash);
    if (known === undefined) numbersOf.add(hash, numbers);
    else if (known !== numbers) disputed.add(hash);
  }
  return disputed;
}

/** The sentences that may disagree, each with the documents that say it. Others are not kept. */
function groupSayings(facts: Facts): Map<string, Saying[]> {
  const disputed = findDisputed(facts);
  const groups = new Map<string, Saying[]>();
  if (disputed.size === 0) return groups;
  for (const { key, page, claim } of claimsIn(facts)) {
    if (!disputed.has(hashText(key))) continue;
    const group = groups.get(key);
    if (!group) groups.set(key, [{ page, claim }]);
    // One more than disagreeing() accepts is enough.
    else if (group.length <= mostDocuments) group.push({ page, claim });
  }
  return groups;
}

/** Whether a document is about its number: `after-14-days.md`. */
function isNamedAfter({ page, claim }: Saying): boolean {
  const inName = new Set(posix.basename(page.path).match(/\d+/g));
  return claim.numbers.split(", ").some((number) => inName.has(number));
}

/** The sayings that differ from the first; none if the sentence is a form rather than a claim. */
function disagreeing(group: readonly Saying[]): readonly Saying[] {
  const [first] = group;
  const pages = new Set(group.map(({ page }) => page));
  const values = new Set(group.map(({ claim }) => claim.numbers));
  if (!first || values.size !== 2 || pages.size !== group.length || pages.size > mostDocuments)
    return [];
  if (group.some((saying) => isNamedAfter(saying))) return [];
  return group.filter(({ claim }) => claim.numbers !== first.claim.numbers);
}

/** Documents that say the same with other numbers. */
export const numbersDisagree: FolderRule<ClaimFact[]> = {
  kind: "folder",
  name: "numbers-disagree",
  group: "near-duplicates",
  severity: "note",
  summary: "Two documents have the same sentence with different numbers",
  advice:
    "One of the numbers may be out of date, and an answer may cite either. Correct one sentence, or " +
    "write in both what the number depends on. The rule compares whole sentences with a quantity, such as " +
    "`28 days` or `5 %`; versions in folders of their own may differ.",
  bad: "<!-- file: leave.md -->\n# Leave\n\nEmployees get 28 days of leave in each calendar year.\n\n<!-- file: welcome.md -->\n# Welcome\n\nEmployees get 25 days of leave in each calendar year.\n",
  good: "<!-- file: leave.md -->\n# Leave\n\nEmployees get 28 days of leave in each calendar year.\n\n<!-- file: welcome.md -->\n# Welcome\n\nThe page about leave says how many days you get.\n",
  collect,
  *compare(facts) {
    for (const group of groupSayings(facts).values()) {
      const [first] = group;
      for (const { page, claim } of disagreeing(group)) {
        const { path, part, row } = page;
        const other = first ? `${documentName(first.page)} says ${first.claim.numbers}` : "";
        const message = `these two disagree: "${claim.text}", but ${other}`;
        yield { path, part, row, span: claim.span, message };
      }
    }
  },
};
