import { createFolder } from "../../documents/folder.ts";
import { expectLinear } from "../../cost.ts";
import { isOfLibrary } from "../../../src/checks/lint/page/library.ts";
import { randomFrom, textFor } from "./secrets/made-up-secrets.ts";
import { describe, expect, it } from "vitest";
import {
  createExamine,
  type LintSetup,
  type PageReport,
} from "../../../src/checks/lint/examine.ts";
import type { FolderRule, PageRule } from "../../../src/checks/lint/rule.ts";
import { compileSettings } from "../../../src/documents/map/settings.ts";
import type { ExaminedPage } from "../../../src/documents/inspect/inspection.ts";
import { allRules, inspectFile, reportOf } from "./inspected.ts";

const text = { severity: "warning", summary: "", advice: "", bad: "", good: "" } as const;

/** Finds each `bad`, and replaces it. */
const words: PageRule = {
  ...text,
  kind: "page",
  name: "words",
  group: "content",
  *check({ source = "" }) {
    for (const { 0: found, index } of source.matchAll(/bad\d*/g)) {
      const span = { start: index, end: index + found.length };
      yield { span, message: "a bad word", fix: "good" };
    }
  },
};

const whole: PageRule = {
  ...text,
  kind: "page",
  name: "whole",
  group: "content",
  *check() {
    yield { message: "the page" };
  },
};

const secret: PageRule = {
  ...words,
  name: "secret-word",
  group: "secrets",
  severity: "error",
};

const lengths: FolderRule<number> = {
  ...text,
  kind: "folder",
  name: "lengths",
  group: "identity",
  collect: ({ source }) => source?.length,
  compare: () => [],
};

function pageOf(source: string | undefined, more: Partial<ExaminedPage> = {}): ExaminedPage {
  const document = {
    id: "a",
    semantic_identifier: "a",
    title: "a",
    sections: [{ text: source ?? "" }],
    source: "file",
    metadata: {},
  };
  return {
    path: "docs/a.md",
    part: 0,
    line: undefined,
    source,
    parsed: undefined,
    document,
    skipped: undefined,
    facts: undefined,
    ...more,
  };
}

const rules = [words, whole, secret, lengths];

function examine(page: ExaminedPage, setup: Partial<LintSetup> = {}, allowSecrets?: true) {
  const settings = compileSettings({ root: "/", allowSecrets });
  return createExamine({ ...allRules, ...setup }, settings, rules)?.(page);
}

const report = (page: ExaminedPage, setup: Partial<LintSetup>): PageReport =>
  JSON.parse(examine(page, setup)?.report as string) as PageReport;

const only = (page: ExaminedPage, ...names: string[]): PageReport => report(page, { only: names });

