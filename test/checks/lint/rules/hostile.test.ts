import { describe, expect, it } from "vitest";
import { pageRules } from "../../../../src/checks/lint/rules.ts";
import type { LintPage } from "../../../../src/checks/lint/rule.ts";
import { expectLinear } from "../../../cost.ts";
import { pageOf } from "./page.ts";

// Each is repeated: what is opened and never closed, what fits a pattern nearly, what fits it.
const pieces: Record<string, string> = {
  "one line of words": "word ",
  "one line of marks": "{{ a ",
  "one line of expressions": "{{ a }} ",
  "one line of tags": '<A b="c" ',
  "one line of components": "<Card/> ",
  "one line of comments": "<!-- note to AI: x -->",
  "comments that never close": "<!-- ",
  "one line of brackets": "[a](",
  "one line of backticks": "` ",
  "one line of pipes": "| ",
  "one line of zero width spaces": "a\u200b",
  "one line of direction marks": "a\u202e",
  "one line of tag characters": "\u{e0041}a",
  "one line of hidden elements": "<b hidden>AI: note to AI",
  headings: "### A\n# B\n",
  "headings with text": "## Notes\n\nAs mentioned above\n\n",
  placeholders: "TODO\n",
  imports: 'import a from "b"\n',
  "imports that never end": "import a from \n",
  tables: "| | |\n|---|---|\n| a | b |\n\n",
  "blank lines": "\n",
  "lines of blanks": "          \n",
  announcements: "# A\n\nthe following:\n\n## B\n\n",
};

function drain(page: LintPage): number {
  let count = 0;
  for (const rule of pageRules) for (const _ of rule.check(page)) count++;
  return count;
}

describe("hostile pages", () => {
  it.each(Object.entries(pieces))("%s cost no more than their size", async (_, piece) => {
    const size = 200_000;
    const template = await pageOf("---\ntitle: Notes\n---\n\nText.\n");
    const { document } = template;
    if (!document) throw new Error("no document");
    const pageOfSize = (chars: number): LintPage => {
      const body = piece.repeat(Math.ceil(chars / piece.length));
      const parsed = { ...template.parsed, body };
      // The reader changed the text, so that its places must be searched for.
      return { ...template, source: `${body}\nchanged`, parsed };
    };
    expectLinear(size, (chars) => void drain(pageOfSize(chars)));
  });

  it("are examined as lazily as their findings are asked for", async () => {
    const page = await pageOf("# A\n\n### B\n\n".repeat(50_000));
    const [rule] = pageRules.filter(({ name }) => name === "skipped-level");
    const found = rule?.check(page)[Symbol.iterator]();
    expect(found?.next().value).toMatchObject({ span: { start: 5, end: 10 } });
  });
});
