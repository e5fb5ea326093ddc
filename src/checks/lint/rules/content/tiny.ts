import { bodyOf, type Body } from "../../page/body.ts";
import { countWords, hasWords } from "../../page/measure.ts";
import type { PageRule } from "../../rule.ts";

const fewest = 10;
// Ten words are shorter, with all their addresses.
const longest = 5000;

function withoutHeadings({ text, structure }: Body): string {
  let rest = "";
  let from = 0;
  for (const { start, end } of structure?.headings ?? []) {
    rest += text.slice(from, start);
    from = end;
  }
  return rest + text.slice(from);
}

export const tiny: PageRule = {
  kind: "page",
  name: "tiny",
  group: "content",
  severity: "note",
  summary: `The page has fewer than ${fewest} words besides its headings`,
  advice:
    "A page of a few words matches many questions a little and answers none. " +
    "Write the answer itself, or move the sentence to the page that it belongs to.",
  bad: "# Parking\n\nSee the intranet.\n",
  good: "# Parking\n\nPark on level 2 of the garage. The gate opens with your badge from 6:00 to 22:00.\n",
  *check(page) {
    const body = bodyOf(page);
    if (body.text.length > longest) return;
    const words = countWords(withoutHeadings(body), fewest);
    if (words >= fewest || !hasWords(body.text)) return;
    const shown =
      words === 0
        ? "no words besides headings and addresses"
        : `${words} ${words === 1 ? "word" : "words"}`;
    yield { message: `${shown}, at least ${fewest} words are expected` };
  },
};
