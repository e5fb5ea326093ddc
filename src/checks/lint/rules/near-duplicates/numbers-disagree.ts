import { posix } from "node:path";
import type { FolderRule, LintPage, PageFact, Span } from "../../rule.ts";
import { documentName } from "../../folder/document-name.ts";
import { versionOf } from "../../folder/edition.ts";
import { pageBody } from "../../links/page-body.ts";
import { claimOf, type Claim } from "../../near/claims.ts";
import { proseSentences } from "../../near/prose.ts";

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
  page: PageFact<ClaimFact[]>;
  claim: ClaimFact;
}

function groupSayings(facts: readonly PageFact<ClaimFact[]>[]): Map<string, Saying[]> {
  const groups = new Map<string, Saying[]>();
  for (const page of facts) {
    const version = versionOf(page.path);
    for (const claim of page.fact) {
      const key = `${claim.key} ${version}`;
      const group = groups.get(key);
      if (group) group.push({ page, claim });
      else groups.set(key, [{ page, claim }]);
    }
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
        const { path, part } = page;
        const other = first ? `${documentName(first.page)} says ${first.claim.numbers}` : "";
        const message = `these two disagree: "${claim.text}", but ${other}`;
        yield { path, part, span: claim.span, message };
      }
    }
  },
};
