import * as fc from "../../property.ts";
import { describe, expect, it } from "vitest";
import { parseDate } from "../../../src/documents/front-matter/values.ts";
import { defaultId, mappingKey } from "../../../src/documents/map/effective.ts";
import { compileSettings, type ShapingOption } from "../../../src/documents/map/settings.ts";
import { normalise } from "../../../src/documents/files/source-file.ts";
import { failure, read, readOk, type Options } from "../folder.ts";

const map = (text: string, options?: Options, path?: string): Record<string, unknown> => ({
  ...readOk(text, options, path).document,
});
const yaml = (...lines: string[]): string => `---\n${lines.join("\n")}\n---\nbody\n`;

it("the smallest document has every required member", () => {
  expect(map("body\n", {}, "docs/getting-started_guide.md")).toEqual({
    id: "docs/getting-started_guide.md",
    semantic_identifier: "Getting started guide",
    title: "Getting started guide",
    sections: [{ text: "body\n" }],
    source: "file",
    metadata: {},
  });
});

describe("id", () => {
  it.each([
    ["x", { idPrefix: "handbook/" }, "handbook/docs/a.md"],
    [yaml("id: own"), { idPrefix: "handbook/" }, "own"],
    ["+++\nid = 42\n+++\nx", {}, "42"],
    [yaml("id:"), {}, "docs/a.md"],
    // NFD as a Mac may write it: one id with its NFC twin.
    [yaml("id: cafe\u0301"), {}, "caf\u00e9"],
  ])("of %j with %j", (text, options, id) => {
    expect(map(text, options, "docs/a.md")["id"]).toBe(id);
  });
  it("that is a list is an error with the line", () => {
    expect(failure(() => map(yaml("a: 1", "id: [x]")))).toBe(
      "page.md:3:1: front matter id: expected text",
    );
  });
  it("is the same for NFC and NFD, and different paths give different ids", () => {
    const settings = compileSettings({ root: "/" });
    const id = (path: string): string => defaultId(normalise(path), settings);
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), (a, b) => {
        expect(id(a.normalize("NFD"))).toBe(id(a.normalize("NFC")));
        expect(id(a) === id(b)).toBe(a.normalize("NFC") === b.normalize("NFC"));
      }),
    );
  });
});

describe("title", () => {
  it.each([
    [yaml("title:  From   front matter "), "From front matter"],
    [yaml("title: 1.10"), "1.10"],
    [yaml("pagetitle: Of the window"), "Of the window"],
    ["text\n\n## Two\n\n# One *and* `more`\n# Second\n", "One and more"],
    ["Under\nlined\n===\n", "Under lined"],
    ["```\n# code\n```\n", "Page"],
    [yaml("title: ~"), "Page"],
    ["<!-- knowctl:ignore -->\n# Hidden\n<!-- /knowctl:ignore -->\n# Shown", "Shown"],
  ])("of %j", (text, title) => {
    expect(map(text)).toMatchObject({ title, semantic_identifier: title });
  });
});

describe("source", () => {
  const rules = [
    { match: "docs/**", source: "rule" },
    { match: "*.txt", source: "other" },
  ];
  it.each([
    ["x", {}, "file"],
    ["x", { source: "config" }, "config"],
    ["x", { source: "config", rules }, "rule"],
    [yaml("source: own"), { source: "config", rules }, "own"],
    [yaml("source: own"), { source: "config", rules, flags: { source: "flag" } }, "flag"],
  ])("of %j with %j", (text, options, source) => {
    const document = map(text, options, "docs/a.md");
    expect(document).toMatchObject({ source, metadata: {} });
  });
});

