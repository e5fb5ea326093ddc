import { describe, expect, it } from "vitest";
import type { LintPage } from "../../../../src/checks/lint/rule.ts";
import {
  collidingId,
  duplicateId,
  duplicateTitle,
  missingTitle,
} from "../../../../src/checks/lint/rules/identity.ts";
import { check, lint, openPages } from "./pages.ts";
import { pageOf } from "./page.ts";

const withId = (id: string): string => `---\nid: ${id}\n---\nText.\n`;

describe("ids", () => {
  it("that are equal are reported at each later document", async () => {
    const files = {
      "a.md": withId("x"),
      "b.md": withId("y"),
      "c.md": withId("x"),
      "d.md": withId("x"),
    };
    const message = "the document has the id of a.md; ingest refuses to send both";
    expect(await lint(duplicateId, files)).toEqual([`c.md: ${message}`, `d.md: ${message}`]);
    expect(await lint(collidingId, files)).toEqual([]);
  });

  it("collide where only spaces and underscores differ", async () => {
    const files = {
      "a b.md": "Text.\n",
      "a%20b.md": "Text.\n",
      "a_b.md": "Text.\n",
      "z.md": withId("a b.md"),
    };
    expect(await lint(collidingId, files)).toEqual([
      "a_b.md: the service stores the document under the id of a b.md",
    ]);
  });

  it("keep no id that is stored as it is", () => {
    const factOf = (id: string): string | undefined =>
      collidingId.collect({ document: { id } } as LintPage);
    expect(factOf("docs/leave-days.md")).toBeUndefined();
    expect(factOf("docs/leave_days.md")).toBe("docs/leave_days.md");
    expect(factOf("docs/leave days.md")).toBe("docs/leave days.md");
  });

  it("of rows name the row", async () => {
    const [page] = await openPages({ "a.md": withId("x") });
    const rows = [1, 2].map((part): LintPage => ({ ...page!, path: "people.csv", part }));
    expect(check(duplicateId, rows)).toEqual([
      {
        path: "people.csv",
        part: 2,
        message: "the document has the id of people.csv row 1; ingest refuses to send both",
      },
    ]);
  });
});