describe("a copy of a library", () => {
  const foundIn = (path: string, ...beside: string[]): string[] => {
    const files = [path, ...beside].map((each) => [each, "x"]);
    const settings = compileSettings({ root: createFolder(Object.fromEntries(files)) });
    const page = pageOf("bad", { path });
    const examined = createExamine(allRules, settings, rules)?.(page) as { report: string };
    const { findings, facts } = JSON.parse(examined.report) as PageReport;
    return [...findings.map(({ rule }) => rule), ...Object.keys(facts)];
  };

  it.each([
    ["a/node_modules/b/c/README.md"],
    ["b/bower_components/c.md"],
    ["a/docson/x/README.md", "a/docson/bower.json", "a/docson/docson.js"],
    ["go/vendor/x.org/y/README.md", "go/vendor/x.org/LICENSE"],
    ["a/third_party/y/README.md", "a/third_party/y/package.json"],
    [
      "wwwroot/css/icons/README.md",
      "wwwroot/css/icons/ICON-LICENSE",
      "wwwroot/css/icons/f/g/i.min.css",
    ],
    ["static/x/docs/a.md", "static/x/license.txt", "static/x/x.min.js"],
  ])("has findings about secrets alone: %s", (path, ...beside) => {
    expect(foundIn(path, ...beside)).toEqual(["secret-word"]);
  });

  it.each([
    ["README.md", "LICENSE", "dist/x.min.js"],
    ["vendor/README.md", "vendor/LICENSE"],
    ["vendor/acme/README.md", "vendor/acme/contract.md"],
    ["static/README.md", "static/LICENSE", "static/x.min.js"],
    ["static/x/README.md", "static/x/x.min.js"],
    ["static/x/README.md", "static/x/LICENSE"],
    ["x/bower/README.md", "x/bower/bower.json"],
    ["packages/x/README.md", "packages/x/LICENSE", "packages/x/x.min.js"],
    ["public/site/a.md", "public/site/mkdocs.yml", "public/site/LICENSE", "public/site/x.min.js"],
    ["a.md", "node_modules/x.md"],
  ])("is no page of the project: %s", (path, ...beside) => {
    expect(foundIn(path, ...beside)).toEqual(["words", "whole", "secret-word", "lengths"]);
  });

  it("is looked for once in each folder, however deep", () => {
    const root = createFolder({ "a.md": "x" });
    expectLinear(400, (size) => {
      const settings = compileSettings({ root });
      const path = `${"static/".repeat(size / 20)}a.md`;
      for (let at = 0; at < 50; at++) isOfLibrary(path, settings);
    });
  });
});

describe("lint of a page", () => {
  it("places findings by line and column, and keeps the fix", () => {
    expect(only(pageOf("a\r\nä bad\n"), "words").findings).toEqual([
      {
        rule: "words",
        severity: "warning",
        path: "docs/a.md",
        line: 2,
        column: 3,
        endLine: 2,
        endColumn: 6,
        message: "a bad word",
        fingerprint: expect.any(String),
        fixable: true,
        span: { start: 5, end: 8 },
        fix: "good",
      },
    ]);
  });

  it("places a finding about the whole page at its start", () => {
    expect(only(pageOf("a"), "whole").findings).toMatchObject([{ line: 1, column: 1 }]);
  });

  it("has no line for binary formats, and that of the row for rows", () => {
    expect(only(pageOf(undefined), "whole").findings).toMatchObject([
      { line: null, column: null, endLine: null, endColumn: null },
    ]);
    expect(only(pageOf(undefined, { part: 2, line: 7 }), "whole").findings).toMatchObject([
      { line: 7, column: 1 },
    ]);
  });

  it("notes the facts of folder rules", () => {
    expect(only(pageOf("four"), "lengths")).toMatchObject({
      findings: [],
      facts: { lengths: 4 },
    });
  });

  it("counts the findings of a rule beyond a thousand in one finding", () => {
    const { findings } = only(pageOf("bad ".repeat(1005)), "words");
    expect(findings.length).toBe(1001);
    expect(findings.at(-1)?.message).toBe("5 more findings of this rule in this page");
  });

  it("gives each rule the severity of the configuration, by path", () => {
    const config = {
      rules: { words: "note" },
      overrides: [{ paths: ["old/**"], rules: { words: "off" } }],
    } as const;
    const severities = (path: string) =>
      report(pageOf("bad", { path }), { only: ["words"], config }).findings.map(
        ({ severity }) => severity,
      );
    expect(severities("docs/a.md")).toEqual(["note"]);
    expect(severities("old/a.md")).toEqual([]);
  });

  it("lets a later override win, also over a rule that is off", () => {
    const overrides = [
      { paths: ["docs/**"], rules: { words: "error" } },
      { paths: ["docs/old/**"], rules: { words: "note" } },
    ] as const;
    const config = { rules: { words: "off" }, overrides } as const;
    const severities = ["a.md", "docs/a.md", "docs/old/a.md"].map(
      (path) => report(pageOf("bad", { path }), { only: ["words"], config }).findings[0]?.severity,
    );
    expect(severities).toEqual([undefined, "error", "note"]);
  });

  it("has fingerprints on the line of a secret that confirm no guess of it", () => {
    const printsOf = (source: string) =>
      only(pageOf(source), "words", "secret-word").findings.map(({ fingerprint }) => fingerprint);
    expect(printsOf("key: bad123")).toEqual(printsOf("key: bad456"));
    expect(printsOf("key: bad123")).not.toEqual(printsOf("the key: bad123"));
  });

  it("has these fingerprints also where the rules about secrets do not run", () => {
    const random = randomFrom(3);
    const printOf = () => {
      const source = `bad ghp_${textFor("[A-Za-z0-9]{36}", random)}`;
      return only(pageOf(source), "words").findings[0]?.fingerprint;
    };
    const [one, other] = [printOf(), printOf()];
    expect(one).toBeDefined();
    expect(one).toBe(other);
  });

  it("honours comments that switch a rule off, but not for secrets", () => {
    const source = "<!-- knowctl-disable-next-line words, secret-word -- a quote -->\nbad\nbad\n";
    const { findings } = only(pageOf(source), "words", "secret-word");
    expect(findings.map(({ rule, line }) => `${rule} ${line}`)).toEqual([
      "words 3",
      "secret-word 2",
      "secret-word 3",
    ]);
  });

  it("covers the whole page with a comment at its top", () => {
    const comment = "<!-- knowctl-disable-next-line whole -->\n";
    expect(only(pageOf(`---\na: b\n---\n${comment}Text\n`), "whole").findings).toEqual([]);
    expect(only(pageOf(`Text\n${comment}`), "whole").findings.length).toBe(1);
  });

  it("finds no secrets where the configuration allows them", () => {
    const allowed = examine(pageOf("bad"), { only: ["secret-word"] }, true)?.report as string;
    expect(JSON.parse(allowed)).toMatchObject({ findings: [] });
  });
});

