import type { LintPage } from "../../../../src/checks/lint/rule.ts";
import { describe, expect, it } from "vitest";
import {
  empty,
  textElsewhere,
  tiny,
  isPicture,
} from "../../../../src/checks/lint/rules/little-text.ts";
import { undefinedAttribute } from "../../../../src/checks/lint/rules/undefined-attribute.ts";
import {
  genericHeading,
  hugeSection,
  skippedLevel,
  splitList,
} from "../../../../src/checks/lint/rules/sections.ts";
import { tableWithoutHeader } from "../../../../src/checks/lint/rules/tables.ts";
import { duplicateTitle, missingTitle } from "../../../../src/checks/lint/rules/identity.ts";
import { byCause } from "../../../../src/checks/lint/folder.ts";
import { findingWith } from "../finding.ts";
import { check } from "./page.ts";
import { check as runRule, lint, openPages } from "./pages.ts";

const moved =
  "# Lending for groups of schools\n\nThis page has moved to [How groups of schools borrow books and games](lending.md), " +
  "where you find all of it.\n";
const lending =
  "# Lending for groups of schools\n\nA group borrows thirty books for six weeks, with one card for all.\n";

describe("a file for programs", () => {
  it.each([
    ["x1.html", "google-site-verification: x1.html\n"],
    ["a.md", "@other.md\n"],
    ["robots.txt", "User-agent: *\nDisallow: /a\n"],
    ["public/robots.txt", "\n"],
    ["key.adoc", "-----BEGIN PGP PUBLIC KEY BLOCK-----\n"],
  ])("has no finding of little text: %s", async (path, text) => {
    for (const rule of [tiny, empty, missingTitle])
      expect(await lint(rule, { [path]: text }), rule.name).toEqual([]);
  });
});

describe("a page without text", () => {
  it("is none if it only defines what other pages include", async () => {
    const lines = ":orphan:\n\n.. Links for all pages.\n\n.. _rooms: https://rooms.example.com\n";
    expect(await lint(empty, { "links.rst": lines })).toEqual([]);
    const shown = `${lines}\n.. raw:: latex\n\n   x\n`;
    expect(await lint(empty, { "links.rst": shown })).toHaveLength(1);
    expect(await lint(empty, { "links.rst": "\n" })).toHaveLength(1);
    const attributes = "// For all books.\n:name: Lamp\n:!toc:\n";
    expect(await lint(empty, { "parts/a.adoc": attributes })).toEqual([]);
    expect(await lint(empty, { "parts/a.adoc": `${attributes}[.x]\n` })).toHaveLength(1);
    expect(await lint(empty, { "modules/x/pages/a.adoc": attributes })).toHaveLength(1);
  });

  it("has one cause with others that include files of a component which is not here", async () => {
    const files = {
      "antora.yml": "name: a\n",
      "modules/house/pages/a.adoc": "include::other:house:partial$a.adoc[]\n",
      "modules/house/pages/b.adoc": "// b\ninclude::1@other::partial$b.adoc[tag=x]\n",
      "modules/house/pages/c.adoc": "// c\n",
    };
    const found = runRule(empty, await openPages(files));
    expect(found.map(({ cause }) => cause?.key)).toEqual(["includes", "includes", undefined]);
  });
});

it.each([
  ["images/logo.pdf", true],
  ["book/Figures/logo/a.PDF", true],
  ["images/plan.md", false],
  ["docs/imaging/plan.pdf", false],
  ["logo.pdf", false],
])("a PDF among pictures is one: %s", (path, expected) => {
  expect(isPicture({ path } as LintPage)).toBe(expected);
});

describe("the outline of a page", () => {
  it("has no finding for a text that another file has, and pages include", async () => {
    const files = {
      "_quarto.yml": "",
      "_x.qmd": "#### C\n\nText.\n\n## D\n\nObey the following rules:\n\n### One\n\nText.\n",
      "a.qmd": "# A\n\n## B\n\n{{< include _x.qmd >}}\n",
      "b.qmd": "# A\n\n## B\n\n#### C\n\nObey the following rules:\n\n### One\n\nText.\n",
    };
    expect(await lint(skippedLevel, files)).toEqual([expect.stringMatching(/^b\.qmd:5:/)]);
    expect(await lint(splitList, files)).toEqual([expect.stringMatching(/^b\.qmd:7:/)]);
  });
});

