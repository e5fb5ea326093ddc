import { bodyOf } from "../../page/body.ts";
import { hasWords } from "../../page/measure.ts";
import type { PageRule } from "../../rule.ts";

// A page without a word is short: a longer one consists of text.
const longest = 5000;

export const empty: PageRule = {
  kind: "page",
  name: "empty",
  group: "content",
  severity: "warning",
  summary: "The page has no text",
  advice:
    "Components, images and includes that cannot be read leave no text behind, so no question finds the page. " +
    "Write in words what the page shows, or exclude the file.",
  bad: "---\ntitle: Releases\n---\n\n<ReleaseTable year={2026} />\n",
  good: "---\ntitle: Releases\n---\n\nA release comes on the first Monday of each month.\n\n<ReleaseTable year={2026} />\n",
  *check(page) {
    const { skipped, document, parsed } = page;
    // Text in ignore regions is left out on purpose.
    if (skipped?.startsWith("empty: ") && parsed.body.trim() === "") {
      yield { message: `the page is not sent: ${skipped.slice("empty: ".length)}` };
    }
    if (!document || document.sections.some((each) => each.image_file_id !== undefined)) return;
    const { text } = bodyOf(page);
    if (text.length < longest && !hasWords(text)) {
      yield { message: "no words: the page consists of markup and images" };
    }
  },
};
