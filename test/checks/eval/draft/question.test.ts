import { expect, it } from "vitest";
import { draftQuestion } from "../../../../src/checks/eval/draft.ts";

it.each([
  [
    "a heading that is a question",
    "Leave",
    "# Leave\n\n## How do I *request* leave?\n",
    "How do I request leave?",
  ],
  ["a title that is a question", "What is leave?", "text\n\n## Days\n", "What is leave?"],
  [
    "the first heading with a topic",
    "Leave",
    "# Leave\n\n## Overview\n\n## Days off\n",
    "What does Leave say about Days off?",
  ],
  ["a title that names a task", "How to upgrade", "## Steps\n", "How to upgrade?"],
  [
    "a heading without its icons",
    "Badges",
    "# Badges\n\n## Add a :simple-github:{ .big } badge at 10:30:00\n",
    "What does Badges say about Add a badge at 10:30:00?",
  ],
  ["the title without other headings", "Leave", "# Leave\n\ntext\n", "What is in Leave?"],
  ["no heading in code", "Leave", "```\n# Why?\n```\n", "What is in Leave?"],
  ["one line without hidden characters", "Le\u200bave\u0007", "text", "What is in Leave?"],
  ["no heading that is too long", "Leave", `## ${"x ".repeat(150)}?\n`, "What is in Leave?"],
])("takes %s", (_what, title, text, question) => {
  expect(draftQuestion({ title, texts: [text] })).toBe(question);
});
