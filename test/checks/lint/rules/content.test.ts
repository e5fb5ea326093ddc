import { describe, expect, it } from "vitest";
import { danglingReference } from "../../../../src/checks/lint/rules/content/dangling-reference.ts";
import { empty } from "../../../../src/checks/lint/rules/content/empty.ts";
import { genericHeading } from "../../../../src/checks/lint/rules/content/generic-heading.ts";
import { hugeSection } from "../../../../src/checks/lint/rules/content/huge-section.ts";
import { leakedJsx } from "../../../../src/checks/lint/rules/content/leaked-jsx.ts";
import { placeholder } from "../../../../src/checks/lint/rules/content/placeholder.ts";
import { skippedLevel } from "../../../../src/checks/lint/rules/content/skipped-level.ts";
import { splitList } from "../../../../src/checks/lint/rules/content/split-list.ts";
import { tableWithoutHeader } from "../../../../src/checks/lint/rules/content/table-without-header.ts";
import { templateText } from "../../../../src/checks/lint/rules/content/template-text.ts";
import { tiny } from "../../../../src/checks/lint/rules/content/tiny.ts";
import type { PageRule } from "../../../../src/checks/lint/rule.ts";
import { check, placesOf, type PageOptions } from "./page.ts";

async function messagesOf(rule: PageRule, source: string, options?: PageOptions) {
  return (await check(rule, source, options)).map(({ message }) => message);
}

describe("a page without text", () => {
  it("is one without words, whatever markup it has", async () => {
    for (const source of [
      "",
      "\n \n",
      "---\ntitle: A\n---\n",
      "![](a.png)\n",
      "<div>\n</div>\n",
      "[a]: https://example.com\n",
      "<!-- later -->\n",
      "***\n",
    ]) {
      expect(await messagesOf(empty, source), source).toHaveLength(1);
    }
  });

  it("has not a word, a number or a sign of Chinese", async () => {
    for (const source of ["a\n", "# A", "7\n", "字\n", "`x`\n", "[a](b)\n", "![alt](a.png)\n"]) {
      expect(await messagesOf(empty, source), source).toEqual([]);
    }
  });

  it("is none that its author left out", async () => {
    const ignored = "<!-- knowctl:ignore -->\nNot for models.\n<!-- /knowctl:ignore -->\n";
    expect(await messagesOf(empty, ignored)).toEqual([]);
    expect(await messagesOf(empty, "---\ndraft: true\n---\n")).toEqual([]);
  });
});

describe("a tiny page", () => {
  it("has fewer than 10 words besides its headings", async () => {
    expect(await messagesOf(tiny, "# One two three\n\nfour five six\n")).toEqual([
      "3 words, at least 10 words are expected",
    ]);
    expect(await messagesOf(tiny, "# A long heading of many words\n")).toEqual([
      "only headings, at least 10 words are expected",
    ]);
    expect(await messagesOf(tiny, "[here](https://example.com/a/b/c/d/e/f/g/h)\n")).toEqual([
      "1 word, at least 10 words are expected",
    ]);
    expect(await messagesOf(tiny, "one two three four five six seven eight nine ten\n")).toEqual(
      [],
    );
  });

  it("counts code, long words, and scripts without spaces", async () => {
    for (const source of [
      "```\na b c d e f g h i j\n```\n",
      "请在星期一之前把报告提交给你的经理和同事\n",
      "คำสั่งนี้เป็นอีกชื่อหนึ่งของคำสั่งทั้งหมดที่มี\n",
      "Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz und Donaudampfschifffahrtsgesellschaftskapitän\n",
    ]) {
      expect(await messagesOf(tiny, source), source).toEqual([]);
    }
  });
});

describe("a huge section", () => {
  const words = "One two three. ";

  it("is measured from one heading of level 1 to 3 to the next", async () => {
    const section = `${words.repeat(600)}\n\n`;
    const three = `# A\n\n${section}## B\n\n${section}### C\n\n${section}`;
    expect(await messagesOf(hugeSection, three)).toEqual([]);
    const one = `# A\n\n${section}#### B\n\n${section}`;
    expect(await check(hugeSection, one)).toMatchObject([
      {
        at: "# A",
        message: 'the section "A" has about 4,600 tokens, at most 4,000 are expected',
      },
    ]);
  });

  it("counts each Chinese character as a token", async () => {
    expect(await messagesOf(hugeSection, "字".repeat(3900))).toEqual([]);
    expect(await messagesOf(hugeSection, "字".repeat(4100))).toHaveLength(1);
  });

  it("is the whole of a plain text", async () => {
    expect(await messagesOf(hugeSection, words.repeat(2000), { path: "a.txt" })).toEqual([
      "the text has about 7,500 tokens, at most 4,000 are expected",
    ]);
  });
});