describe("the check of an upload", () => {
  it("refuses a document with an error, names place and rule, and reports nothing else", () => {
    expect(examine(pageOf("a\nbad"), { refuses: "all" })).toEqual({
      refused:
        "docs/a.md:2:1: a bad word (secret-word); remove it, or send it with --allow-secrets",
    });
  });

  it("refuses by other rules that the configuration makes errors, except with --no-lint", () => {
    const config = { rules: { whole: "error", "secret-word": "off" } } as const;
    expect(examine(pageOf("a"), { refuses: "all", config })?.refused).toBe(
      "docs/a.md: the page (whole); change the document, or send it with --no-lint",
    );
    expect(examine(pageOf("a"), { refuses: "secrets", config })).toBeUndefined();
  });

  it("refuses by an override in the paths of the override only", () => {
    const overrides = [{ paths: ["docs/**"], rules: { whole: "error" } }] as const;
    const refused = (path: string) =>
      examine(pageOf("a", { path }), { refuses: "all", config: { overrides } })?.refused;
    expect(refused("docs/a.md")).toContain("(whole)");
    expect(refused("a.md")).toBeUndefined();
  });

  it("sends secrets where they are allowed", () => {
    expect(examine(pageOf("bad"), { refuses: "all" }, true)).toBeUndefined();
  });

  it("does nothing for a page that is not sent", () => {
    const page = pageOf("bad", { document: undefined, skipped: "draft" });
    expect(examine(page, { refuses: "all" })).toBeUndefined();
  });
});

describe("the inspector", () => {
  it("reports the findings of a skipped file", async () => {
    const { findings } = await reportOf("a.md", "---\ntitle: T\n---\n");
    expect(findings.map(({ rule }) => rule)).toContain("empty");
  });

  it("makes no body and no fingerprint when nothing is sent", async () => {
    const prepared = await inspectFile("a.md", "Text.\n");
    expect(prepared).toMatchObject({ kind: "document", fingerprint: { whole: "" } });
  });
});