describe("link", () => {
  const linkOf = (text: string, options: Options): unknown => {
    const { document, notices } = readOk(text, options, "docs/a b/Grüße.v2.md");
    return document.sections[0]?.link ?? notices?.[0]?.name;
  };
  it.each([
    [{}, undefined],
    [{ link: "https://x/{path}" }, "https://x/docs/a%20b/Gr%C3%BC%C3%9Fe.v2.md"],
    [{ link: "https://x/{slug}/" }, "https://x/docs/a%20b/Gr%C3%BC%C3%9Fe.v2/"],
    [{ link: "https://x/{dir}/{name}.html" }, "https://x/docs/a%20b/Gr%C3%BC%C3%9Fe.v2.html"],
    [{ link: "https://x/{id}?t={team}" }, "https://x/docs/a%20b/Gr%C3%BC%C3%9Fe.v2.md?t=a%26b"],
    [{ link: "{slug}", linkBase: "https://x/p/" }, "https://x/p/docs/a%20b/Gr%C3%BC%C3%9Fe.v2"],
    [{ link: "https://x/{none}" }, expect.stringContaining("no value for {none}")],
    [{ link: "https://x/{constructor}" }, expect.stringContaining("no value for {constructor}")],
    [{ link: "/x" }, expect.stringContaining("linkBase is not set")],
  ])("by the template of %j", (options, expected) => {
    expect(linkOf(yaml("team: a&b"), options)).toEqual(expected);
  });
  it.each([
    ["link: https://y/z?a=1#b", "https://y/z?a=1#b"],
    ["url: /z", "https://base/p/z"],
    ["permalink: z", "https://base/p/z"],
    ["link: //evil.example/z", "https://base/p/evil.example/z"],
    ["link: javascript:alert(1)", expect.stringContaining("unsafe")],
    ['link: " java\\tscript:alert(1)"', expect.stringContaining("unsafe")],
  ])("of front matter %j", (line, expected) => {
    expect(linkOf(yaml(line), { link: "https://x/{path}", linkBase: "https://base/p" })).toEqual(
      expected,
    );
  });
  it("of a file in the root leaves no empty step", () => {
    const { document } = readOk("x", { link: "https://x/{dir}/{name}" });
    expect(document.sections[0]?.link).toBe("https://x/page");
  });
  it("keeps the keys that were not used", () => {
    expect(map(yaml("link: https://y/", "url: https://z/"))["metadata"]).toEqual({
      url: "https://z/",
    });
  });
});

describe("metadata", () => {
  it("has text as written, lists, nested keys with dots, no null", () => {
    const lines = [
      "v: 1.10",
      "d: 2024-01-02",
      "n: NO",
      "list: [1, two, ~]",
      "none:",
      "a:",
      "  b:",
      "    c: deep",
      "  l: [x]",
      "objects:",
      "  - k: 1",
    ];
    expect(map(yaml(...lines))["metadata"]).toEqual({
      v: "1.10",
      d: "2024-01-02",
      n: "NO",
      list: ["1", "two"],
      "a.b.c": "deep",
      "a.l": ["x"],
      objects: ['{"k":"1"}'],
    });
  });
  it("has the JSON text of JSON and TOML values", () => {
    const json =
      '{\n"n": 1.5, "v": 1.10, "big": 12345678901234567891, "far": 1e400, "b": true, "s": "\\"1.10", "z": null, "l": [1, false, "x"], "o": {"p": {"q": -2}}\n}\nbody';
    expect(map(json)["metadata"]).toEqual({
      n: "1.5",
      v: "1.10",
      big: "12345678901234567891",
      far: "1e400",
      b: "true",
      s: '"1.10',
      l: ["1", "false", "x"],
      "o.p.q": "-2",
    });
    expect(map('{\n"id": 9007199254740993\n}\nbody')["id"]).toBe("9007199254740993");
    const toml =
      "+++\nn = 1.5\nbig = 12345678901234567890\nday = 2024-05-01\nat = 2024-05-01T10:00:00+02:00\n[o]\nb = false\n+++\nbody";
    expect(map(toml)["metadata"]).toEqual({
      n: "1.5",
      big: "12345678901234567890",
      day: "2024-05-01",
      at: expect.stringContaining("2024-05-01T10:00:00") as string,
      "o.b": "false",
    });
  });
  it("is merged per key, later wins, and tags are united", () => {
    const options: Options = {
      metadata: { team: "config", a: "config", tags: ["one"] },
      tags: ["two"],
      rules: [
        { match: "**", metadata: { team: "rule 1", b: "rule 1", keywords: "three" } },
        { match: "page.md", metadata: { team: "rule 2" }, tags: ["one"] },
        { match: "other.md", metadata: { team: "no" } },
      ],
      flags: { metadata: { d: "flag", c: "flag" }, tags: ["six"] },
    };
    const text = yaml(
      "team: front",
      "c: front",
      "tags: [four, one]",
      "categories: five, four",
      "keywords: ~",
    );
    expect(map(text, options)["metadata"]).toEqual({
      team: "front",
      a: "config",
      b: "rule 1",
      c: "flag",
      d: "flag",
      tags: ["one", "two", "three", "four", "five", "six"],
    });
  });
  it("takes the keys of the configuration", () => {
    const options: Options = { frontMatter: { title: ["name"], tags: ["labels"] } };
    expect(
      map(yaml("name: N", "title: T", "labels: [a]", "tags: b", "keywords: k"), options),
    ).toMatchObject({
      title: "N",
      metadata: { title: "T", tags: ["a", "b"], keywords: "k" },
    });
  });
  it("cannot reach a prototype", () => {
    const text =
      '---json\n{"a": {"__proto__": {"x": 1}, "b": 1}, "tags": {"__proto__": 1}}\n---\nbody';
    const { metadata } = readOk(text).document;
    expect(Object.keys(metadata)).toEqual(["a.b", "tags"]);
    expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
  });
});

