import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { Suite } from "../../../src/checks/eval/suite/suite.ts";
import { loadSuite, parseSuite } from "../../../src/commands/eval/load-suite.ts";
import { CliError } from "../../../src/errors.ts";
import { invalidCases, validSuites } from "./suites.ts";
import { load } from "js-yaml";
import { fromJSONSchema } from "zod";
import { suiteJsonSchema } from "../../../src/checks/eval/suite/suite-schema.ts";
import { dialects } from "../../../src/api/dialects.ts";
import { createOutput } from "../../../src/output/terminal/output.ts";
import { openFolder, readSuiteFolder } from "../../../src/commands/eval/project.ts";
import { createTestContext } from "../../support.ts";
import { blocksOf } from "../../docs/pages.ts";

describe("load suite", () => {
  const folder = mkdtempSync(join(tmpdir(), "knowctl-test-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function problems(run: () => unknown): string[] {
    try {
      run();
      return [];
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      expect(error.exit).toBe("usage");
      return [error.message, ...error.details];
    }
  }

  const caseOf = (text: string) => parseSuite(text, "s.yaml").cases[0];

  function load(name: string, content: string | Uint8Array): Promise<Suite> {
    writeFileSync(join(folder, name), content);
    return loadSuite(join(folder, name), name);
  }

  describe("a suite", () => {
    it("has defaults, variables and places filled in", () => {
      const { cases } = parseSuite(validSuites["the suite of the docs"] ?? "", "s.yaml");
      expect(cases[0]).toMatchObject({
        id: "leave-days",
        question: "How many days of leave does Handbook give?",
        agent: 3,
        k: 5,
        match: "all",
        mustRetrieve: [
          { document: { path: "docs/people/holidays.md" }, relevance: 1 },
          { document: { link: "https://docs.example.com/leave" }, relevance: 2 },
        ],
        expect: [
          { word: "contains", isNot: false, value: "28 days", place: { line: 11, column: 9 } },
          { word: "cites", value: [{ path: "docs/people/holidays.md" }] },
          { word: "min-sources", value: 1 },
        ],
        needsReview: false,
        place: { file: "s.yaml", line: 5, column: 5 },
      });
      expect(cases[1]).toMatchObject({ profile: "intern", agent: 3, expect: [] });
    });

    it("lets a case replace each default, and single filters", () => {
      const found = caseOf(validSuites["every member"] ?? "");
      expect(found).toMatchObject({ agent: 0, k: 1, match: "all", repeat: 5, threshold: 1 });
      expect(found?.filters).toEqual({
        sourceTypes: ["file"],
        documentSets: ["People"],
        tags: ["team=people"],
        since: "2026-01-31T08:00:00Z",
      });
      expect(found?.profile).toBe("intern");
      expect(found?.expect.map(({ word, isNot }) => `${isNot ? "!" : ""}${word}`)).toContain(
        "!cites",
      );
    });

    it("writes a path in one form", () => {
      const found = caseOf(
        "version: 1\ncases: [{ id: a, question: q, must_retrieve: [./docs//a.md] }]",
      );
      expect(found?.mustRetrieve[0]?.document).toEqual({ path: "docs/a.md" });
    });

    it("fills a variable in once: its value is not searched again", () => {
      const text =
        "version: 1\nvariables: { a: '{{b}}', b: x }\ncases: [{ id: a, question: 'q {{ a }}' }]";
      expect(caseOf(text)?.question).toBe("q {{b}}");
    });

    it("is the same from JSON, and with a BOM and CRLF", async () => {
      const json = { version: 1, cases: [{ id: "a", question: "q", expect: ["answered"] }] };
      const yaml =
        "\uFEFFversion: 1\r\ncases:\r\n  - id: a\r\n    question: q\r\n    expect: [answered]\r\n";
      const one = await load("a.json", JSON.stringify(json));
      const other = await load("a.yaml", yaml);
      expect(other.digest).toBe(one.digest);
      expect(other.cases[0]?.question).toBe("q");
    });
  });

  describe("the digest", () => {
    const base =
      "version: 1\ncases:\n  - { id: a, question: q, k: 5 }\n  - { id: b, question: r }\n";
    const digest = (text: string): string => parseSuite(text, "s.yaml").digest;
    it.each([
      ["another layout", `# comment\n${base}`],
      ["another order", base.replace(/( {2}- .*\n)( {2}- .*\n)/, "$2$1")],
      ["a group", base.replace("k: 5", "group: g")],
      ["a case without review", `${base}  - { id: c, question: s, review: true }\n`],
    ])("is the same with %s", (_what, text) => {
      expect(text).not.toBe(base);
      expect(digest(text)).toBe(digest(base));
    });

    it.each([
      ["another question", base.replace("question: q", "question: z")],
      ["another k", base.replace("k: 5", "k: 6")],
      ["another case", `${base}  - { id: c, question: s }\n`],
    ])("differs with %s", (_what, text) => {
      expect(digest(text)).not.toBe(digest(base));
    });
  });

  describe("problems", () => {
    it("come all at once, in the order of the file, also of cases with the right form", () => {
      const text = `version: 1
variables: { product: x }
cases:
  - { id: a, question: "{{prodct}} {{ x | y }}", expect: [{ regex: "(" }] }
  - { id: A, question: "  ", expect: [{ judge: { rubric: r, threshold: 1 } }] }
  - { id: c, question: q, k: 0 }
`;
      expect(problems(() => parseSuite(text, "s.yaml"))).toEqual([
        's.yaml:4:24: the variable prodct is not defined; did you mean "product"?',
        "s.yaml:4:24: {{ x | y }}: only the name of a variable can stand between {{ and }}",
        "s.yaml:4:59: regex: the regular expression does not compile: unterminated group",
        "s.yaml:5:5: the question is empty",
        "s.yaml:5:11: the id A is not unique: the case in line 4 has the id a",
        "s.yaml:5:39: judge: `judge` of the suite is missing: it names the server",
        "s.yaml:6:30: cases[2].k: expected at least 1",
      ]);
    });

    it("are shown up to a number", () => {
      const many = Array.from({ length: 80 }, (_, i) => `  - { id: a${i}, question: q, k: 0 }`);
      const found = problems(() => parseSuite(`version: 1\ncases:\n${many.join("\n")}`, "s.yaml"));
      expect(found).toHaveLength(51);
      expect(found.at(-1)).toBe("and 30 more");
    });

    it.each([
      ["a tab", "a:\n\tb: 1\n", /^s\.yaml:2:1: tabs are not allowed/],
      ["a key twice", "version: 1\nversion: 1\n", /^s\.yaml:2:1: the key "version" is duplicated/],
      ["two documents", "version: 1\n---\nversion: 1\n", /single document/],
      ["a tag", "version: !!js/function 'f'\n", /unresolved tag/],
      ["deep nesting", "[".repeat(10_000), /nested deeper than 100 levels/],
      ["a key of a prototype", "__proto__: 1\n", /"__proto__" is not allowed/],
      ["an empty file", "", /version is missing/],
      [
        "aliases that expand",
        `a0: &a0 [${"x,".repeat(20)}]\n${[1, 2, 3, 4, 5]
          .map((n) => `a${n}: &a${n} [${`*a${n - 1},`.repeat(20)}]`)
          .join("\n")}`,
        /too many values after expanding aliases/,
      ],
      [
        "an alias of what holds it",
        "version: 1\ncases: &all\n  - *all\n",
        /^s\.yaml:\d+:\d+: an alias stands within the value that it repeats/,
      ],
    ])("name %s", (_what, text, message) => {
      expect(problems(() => parseSuite(text, "s.yaml"))[0]).toMatch(message);
    });

    it("name a key twice in JSON", () => {
      const found = problems(() => parseSuite('{"version": 1,\n "version": 1}', "s.json"));
      expect(found[0]).toMatch(/^s\.json:2:2: the key "version" is duplicated/);
    });
  });

  describe("a file that cannot be read", () => {
    it.each([
      ["is missing", join(folder, "none.yaml"), /cannot read the suite none\.yaml: no such file/],
      ["is a folder", folder, /: it is a folder/],
    ])("%s", async (_what, path, message) => {
      await expect(loadSuite(path, path.split(/[/\\]/).at(-1) ?? "")).rejects.toThrow(message);
    });

    it("is too large, or no text", async () => {
      await expect(load("big.yaml", "#".repeat(4 * 1024 * 1024 + 1))).rejects.toThrow(/4 MiB/);
      await expect(load("bad.yaml", Uint8Array.of(0xff, 0xfe, 0x41))).rejects.toThrow(/not UTF-8/);
    });
  });
});

describe("suite schema", () => {
  // The schema of the editors and the loader agree on the same samples.
  const schema = fromJSONSchema(suiteJsonSchema() as never);

  function problemsOf(text: string): string {
    try {
      parseSuite(text, "s.yaml");
      return "";
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      return [error.message, ...error.details].join("\n");
    }
  }

  const withPart = (part: string): string =>
    `version: 1\nvariables: { product: x }\ncases:\n  - id: a\n    question: q\n    ${part}\n`;

  it.each(Object.entries(validSuites))("both accept %s", (_name, text) => {
    expect(problemsOf(text)).toBe("");
    const { error } = schema.safeParse(load(text));
    expect(error?.issues).toBeUndefined();
  });

  describe("both refuse", () => {
    it.each(invalidCases)("%s", (part, message) => {
      const text = withPart(part);
      expect(problemsOf(text)).toMatch(message);
      expect(schema.safeParse(load(text)).success).toBe(false);
    });

    it.each([
      ["version: 2\ncases: []\n", /version: expected 1/],
      ["cases: []\n", /version is missing/],
      ["version: 1\n", /cases is missing/],
      [
        "version: 1\ncases: []\ncase: []\n",
        /s\.yaml:3:1: unknown member case; did you mean "cases"/,
      ],
      ["version: 1\ncases: []\ndefaults: { kk: 1 }\n", /unknown member defaults\.kk/],
      ["version: 1\ncases: []\nvariables: { a b: c }\n", /a name has letters/],
      ["version: 1\ncases: []\nvariables: { a: [b] }\n", /expected text or a whole number/],
      ["version: 1\ncases: []\njudge: { model: m, base_url: localhost }\n", /expected an address/],
      ["version: 1\ncases: []\njudge: { model: m, base_url: 'http://u:p@h/' }\n", /without user/],
      ["version: 1\ncases: [{ id: a b, question: q }]\n", /expected up to 100 letters/],
      ["version: 1\ncases: [{ id: ../a, question: q }]\n", /expected up to 100 letters/],
      ["version: 1\ncases: [{ id: 12, question: q }]\n", /expected text.*put it in quotes/],
      ["version: 1\ncases: [{ id: a }]\n", /cases\[0\]\.question is missing/],
      ["[]\n", /the suite: expected an object/],
    ])("%j", (text, message) => {
      expect(problemsOf(text)).toMatch(message);
      expect(schema.safeParse(load(text)).success).toBe(false);
    });
  });

  it("has a description of each member, for editors", () => {
    const visit = (node: unknown, at: string): string[] => {
      if (typeof node !== "object" || node === null) return [];
      const { properties = {} } = node as { properties?: Record<string, object> };
      const bare = Object.entries(properties)
        .filter(([, each]) => !("description" in each))
        .map(([name]) => `${at}.${name}`);
      return [
        ...bare,
        ...Object.entries(node).flatMap(([key, each]) => visit(each, `${at}.${key}`)),
      ];
    };
    expect(visit(suiteJsonSchema(), "")).toEqual([]);
  });
});

describe("suite folder", () => {
  const root = mkdtempSync(join(tmpdir(), "knowctl-test-"));
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  const files: Readonly<Record<string, string>> = {
    ".cliconfig.json": JSON.stringify({ ingest: { idPrefix: "hb/", exclude: ["docs/old/**"] } }),
    ".gitignore": "docs/ignored.md\n",
    "docs/a b.md": "# A\n\ntext\n",
    "docs/own.md": "---\nid: own-id\n---\n# Own\n\ntext\n",
    "docs/draft.md": "---\ndraft: true\n---\n# D\n\ntext\n",
    "docs/empty.md": "",
    "docs/old/plan.md": "# Plan\n\ntext\n",
    "docs/ignored.md": "# I\n\ntext\n",
    "docs/faq.csv": "id,title,text\nq1,One,first\nq2,Two,second\n",
  };

  async function folderOf(paths: readonly string[]) {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    // A project of its own is no reason to refuse a suite that names nothing of it.
    mkdirSync(join(root, "other/docs"), { recursive: true });
    writeFileSync(join(root, "other/.cliconfig.json"), "{}");
    writeFileSync(join(root, "other/docs/a.md"), "# A\n\nText.\n");
    const context = createTestContext({ cwd: root });
    const folder = await openFolder(context, createOutput(context, {}), [], { root });
    try {
      return await readSuiteFolder(folder, paths, (id) => [dialects.onyx.storedId!(id)]);
    } finally {
      await folder.close();
    }
  }

  describe("the folder of a suite", () => {
    it("knows the stored ids of files, and of each row", async () => {
      const folder = await folderOf(["docs/a b.md", "docs/own.md", "docs/faq.csv"]);
      expect(folder.idsOfPath("docs/a b.md")).toEqual(["hb%2Fdocs%2Fa_b.md"]);
      expect(folder.idsOfPath("docs/own.md")).toEqual(["own-id"]);
      expect(folder.idsOfPath("docs/faq.csv")).toEqual(["q1", "q2"]);
      expect(folder.leftOut("docs/faq.csv")).toBeUndefined();
    });

    it.each([
      ["docs/draft.md", /draft/],
      ["docs/empty.md", /empty/],
      ["docs/old/plan.md", /`exclude` of the configuration/],
      ["docs/ignored.md", /hidden, ignored/],
      ["docs", /it is a folder/],
      ["other/docs/a.md", /other is a project root of its own/],
    ])("says why %s is left out", async (path, reason) => {
      const folder = await folderOf([path]);
      expect(folder.leftOut(path)).toMatch(reason);
      expect(folder.idsOfPath(path)).toEqual([]);
    });

    it("has no reason for what does not exist, and looks at nothing outside", async () => {
      const folder = await folderOf(["docs/none.md", "../secret", "/etc/passwd"]);
      for (const path of ["docs/none.md", "../secret", "/etc/passwd"]) {
        expect(folder.leftOut(path)).toBeUndefined();
      }
      expect(folder.paths).toContain("docs/a b.md");
      expect(folder.paths).not.toContain("docs/ignored.md");
    });
  });
});

describe("docs", () => {
  const page = "docs/eval-suites.md";

  it("shows only suites that load", () => {
    const suites = blocksOf(page).filter(({ language }) => language === "yaml");
    expect(suites.length).toBeGreaterThan(2);
    for (const { body, where } of suites) {
      expect(parseSuite(body, where).cases.length, where).toBeGreaterThan(0);
    }
  });
});