describe("titles", () => {
  const enough = "Park on level 2 of the garage. The gate opens with your badge.\n";

  it("that are equal are reported, but not of translations and versions", async () => {
    const title = `# Overview\n\n${enough}`;
    const files = {
      "a.md": title,
      "b/c.md": `---\ntitle: overview\n---\n${enough}`,
      "de/a.md": title,
      "a.fr.md": title,
      "pages.it/a.md": title,
      "one/part.md": "Text.\n",
      "two/part.md": "Text.\n",
      "pt-br/a.md": title,
      "v1.2/a.md": title,
      "2.x/a.md": title,
      "second-edition/a.md": title,
      "2018-edition/a.md": title,
    };
    expect(await lint(duplicateTitle, files)).toEqual([
      'b/c.md: the title "overview" is also that of a.md',
    ]);
  });

  it("are of the language of the folder, whatever the name of the file ends with", async () => {
    const files = {
      "de/tool-cs.md": `# Tool\n\n${enough}`,
      "fr/tool-cs.md": `# Tool\n\n${enough}`,
      "fr/vi.md": `# Tool\n\n${enough}`,
    };
    expect(await lint(duplicateTitle, files)).toEqual([
      'fr/vi.md: the title "Tool" is also that of fr/tool-cs.md',
    ]);
  });

  it("that a stub shares with its new place are no finding, nor is a missing one of an empty page", async () => {
    const stub = "# Tool\n\nThis page has moved to the folder tools.\n";
    const files = { "a.md": stub, "tools/a.md": `# Tool\n\n${enough}`, "b.md": "<br>\n" };
    expect(await lint(duplicateTitle, files)).toEqual([]);
    expect(await lint(missingTitle, files)).toEqual([]);
  });

  it("are one for a page and its notebook, which is the same document in another format", async () => {
    const cells = [{ cell_type: "markdown", metadata: {}, source: `# Tool\n\n${enough}` }];
    const notebook = JSON.stringify({ cells, metadata: {}, nbformat: 4, nbformat_minor: 5 });
    const files = { "a.ipynb": notebook, "a.md": `# Tool\n\n${enough}` };
    expect(await lint(duplicateTitle, files)).toEqual([]);
    expect(await lint(duplicateTitle, { ...files, "b/a.md": files["a.md"] })).toHaveLength(1);
  });

  it("are those of the file for a licence", async () => {
    const files = { "LICENSE.md": "All rights reserved.\n", "licenses.md": "We have two.\n" };
    expect(await lint(missingTitle, files)).toEqual([
      "licenses.md: the page has no title, and the name of the file replaces it",
    ]);
  });

  it.each([
    ["getting-started.md", "Text.\n"],
    ["a.md", "## Only a heading of level 2\n\nText.\n"],
    ["a.md", "---\ntitle: ~\n---\nText.\n"],
  ])("that are missing are reported: %s %j", async (path, text) => {
    expect(await lint(missingTitle, { [path]: text })).toEqual([
      `${path}: the page has no title, and the name of the file replaces it`,
    ]);
  });

  it("are those of the file by the rules of some sites, and of plain text", async () => {
    for (const [generator, path] of [
      ["obsidian", "a.md"],
      ["mkdocs", "a.md"],
      [undefined, "notes.txt"],
    ] as const) {
      const settings = generator === undefined ? {} : { generator };
      const page = await pageOf("Text.\n", { path, settings });
      expect([...missingTitle.check(page)], path).toEqual([]);
    }
  });

  it.each([
    ["_config.yml", "parts/a.md", "---\nlayout: null\n---\n\nText.\n"],
    ["astro.config.mjs", "src/content/docs/a.md", "\n \n---\ntitle: Rooms\n---\n\nText.\n"],
    ["astro.config.mjs", "src/content/docs/a.mdx", "\n---\ntitle: Rooms\n---\n\nText.\n"],
  ])("are those that a site of %s reads: %s %j", async (config, path, text) => {
    expect(await lint(missingTitle, { [config]: "", [path]: text })).toEqual([]);
    expect(await lint(missingTitle, { [path]: text })).toHaveLength(1);
  });

  it("that names of files repeat in a folder are one finding from the fourth on", async () => {
    const files: Record<string, string> = { "b/other.md": `# Lift\n\n${enough}` };
    for (const [at, name] of ["room", "desk", "lift", "stair"].entries()) {
      files[`a/x/${name}.md`] = `# ${name}\n\n${at} ${enough}`;
      files[`a/y/${name}/index.md`] = `# ${name}\n\n${at} ${enough}`;
    }
    expect(await lint(duplicateTitle, files)).toEqual([
      "a/y/desk/index.md: 4 titles in a are those of several documents with the same name; this is the first, also in a/x/desk.md",
    ]);
    delete files["a/x/desk.md"];
    expect(await lint(duplicateTitle, files)).toHaveLength(3);
  });

  it("of posts are told apart by their days", async () => {
    const text = `# Closed\n\n${enough}`;
    const posts = { "blog/2024-01-31-closed.md": text, "_posts/2025-01-31-closed.md": text };
    expect(await lint(duplicateTitle, posts)).toEqual([]);
    expect(await lint(duplicateTitle, { ...posts, "closed.md": text })).toHaveLength(1);
  });

  it("are not missing in a part of code that a page of a site shows", async () => {
    const files = {
      "docusaurus.config.js": "",
      "docs/a.md": "<!-- a -->\n```ts\nconst a = 1;\n```\n",
    };
    expect(await lint(missingTitle, files)).toEqual([]);
    files["docs/a.md"] += "\nText.\n";
    expect(await lint(missingTitle, files)).toHaveLength(1);
  });

  it("that several documents share are one finding", async () => {
    const tool = `# Tool\n\n${enough}`;
    const files = { "a.md": tool, "b.md": tool, "c.md": tool.toLowerCase(), "d.md": "# D\n" };
    expect(await lint(duplicateTitle, files)).toEqual([
      'b.md: the title "Tool" is also that of a.md and 1 more document',
    ]);
  });

  it.each([
    ["install.md", "# install.md\n\nText.\n", "the title is only the name of the file"],
    ["a.md", "# README\n\nText.\n", "the title does not say what the page is about"],
    [
      "a.md",
      "---\ntitle: Untitled document\n---\nText.\n",
      "the title does not say what the page is about",
    ],
  ])("that say nothing are reported: %s %j", async (path, text, message) => {
    expect(await lint(missingTitle, { [path]: text })).toEqual([`${path}: ${message}`]);
  });

  it.each([
    ["getting-started.md", "# Getting started\n\nText.\n"],
    ["getting-started.md", "Getting started\n===\n\nText.\n"],
    ["overview.md", "---\ntitle: Overview\n---\nText.\n"],
    ["overview.md", "---\nsidebar: x\nname: Overview\ntitle: The plan\n---\nText.\n"],
    ["a.html", "<title>A</title><p>Text.</p>"],
  ])("that the page has are fine: %s %j", async (path, text) => {
    expect(await lint(missingTitle, { [path]: text })).toEqual([]);
  });

  it("of rows are looked at in the first one: all have the same columns", async () => {
    const [page] = await openPages({ "people.md": "Text.\n" });
    const rows = [1, 2].map((part): LintPage => {
      const document = page?.document && { ...page.document, title: `People ${part}` };
      return { ...page!, part, document };
    });
    expect(check(missingTitle, rows).map(({ part, message }) => [part, message])).toEqual([
      [1, "people.md row 1 has no title, and the name of the file replaces it"],
    ]);
  });
});