describe("doc_updated_at", () => {
  it.each([
    ["2024-05-01", "2024-05-01T00:00:00Z"],
    ["2024/01/31", "2024-01-31T00:00:00Z"],
    ["2024/05/01 09:30", "2024-05-01T09:30:00Z"],
    ["2024/05-01", undefined],
    ["05/01/2024", undefined],
    ["2024-05-01 09:30", "2024-05-01T09:30:00Z"],
    ["2024-05-01T09:30:15", "2024-05-01T09:30:15Z"],
    ["2024-05-01 09:30:15 +0200", "2024-05-01T07:30:15Z"],
    ["2024-05-01T09:30:15.25-05:30", "2024-05-01T15:00:15.250Z"],
    ["2024-02-29t23:59:59z", "2024-02-29T23:59:59Z"],
    ["9999-12-31T23:59:59-14:00", undefined],
    ["2023-02-29", undefined],
    ["2024-13-01", undefined],
    ["2024-05-01T24:00", undefined],
    ["2024-05-01T10:00:60Z", undefined],
    ["2024-05-01T10:00+15:00", undefined],
    ["2024-05-01T10:00+02:75", undefined],
    ["01.05.2024", undefined],
    ["May 1, 2024", "2024-05-01T00:00:00Z"],
    ["March 22nd, 2023", "2023-03-22T00:00:00Z"],
    ["3 Sept. 2024", "2024-09-03T00:00:00Z"],
    ["February 30, 2024", undefined],
    ["Marchly 3, 2024", undefined],
    ["May 2024", undefined],
    ["1714521600", undefined],
    ["2024", undefined],
  ])("%s", (text, expected) => {
    expect(parseDate(text)).toBe(expected);
  });
  it("is the first of updated, lastmod, last_updated, date", () => {
    const text = yaml("date: 2020-01-01", "lastmod: 2024-05-01", "last_updated: 2023-01-01");
    expect(map(text)).toMatchObject({
      doc_updated_at: "2024-05-01T00:00:00Z",
      metadata: { date: "2020-01-01", last_updated: "2023-01-01" },
    });
    expect(map("+++\ndate = 2024-05-01T10:00:00+02:00\n+++\nx")["doc_updated_at"]).toBe(
      "2024-05-01T08:00:00Z",
    );
  });
  it("that does not parse is an error with the line", () => {
    expect(() => map(yaml("date: 05/01/2024"))).toThrow("not a date: 05/01/2024");
    expect(failure(() => map(yaml("title: x", "date: yesterday")))).toBe(
      "page.md:3:1: front matter date: not a date: yesterday",
    );
  });
  it("is the time of the file only when asked for", () => {
    const both = "date:\n  created: 2024-01-01\n  updated: 2024-05-01\n";
    expect(map(`---\n${both}---\nx`)["doc_updated_at"]).toBe("2024-05-01T00:00:00Z");
    const one = "date:\n  created: 2024-01-01\n";
    expect(map(`---\n${one}---\nx`)["doc_updated_at"]).toBe("2024-01-01T00:00:00Z");
    expect(() => map("---\ndate: [a]\n---\nx")).toThrow("page.md:2:1: front matter date");
    expect(map("x")).not.toHaveProperty("doc_updated_at");
    expect(map("x", { updatedAt: "mtime" })["doc_updated_at"]).toMatch(/^\d{4}-.*Z$/);
  });
});