describe("pages whose text is elsewhere", () => {
  it.each([
    [
      "a.rst",
      "Ledger\n======\n\n.. automodule:: ledger\n    :members:\n",
      ".. automodule:: ledger",
    ],
    ["a.rst", "Build\n=====\n\n.. jinja:: data_build\n", ".. jinja:: data_build"],
    ["a.md", "# Ledger\n\n```{autoclass} ledger.Account\n```\n", "```{autoclass} ledger.Account"],
    ["a.md", "# Ledger\n\n::: ledger.accounts\n", "::: ledger.accounts"],
    ["a.md", "# Ledger\n\n::: ledger\n", "::: ledger"],
    ["a.md", "# Ledger\n\n::: my-click\n    :depth: 1\n", "::: my-click :depth:"],
    ["a.md", "# Form\n\n<iframe src='https://forms.example.com/1'></iframe>\n", "<iframe"],
    ["a.mdx", "# Rooms\n\n<RoomTable />\n", "<RoomTable />"],
    ["a.qmd", "# References\n\n::: {#refs}\n:::\n", "::: {#refs}"],
    ["a.qmd", "# Rooms\n\n```{r}\nrooms()\n```\n", "```{r}"],
    [
      "a.html",
      "<title>App</title><div id=app></div><script src=a.js></script>\n",
      "<script src=a.js",
    ],
    ["a.md", "---\nopenapi: GET /rooms\n---\n\n# Rooms\n\nList rooms.\n", "openapi: GET /rooms"],
  ])("are those of a program: %s %j", async (path, text, mark) => {
    const [found, ...others] = await lint(textElsewhere, { [path]: text });
    expect(others).toEqual([]);
    expect(found).toContain(`a program writes the text when the site is built: ${mark}`);
    expect(await check(tiny, text, { path })).toEqual([]);
  });

  it("are one finding for programs and one for pages that have moved", async () => {
    const files = {
      "a.rst": "A\n=\n\n.. automodule:: a\n",
      "b.rst": "B\n=\n\n.. automodule:: b\n",
      "c.md": moved,
      "d.md": "# D\n\nMoved to the intranet.\n",
      "lending.md": lending,
    };
    expect(await lint(textElsewhere, files)).toEqual([
      "a.rst:4:1: programs write the text of 2 pages when the site is built; this is the first: .. automodule:: a",
      "c.md: 2 pages only say where their text is now; this is the first",
    ]);
    expect(await lint(tiny, files)).toEqual([]);
    expect(await lint(duplicateTitle, files)).toEqual([]);
  });

  it("are empty pages of a site with a component, which are no findings of their own", async () => {
    const page =
      "---\ntitle: Rooms\n---\n\n<script setup>\nimport R from './R.vue'\n</script>\n\n<R />\n";
    const files = { ".vitepress/config.ts": "", "a.md": page, "b/[id].md": page };
    expect(await lint(textElsewhere, files)).toEqual([
      expect.stringContaining("programs write the text of 2 pages"),
    ]);
    expect(await lint(empty, files)).toEqual([]);
    expect(await lint(empty, { "a.mdx": page.replaceAll(/<.*script.*\n/g, "") })).toHaveLength(1);
  });

  it("are pages of a frame alone, and those that lead a browser elsewhere", async () => {
    const page = (text: string): string => `---\ntitle: Survey\n---\n\n${text}\n`;
    const frame = page("<iframe src='https://forms.example.com/1'></iframe>");
    const files = {
      "mkdocs.yml": "",
      "a.md": frame,
      "b.md": frame,
      "c.md": page(
        '<meta http-equiv="refresh" content="0; url=/d/">\n<link rel="canonical" href="/d/">',
      ),
      "d.md": page("![](plan.png)"),
    };
    expect(await lint(textElsewhere, files)).toEqual([
      expect.stringContaining("programs write the text of 2 pages"),
      "c.md: the page only says where its text is now",
    ]);
    expect(await lint(empty, files)).toEqual([
      "d.md: no words: the page consists of markup and images",
    ]);
  });

  it("are pages of nothing but what a text is about, where no template fills them", async () => {
    const page = "---\ntitle: Rooms\nms.date: 2026-01-02\ntags: [a]\n---\n";
    const paths = async (files: Record<string, string>) =>
      (await lint(empty, files)).map((each) => each.replace(/:.*/, ""));
    const files = { "docs/a.md": page, "docs/b.md": page.replace("tags", "redirect_to") };
    expect(await paths({ ...files, "mkdocs.yml": "" })).toEqual(["docs/a.md"]);
    expect(await paths({ ...files, "docfx.json": "{}" })).toEqual(["docs/a.md"]);
    expect(await paths({ ...files, "hugo.toml": "" })).toEqual([]);
  });

  it("are no HTML pages of a site with front matter alone: a template has their text", async () => {
    const page = "---\nslug: a\n---\n\n<!-- for translators -->\n";
    expect(await lint(empty, { "hugo.toml": "", "content/a.html": page })).toEqual([]);
  });

  it("are not those with a sentence before links", async () => {
    const text =
      "# News\n\nThe garage is open again for all employees.\n[Plan](https://x.example/)\n\n[a]: b\n";
    expect(await check(tiny, text)).toEqual([]);
    expect(await check(tiny, text.replace("again for all employees.", ""))).toHaveLength(1);
  });

  it("are not those with references to other pages", async () => {
    const text = '# Places\n\nChoose a [room][] or a garage.\n\n[room]: {{< relref "rooms" >}}\n';
    const files = { "hugo.toml": "", "content/a.md": text, "content/rooms.md": lending };
    expect(await lint(textElsewhere, files)).toEqual([]);
  });

  it("are no pages with a text of their own, and none that lead to others", async () => {
    const own = `# Ledger\n\n${"An account has a number of six digits and an owner. ".repeat(5)}`;
    const list = "# Ledger\n\n```{toctree}\na\n```\n\n.. automodule:: a\n";
    const files = {
      "a.md": `${own}\n\n::: ledger.accounts\n`,
      "b.md": `${own} Last year the desk was moved to level 2.\n`,
      "c.md": list,
      "d.md": "# Parking\n\nSee the intranet.\n",
      "mkdocs.yml": "site_name: A\n",
      "guide/index.md": "# Guide\n\nAll about rooms.\n",
    };
    expect(await lint(textElsewhere, files)).toEqual([]);
    expect(await lint(tiny, files)).toEqual(["d.md: 3 words, at least 10 words are expected"]);
  });

  it("are no index without a site: nothing else leads to its pages", async () => {
    expect(await lint(tiny, { "guide/index.md": "# Guide\n\nAll about rooms.\n" })).toHaveLength(1);
  });
});