describe("a section that cannot stand alone", () => {
  const page = (text: string): string => `# Travel\n\nFirst.\n\n## Trains\n\n${text}\n`;

  it("begins with a reference to another text", async () => {
    for (const start of [
      "As mentioned above",
      "As described earlier",
      "As previously discussed",
      "As we have shown above",
      "See above",
      "In the previous section",
      "The previous example",
      "Similar to above",
      "In addition to the above",
    ]) {
      const places = await placesOf(danglingReference, page(`${start}, trains are slow.`));
      expect(places, start).toEqual([start]);
    }
  });

  it("does not if the reference is a link, is not at the start, or means something else", async () => {
    for (const text of [
      "As described in [Hotels](#hotels) above, trains are slow.",
      "As mentioned above ([Hotels](#hotels)), trains are slow.",
      "Trains are slow, as mentioned above.",
      "The above-ground lines are slow.",
      "As shown in the table, trains are slow.",
      "```\nAs mentioned above\n```",
      "As above all else we value time, take a train.",
    ]) {
      expect(await placesOf(danglingReference, page(text)), text).toEqual([]);
    }
    expect(await placesOf(danglingReference, "As mentioned above, trains are slow.\n")).toEqual([]);
  });

  it("announces what only the sections below it say", async () => {
    const list = "We pay the following:";
    expect(await placesOf(splitList, page(`${list}\n\n### Fare\n\nAll of it.`))).toEqual([list]);
    for (const text of [
      `${list}\n\n- the fare\n\n### More\n\nNothing.`,
      `${list}\n\n#### Fare\n\nAll of it.`,
      list,
      `${list}\n\n## Hotels\n\nA.`,
      "Note:\n\n### Fare\n\nAll of it.",
    ]) {
      expect(await placesOf(splitList, page(text)), text).toEqual([]);
    }
  });

  it("has a title that names no subject, in a page without one", async () => {
    const places = (source: string) => placesOf(genericHeading, source);
    expect(await places("# Introduction\n\nIt is easy.\n\n## Notes\n\nYes.\n")).toEqual([
      "# Introduction",
    ]);
    expect(await places("## 1. Overview:\n\nIt is easy.\n")).toEqual([]);
    expect(
      await placesOf(genericHeading, "## 1. Overview:\n\nEasy.\n", { path: "README.md" }),
    ).toEqual(["## 1. Overview:"]);
    expect(await places("---\ntitle: Payroll\n---\n\n# Overview\n\nIt is easy.\n")).toEqual([]);
    expect(await places("# Overview\n\n## Payroll\n\nIt is easy.\n")).toEqual([]);
  });
});

describe("headings and tables", () => {
  it("skip a level downwards, not upwards, and not with the first heading", async () => {
    expect(await placesOf(skippedLevel, "### A\n\n# B\n\n### C\n\n###### D\n")).toEqual([
      "### C",
      "###### D",
    ]);
    expect(await placesOf(skippedLevel, "# A\n\n## B\n\n### C\n\n# D\n")).toEqual([]);
    expect(await placesOf(skippedLevel, "# A\n\n```\n### not a heading\n```\n")).toEqual([]);
  });

  it("have no column names if all of them are missing", async () => {
    const table = (header: string): string => `# A\n\n${header}\n|---|:--:|\n| b | 1 |\n`;
    expect(await placesOf(tableWithoutHeader, table("| | |"))).toEqual(["| | |"]);
    expect(await placesOf(tableWithoutHeader, table("|   |  |"))).toEqual(["|   |  |"]);
    expect(await placesOf(tableWithoutHeader, table("| | Price |"))).toEqual([]);
    expect(await placesOf(tableWithoutHeader, `\`\`\`\n${table("| | |")}\`\`\`\n`)).toEqual([]);
    // Images side by side are no table of facts.
    const images = "| | |\n|---|---|\n| ![a](a.png) | ![b](b.png) |\n";
    expect(await placesOf(tableWithoutHeader, images)).toEqual([]);
  });
});

