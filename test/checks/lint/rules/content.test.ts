import { describe, expect, it } from "vitest";
import {
  danglingReference,
  genericHeading,
  hugeSection,
  splitList,
} from "../../../../src/checks/lint/rules/sections.ts";
import { empty, tiny } from "../../../../src/checks/lint/rules/little-text.ts";
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
    for (const source of [
      "a\n",
      "# A",
      "7\n",
      "字\n",
      "`x`\n",
      "[a](b)\n",
      "`http://localhost:8080/`\n",
      "<https://example.com>\n",
      "![alt](a.png)\n",
    ]) {
      expect(await messagesOf(empty, source), source).toEqual([]);
    }
  });

  it("is none that its author left out", async () => {
    const ignored = "<!-- knowctl:ignore -->\nNot for models.\n<!-- /knowctl:ignore -->\n";
    expect(await messagesOf(empty, ignored)).toEqual([]);
    expect(await messagesOf(empty, "---\ndraft: true\n---\n")).toEqual([]);
    expect(await messagesOf(empty, "---\nlayout: home\n---\n")).toEqual([]);
  });

  it("is none of a site that has front matter alone", async () => {
    const settings = { generator: "quarto" } as const;
    const moved = "---\ntitle: Moved\naliases: [a]\n---\n";
    expect(await check(empty, moved, { settings })).toEqual([]);
    expect(await check(empty, `${moved}<!-- later -->\n`, { settings })).toHaveLength(1);
  });
});

describe("a tiny page", () => {
  it("has fewer than 10 words besides its headings", async () => {
    expect(await messagesOf(tiny, "# One two three\n\nfour five six\n")).toEqual([
      "3 words, at least 10 words are expected",
    ]);
    expect(await messagesOf(tiny, "# A long heading of many words\n")).toEqual([
      "no words besides headings and addresses, at least 10 words are expected",
    ]);
    expect(await messagesOf(tiny, "`http://localhost:8080/callback`\n")).toEqual([
      "no words besides headings and addresses, at least 10 words are expected",
    ]);
    expect(await messagesOf(tiny, "[here](https://example.com/a/b/c/d/e/f/g/h)\n")).toEqual([
      "1 word, at least 10 words are expected",
    ]);
    expect(await messagesOf(tiny, "one two three four five six seven eight nine ten\n")).toEqual(
      [],
    );
  });

  it("counts the words of its description, which are sent as well", async () => {
    const text = (key: string): string =>
      `---\n${key}: Returns the arctangent of a number, in radians.\n---\n# A\n\nOne two three.\n`;
    expect(await messagesOf(tiny, text("description"))).toEqual([]);
    expect(await messagesOf(tiny, text("weight"))).toHaveLength(1);
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
    expect(await messagesOf(hugeSection, "字".repeat(4000))).toEqual([]);
    expect(await messagesOf(hugeSection, "字".repeat(4001))).toHaveLength(1);
  });

  it("has neither tags in its size nor attributes in its title", async () => {
    const coloured = `# A\n\n${'<span class="x1">a</span> '.repeat(600)}\n`;
    expect(await messagesOf(hugeSection, coloured)).toEqual([]);
    const long = words.repeat(1200);
    const [message] = await messagesOf(hugeSection, `# The \`a.b\` { data-x=y }\n\n${long}`);
    expect(message).toMatch(/^the section "The a\.b" has/);
    // Its author keeps it from the search of the site.
    expect(await messagesOf(hugeSection, `# A { data-search-exclude }\n\n${long}`)).toEqual([]);
  });

  it("is the one of its number among equal headings of a file", async () => {
    const part = (name: string, text: string): string => `# ${name}\n\n## News\n\n${text}\n\n`;
    const source = `import A from "./a";\n\n${part("One", "Short.")}<A />\n\n- News\n\n${part("Two", words.repeat(1200))}`;
    const path = "a.mdx";
    const [found] = await check(hugeSection, source, { path });
    expect(found?.span?.start).toBe(source.lastIndexOf("## News"));
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
      "As above",
      "See above",
      "In the previous section",
      "The previous example",
      "Similar to above",
      "In addition to the above",
    ]) {
      const places = await placesOf(danglingReference, page(`${start}, trains are slow.`));
      expect(places, start).toEqual([start]);
    }
    const could = "In the previous example, we could take a train.";
    expect(await placesOf(danglingReference, page(could))).toHaveLength(1);
  });

  it("does not if the reference is a link, is not at the start, or means something else", async () => {
    for (const text of [
      "In the previous [section](#hotels), trains are slow.",
      "Trains are slow, as in the previous section.",
      // They say again what the other place says.
      "As mentioned above, trains are slow.",
      "In the previous section, we saw that trains are slow.",
      "In addition to the above trains, there are slow ones.",
      "The above-ground lines are slow.",
      "As shown in the table, trains are slow.",
      "```\nSee above\n```",
      "As above all else we value time, take a train.",
    ]) {
      expect(await placesOf(danglingReference, page(text)), text).toEqual([]);
    }
    expect(await placesOf(danglingReference, "The previous example: trains are slow.\n")).toEqual(
      [],
    );
  });

  it("does not if a part of the reference is a link", async () => {
    const rst = (text: string): string => `T\n=\n\nText.\n\nPlan\n----\n\n${text}, it is.\n`;
    const places = (path: string, source: string) => placesOf(danglingReference, source, { path });
    expect(await places("a.rst", rst("In the previous :ref:`section <start>`"))).toEqual([]);
    expect(await places("a.rst", rst("In the previous section"))).toHaveLength(1);
    const html = (text: string): string => `<h1>T</h1><p>A.</p><h2>Plan</h2><p>${text}, it is.</p>`;
    expect(await places("a.html", html('In the previous <a href="#t">section</a>'))).toEqual([]);
    expect(await places("a.html", html("In the previous\n section"))).toHaveLength(1);
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
      // A program puts the list there.
      `${list}\n\n{{< list-of-costs >}}\n\n### Fare\n\nAll of it.`,
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
    expect(await places("# Background\n\nThe style `background` sets a colour.\n")).toEqual([]);
    expect(await places("# Overview\n\n## Payroll\n\nIt is easy.\n")).toEqual([]);
    // The text names its subject itself.
    expect(await places("# Examples\n\nThe best way to learn Payroll is to run it.\n")).toEqual([]);
    expect(await places("# Examples\n\nRun `payroll` first.\n\nIt is easy.\n")).toEqual([]);
    expect(await places("# Examples\n\nSee [these](x.md) first. There are more.\n")).toHaveLength(
      1,
    );
  });
});