it("a whole sentence is an answer, unless it leads elsewhere or is short", async () => {
  const messages = async (text: string): Promise<string[]> =>
    (await check(tiny, `# Lending\n\n${text}\n`)).map(({ message }) => message);
  for (const text of ["Use `get` from the toolbox instead.", "Ask for a card at the desk!"]) {
    expect(await messages(text), text).toEqual([]);
  }
  for (const text of [
    "See the page about cards and desks.",
    "Please refer to the page about cards.",
    "Ask at the desk.",
    "Cards, desks, rooms, games, books and plans",
  ]) {
    expect(await messages(text), text).toHaveLength(1);
  }
});

describe("a huge section", () => {
  const long = "Keep the receipt of every journey, and send it within a month. ".repeat(300);

  it("of what was is read by nobody", async () => {
    for (const heading of ["Full changelog", "Change log", "New contributors", "Translations"]) {
      expect(await check(hugeSection, `# A\n\n## ${heading}\n\n${long}\n`), heading).toEqual([]);
    }
    for (const path of ["docs/release-notes.md", "CHANGELOG.md", "HISTORY.rst"]) {
      expect(await check(hugeSection, `## 1.2\n\n${long}\n`, { path }), path).toEqual([]);
    }
  });

  it("of anything else is found", async () => {
    for (const heading of ["Write a changelog", "Translations of rooms", "Changes"]) {
      expect(await check(hugeSection, `# A\n\n## ${heading}\n\n${long}\n`)).toHaveLength(1);
    }
    const path = "docs/news-desk.md";
    expect(await check(hugeSection, `# A\n\n${long}\n`, { path })).toHaveLength(1);
  });
});

it("what only other sections say is found by its last sentence", async () => {
  const text =
    "Intro\n=====\n\nSee `the plan <plan.rst>`_ first. It has these parts:\n\nRooms\n-----\n\nText.\n";
  const found = await check(splitList, text.replace("Rooms\n-----", "Rooms\n~~~~~"), {
    path: "a.rst",
  });
  expect(found.map(({ at }) => at)).toEqual(["It has these parts:"]);
});