describe("owners", () => {
  it.each([
    ["owner: Ann Lee <ann@x.com>", [{ display_name: "Ann Lee", email: "ann@x.com" }], undefined],
    [
      "owners: [Ann, bob@x.com, <c@x.com>]",
      [{ display_name: "Ann" }, { email: "bob@x.com" }, { email: "c@x.com" }],
      undefined,
    ],
    [
      "author: {first_name: A, last_name: B, email: a@x, extra: 1}",
      [{ first_name: "A", last_name: "B", email: "a@x" }],
      undefined,
    ],
    ["authors:\n  - name: N", [{ display_name: "N" }], undefined],
    [
      "owner: A\nauthors: [B, C]",
      [{ display_name: "A" }],
      [{ display_name: "B" }, { display_name: "C" }],
    ],
    ["owner:", undefined, undefined],
  ])("of %j", (line, primary, secondary) => {
    const document = map(yaml(line));
    expect(document["primary_owners"]).toEqual(primary);
    expect(document["secondary_owners"]).toEqual(secondary);
    expect(document["metadata"]).toEqual({});
  });
  it("without a name are an error", () => {
    expect(failure(() => map(yaml("owner: {title: x}")))).toContain(
      "page.md:2:1: front matter owner",
    );
  });
});

describe("the names of the interface", () => {
  const own = [
    "semantic_identifier: Shown",
    "title: Found",
    "doc_updated_at: 2024-05-01",
    "doc_created_at: 2023-05-01",
    "primary_owners: [{display_name: Ann, email: ann@x.com}]",
    "secondary_owners: [Bob]",
    "metadata: {team: x, tags: [a], deep: {er: 1}}",
  ];
  it("are the fields themselves in front matter", () => {
    expect(map(yaml(...own, "tags: b"), { storesCreation: true })).toEqual({
      id: "page.md",
      semantic_identifier: "Shown",
      title: "Found",
      sections: [{ text: "body\n" }],
      source: "file",
      metadata: { team: "x", "deep.er": "1", tags: ["b", "a"] },
      doc_updated_at: "2024-05-01T00:00:00Z",
      doc_created_at: "2023-05-01T00:00:00Z",
      primary_owners: [{ display_name: "Ann", email: "ann@x.com" }],
      secondary_owners: [{ display_name: "Bob" }],
    });
  });
  it.each([
    ["semantic_identifier: Shown", "Shown", "Shown"],
    ["title: Found", "Found", "Found"],
  ])("%s alone names both", (line, shown, title) => {
    expect(map(yaml(line))).toMatchObject({ semantic_identifier: shown, title });
  });
  it.each([
    ["secondary_owners: [Bob]", undefined, ["Bob"], {}],
    ["secondary_owners: [Bob]\nauthor: Al", ["Al"], ["Bob"], {}],
    ["owner: Ann\nsecondary_owners: [Bob]\nauthor: Al", ["Ann"], ["Bob"], { author: "Al" }],
    ["primary_owners: Ann\nauthor: Al", ["Ann"], ["Al"], {}],
  ])("%j: only authors become primary owners", (lines, primary, secondary, metadata) => {
    const named = (names: string[] | undefined) => names?.map((name) => ({ display_name: name }));
    const document = map(yaml(lines));
    expect(document["primary_owners"]).toEqual(named(primary));
    expect(document["secondary_owners"]).toEqual(named(secondary));
    expect(document["metadata"]).toEqual(metadata);
  });
  it.each(["doc_created_at", "created", "created_at"])("%s is the creation", (key) => {
    const text = yaml(`${key}: 2023-05-01`);
    expect(map(text, { storesCreation: true })).toMatchObject({
      doc_created_at: "2023-05-01T00:00:00Z",
      metadata: {},
    });
    // A service without this member would drop it.
    expect(map(text)).not.toHaveProperty("doc_created_at");
    expect(map(text)["metadata"]).toEqual({ [key]: "2023-05-01" });
  });
  it("a creation that is no date is an error with the line", () => {
    expect(failure(() => map(yaml("created: once"), { storesCreation: true }))).toBe(
      "page.md:2:1: front matter created: not a date: once",
    );
  });
  it("null sets no field", () => {
    const text = yaml("semantic_identifier: ~", "doc_created_at: null", "metadata:", "title: T");
    const document = map(text, { storesCreation: true });
    expect(document).toMatchObject({ semantic_identifier: "T", title: "T", metadata: {} });
    expect(document).not.toHaveProperty("doc_created_at");
  });
  it("a text called metadata is a value like any other", () => {
    expect(map(yaml("metadata: x"))["metadata"]).toEqual({ metadata: "x" });
  });
  it("keys of the configuration replace them", () => {
    const frontMatter = {
      semanticIdentifier: ["label"],
      createdAt: ["born"],
      secondaryOwners: ["reader"],
      authors: ["writer"],
    };
    const text = yaml(
      "label: Shown",
      "born: 2023-05-01",
      "reader: Bob",
      "writer: Al",
      "created: x",
    );
    expect(map(text, { frontMatter, storesCreation: true })).toMatchObject({
      semantic_identifier: "Shown",
      doc_created_at: "2023-05-01T00:00:00Z",
      primary_owners: [{ display_name: "Al" }],
      secondary_owners: [{ display_name: "Bob" }],
      metadata: { created: "x" },
    });
  });
});