describe("text of templates", () => {
  it("is found in prose", async () => {
    for (const expression of [
      "{{ page.title }}",
      "{{version}}",
      "{{- $x := 1 -}}",
      "<%= name %>",
      "${project.version}",
    ]) {
      const source = `# A\n\nThe version is ${expression} today.\n`;
      expect(await placesOf(templateText, source), expression).toEqual([expression]);
    }
    expect(await placesOf(templateText, "# A\n\n[[_TOC_]]\n\nText.\n")).toEqual(["[[_TOC_]]"]);
    expect(await placesOf(templateText, "# A\n\n[TOC]\n\nText.\n")).toEqual(["[TOC]"]);
    const link = "# A\n\nSee [the docs](/docs/{{version}}/start).\n";
    expect(await placesOf(templateText, link)).toEqual(["{{version}}"]);
  });

  it("is no example, no quotation, and no name that the reader replaces", async () => {
    for (const text of [
      "`{{ page.title }}`",
      "``{{ page.title }}``",
      "a `code span\nover two lines {{ x }}` here",
      "```\n{{ page.title }}\n```",
      "    {{ page.title }}",
      "<code>{{ page.title }}</code>",
      "<pre>\n{{ page.title }}\n</pre>",
      'Write "{{ page.title }}" there.',
      "Between {{ and }} there is a name.",
      "Use {{ }} for it.",
      "Open https://${yourDomain}/login.",
      "See [the table](#toc).",
    ]) {
      expect(await placesOf(templateText, `# A\n\n${text}\n`), text).toEqual([]);
    }
  });

  it("is reported once in a page that is a template", async () => {
    const [found, ...others] = await check(templateText, `# A\n\n${"{{ a.b }}\n".repeat(30)}`);
    expect(found?.message).toBe("30 places: the page is a template");
    expect(others).toEqual([]);
  });
});

describe("placeholders", () => {
  it("are a paragraph or an item of a list", async () => {
    for (const text of [
      "TODO",
      "- TBD",
      "**TBD**",
      "TODO: write this",
      "Coming soon …",
      "To be done.",
    ]) {
      const found = await check(placeholder, `# A\n\nText.\n\n${text}\n`);
      expect(
        found.map(({ at }) => at),
        text,
      ).toEqual([text]);
    }
    expect(await placesOf(placeholder, "Well: Lorem ipsum dolor sit amet.\n")).toEqual([
      "Lorem ipsum dolor",
    ]);
  });

  it("are no words in a sentence", async () => {
    for (const text of [
      "Coming soon after lunch, the bus stops here.",
      "The TODO list is on the wall.",
      "To be done with it, call us.",
      "TODOs are on the wall.",
      "`TODO`",
      "Work in progress is billed monthly.",
    ]) {
      expect(await placesOf(placeholder, `# A\n\n${text}\n`), text).toEqual([]);
    }
  });
});

describe("leaked JSX", () => {
  it("is code of components in Markdown", async () => {
    for (const code of [
      '<Card title="A">',
      "<Card />",
      "</Card>",
      "<Tabs.Item value={1}>",
      "{/*",
      "export const a = 1",
    ]) {
      const found = await check(leakedJsx, `# A\n\n${code}\n\nText.\n`);
      expect(
        found.map(({ at }) => at),
        code,
      ).toHaveLength(1);
      expect(code.startsWith(found[0]?.at ?? "-"), code).toBe(true);
    }
  });

  it("is no placeholder, no HTML, no type and no code", async () => {
    for (const text of [
      "<Name>",
      '<A HREF="a">',
      "<BR/>",
      "List<String>",
      "`<Card />`",
      "{{/* a */}}",
    ]) {
      expect(await placesOf(leakedJsx, `# A\n\n${text}\n`), text).toEqual([]);
    }
    expect(await placesOf(leakedJsx, "<Card />\n", { path: "a.txt" })).toEqual([]);
    expect(await placesOf(leakedJsx, "<p>&lt;Card /&gt;</p>\n", { path: "a.html" })).toEqual([]);
    const mdx = 'import Card from "./card";\n\n<Card title="A" />\n\nText.\n';
    expect(await placesOf(leakedJsx, mdx, { path: "a.mdx" })).toEqual([]);
  });
});