it("slides without a title are shown in a frame of another page", async () => {
  const slide = (format: string): string =>
    `---\nformat: ${format}\n---\n\n## Rooms\n\nBook them.\n`;
  const page = "## Rooms\n\nBook them.\n";
  const files = {
    "_quarto.yml": "format: html\n",
    "a.qmd": slide("revealjs"),
    "b.qmd": slide("{ revealjs: { width: 300 } }"),
    "c.qmd": page,
    "d.qmd": slide("{ revealjs: x, html: y }"),
    "e/_metadata.yml": "format:\n  revealjs:\n    menu: false\n",
    "e/a.qmd": page,
    "e/b.qmd": slide("html"),
    "f.qmd": `---\ntitle: Rooms\n${slide("revealjs").slice(4)}`,
  };
  const pathsOf = (found: readonly string[]): string[] =>
    found.map((line) => line.replace(/:.*/, ""));
  expect(pathsOf(await lint(missingTitle, files))).toEqual(["c.qmd", "d.qmd", "e/b.qmd"]);
  expect(pathsOf(await lint(tiny, files))).toEqual(["c.qmd", "d.qmd", "e/b.qmd", "f.qmd"]);
});

it("a page for what is not found has not moved", async () => {
  const text = "# Not found\n\nThe page may have been moved to another folder.\n";
  expect(await lint(textElsewhere, { "404.md": text })).toEqual([]);
  expect(await lint(textElsewhere, { "405.md": text })).toHaveLength(1);
});

it("the heading of a page that leads to others needs no subject", async () => {
  const text = "# About\n\nAbout the house.\n";
  const files = { "mkdocs.yml": "site_name: A\n", "a.md": text, "about/index.md": text };
  expect(await lint(genericHeading, files)).toEqual([
    'a.md:1:1: "About" does not say what the section is about',
  ]);
  const toctree = "Introduction\n============\n\n.. toctree::\n\n   a\n";
  expect(await check(genericHeading, toctree, { path: "a.rst" })).toEqual([]);
});

describe("attributes of AsciiDoc that nothing defines", () => {
  it("are one finding for each name, but no parts of addresses and no syntax of programs", async () => {
    const files = {
      "a.adoc":
        "= A\n\nVersion {release-number} of /users/{id}/ has `{code}`, @{upstream}, HEAD^{tree} and \\{shown}.\n",
      "b.adoc": "= B\n\n{release-number} and {place}\n",
      "c.adoc": "= C\n:place: Bern\n\nIn {place}.\n",
      "e.adoc": "= E\n\nThe variable \\{URL} of:\n\n----\n{URL}\n----\n",
      "d.md": "# D\n\n{release-number}\n",
    };
    expect(await lint(undefinedAttribute, files)).toEqual([
      "a.adoc:3:9: {release-number} is sent as it stands",
      "b.adoc:3:1: {release-number} is sent as it stands",
      "b.adoc:3:22: {place} is sent as it stands",
    ]);
    const found = runRule(undefinedAttribute, await openPages(files)).map((each) =>
      findingWith({ ...each, rule: "undefined-attribute" }),
    );
    expect(byCause(found).map(({ message }) => message)).toEqual([
      "{release-number} is sent as it stands; 2 pages name it",
      "{place} is sent as it stands",
    ]);
  });

  it("are one finding where a program of the site may define them", async () => {
    const page = (text: string): string => `= A\n\nThe text ${text} is sent.\n`;
    const names = "modules/ROOT/pages";
    const pages = {
      [`${names}/a.adoc`]: page("{one-a}"),
      [`${names}/b.adoc`]: page("{two-b} {one-a}"),
    };
    const messages = async (more: string): Promise<string[]> => {
      const files = { "antora.yml": `name: a\nversion: '1'\n${more}`, ...pages };
      const found = runRule(undefinedAttribute, await openPages(files)).map((each) =>
        findingWith({ ...each, rule: "undefined-attribute" }),
      );
      return byCause(found).map(({ message }) => message);
    };
    expect(await messages("ext:\n  collector:\n    run: { command: x }\n")).toEqual([
      "{one-a} is sent as it stands; 3 places name attributes that ext.collector of antora.yml may define",
    ]);
    expect(await messages("ext: {}\n")).toEqual([
      "{one-a} is sent as it stands; 2 pages name it",
      "{two-b} is sent as it stands",
    ]);
  });
});