describe("rules", () => {
  it("name the pair, the sections and the link", () => {
    const rules = [
      {
        match: "docs/hr/**",
        ccPairId: 244,
        sections: "headings" as const,
        link: "https://hr/{name}",
      },
    ];
    const text = "# A\nx\n# B\ny\n";
    const inside = readOk(text, { rules, link: "https://x/{name}" }, "docs/hr/p.md");
    expect(inside).toMatchObject({
      ccPairId: 244,
      document: { sections: [{ link: "https://hr/p#a" }, {}] },
    });
    const outside = readOk(text, { rules, link: "https://x/{name}" }, "docs/p.md");
    expect(outside).not.toHaveProperty("ccPairId");
    expect(outside.document.sections).toEqual([{ text, link: "https://x/p" }]);
    const flagged = readOk(text, { rules, flags: { sections: "whole" } }, "docs/hr/p.md");
    expect(flagged.document.sections).toHaveLength(1);
  });
});

describe("mappingKey", () => {
  const root = "/";
  const key = (options: Options, path = "docs/a.md"): string =>
    mappingKey(path, compileSettings({ root, ...options }));
  const base = key({});
  it("is stable, and the same on another machine", () => {
    expect(key({})).toBe(base);
    expect(mappingKey("docs/a.md", compileSettings({ root: "/other", exclude: ["x"] }))).toBe(base);
    expect(key({}, "b.md")).toBe(base);
    expect(key({ rules: [{ match: "b.md", source: "x" }] })).toBe(base);
  });
  // A file is read again only if the key differs: an option without it would have no effect there.
  const samples: Required<Pick<Options, ShapingOption>> = {
    idPrefix: "x",
    source: "x",
    link: "x",
    linkStyle: "hugo",
    linkBase: "x",
    links: "keep",
    sections: "headings",
    anchors: "mkdocs",
    maxSectionChars: 1000,
    metadata: { a: "b" },
    tags: ["a"],
    updatedAt: "mtime",
    owners: "codeowners",
    metaCommit: true,
    versionTag: true,
    drafts: true,
    images: "upload",
    columns: { title: "a" },
  };
  it.each<[Options]>([
    ...Object.entries(samples).flatMap(([name, value]): [Options][] => [
      [{ [name]: value }],
      [{ flags: { [name]: value } }],
    ]),
    [{ updatedAt: "git" as const }],
    [{ frontMatter: { id: ["x"] } }],
    [{ storesCreation: true }],
    [{ componentAttributes: ["title"] }],
    [{ hidden: "keep" as const }],
    [{ rules: [{ match: "docs/**", metadata: { a: "b" } }] }],
    [{ rules: [{ match: "docs/**", ccPairId: 1 }] }],
  ])("differs with %j", (options) => {
    const what = "add the setting to the key in src/documents/map/effective.ts";
    expect(key(options), what).not.toBe(base);
  });
});

it("plain text has no front matter", () => {
  expect(map("---\ntitle: x\n---\n# y", {}, "a.txt")).toMatchObject({
    title: "A",
    sections: [{ text: "---\ntitle: x\n---\n# y" }],
  });
  expect(read("", {}, "a.txt").kind).toBe("skipped");
});