describe("tables of labels", () => {
  const row = (...cells: string[]): string => `| ${cells.join(" | ")} |\n`;
  const table = (...rows: string[][]): string =>
    `# A\n\n|  |  |  |\n|---|---|---|\n${rows.map((cells) => row(...cells)).join("")}`;

  it("need no column names", async () => {
    for (const text of [
      table(["**Rooms**", "12"], ["**Floor:**", "3"]),
      table(["Rooms:", "12"], ["Floor:", "3"]),
      table(["Type", "string"], ["Seats", "12"], ["Description", "Who sits there."]),
      table(["**Rooms**", "12", ""], ["**Seats**", "`a`", "of leather"], ["", "`b`", "of wood"]),
      table(["**Rooms**", "12", "12"], ["**Seats**", "`a`", "of leather"]),
      table(["`--quiet`", "Says nothing."], ["[Rooms](a.md)", "Lists the rooms."]),
      table(["Lift", "Yes"], ["Bicycles", "No (not indoors)"], ["Keys", "`desk`"]),
      table(["**Room**", "**Seats**", "**Floor**"], ["Aare", "12", "3"], ["Rhine", "6", "1"]),
      table([`[Lift](https://${"x".repeat(50)}.example)`, "Yes"], ["Yard", "No"], ["Keys", "Desk"]),
      table(["Lift", "Yes"], ["Yard", "No"], ["Keys", "Desk"]).replaceAll(/^(?=\|)/gm, "> "),
    ]) {
      expect(await check(tableWithoutHeader, text), text).toEqual([]);
    }
    const numbers = table(["Lift", "Yes"], ["Bicycles", "No"], ["Keys", "12"]);
    expect(await check(tableWithoutHeader, numbers)).toHaveLength(1);
    const mixed = table(["**Room**", "Seats", "Floor"], ["Aare", "12", "3"]);
    expect(await check(tableWithoutHeader, mixed)).toHaveLength(1);
    const same = table(["Lift", "Yes"], ["Lift", "No"], ["Keys", "Desk"]);
    expect(await check(tableWithoutHeader, same)).toHaveLength(1);
  });

  it("are those of which the page has several with the same first column", async () => {
    const one = table(["Domain", "`Thing`"], ["Range", "`Text`"]);
    expect(await check(tableWithoutHeader, one)).toHaveLength(1);
    const more = one.slice(4).replaceAll("Thing", "Place");
    expect(await check(tableWithoutHeader, `${one}\nText.\n${more}`)).toEqual([]);
    const other = more.replace("Range", "Seats");
    expect(await check(tableWithoutHeader, `${one}\nText.\n${other}`)).toHaveLength(2);
  });

  it("are no lists of words in several columns", async () => {
    const words = table(["AND", "`IF`", "IS"], ["META", "NOT", "NULL"], ["OR", "TRUE", ""]);
    expect(await check(tableWithoutHeader, words)).toEqual([]);
    for (const [from, to] of [
      ["TRUE", "NOT"],
      ["TRUE", "12"],
      ["TRUE", "so it is"],
    ] as const) {
      expect(await check(tableWithoutHeader, words.replace(from, to))).toHaveLength(1);
    }
  });

  it("are named by their directive", async () => {
    const list = (options: string): string =>
      `A\n=\n\n.. list-table::\n${options}\n   * - Type of room\n     - quiet\n   * - Size\n     - 12\n`;
    const options = { path: "a.rst" };
    expect(await check(tableWithoutHeader, list("   :stub-columns: 1\n"), options)).toEqual([]);
    expect(await check(tableWithoutHeader, list("   :header-rows: 0\n"), options)).toEqual([]);
    expect(await check(tableWithoutHeader, list(""), options)).toHaveLength(1);
    const adoc = (cols: string): string => `= A\n\n[cols="${cols}"]\n|===\n|Room|Seats|12\n|===\n`;
    expect(await check(tableWithoutHeader, adoc("^10h,>90a,1"), { path: "a.adoc" })).toEqual([]);
    expect(await check(tableWithoutHeader, adoc("h,1,1"), { path: "a.adoc" })).toEqual([]);
    const second = adoc("h,1,1") + adoc("1,1,1").slice(5);
    expect(await check(tableWithoutHeader, second, { path: "a.adoc" })).toHaveLength(1);
    const two = list("   :stub-columns: 1\n") + list("").slice(4);
    expect(
      await check(
        tableWithoutHeader,
        two.replace(/Type of room(?![^]*Type of room)/, "Kind of room"),
        options,
      ),
    ).toHaveLength(1);
  });

  it("are no tables of numbers, whatever their first column is", async () => {
    for (const text of [
      table(["**Aare**", "12", "3"], ["**Rhine**", "6", "1"]),
      table(["Aare", "12"], ["Rhine", "6"]),
      table(["**Aare**", "12"], ["Rhine", "6"]),
      table(["Name", "Description"], ["Aare", "Quiet."], ["Title", "Large."]),
      table(["Type", "12", "3"], ["Description", "6", "1"]),
      table(["`a`", "12"], ["`b`", "6"]),
      table(["`a`", "Says nothing."], ["b", "Says more."]),
      table(["`a`", "Says nothing.", "12"], ["`b`", "Says more.", "3"]),
    ]) {
      expect(await check(tableWithoutHeader, text), text).toHaveLength(1);
    }
  });
});
