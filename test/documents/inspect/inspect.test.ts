import { describe, expect, it, onTestFinished } from "vitest";
import { type Explanation, explainDocument } from "../../../src/documents/inspect/explain.ts";
import { type DocumentSettings, compileSettings } from "../../../src/documents/map/settings.ts";
import { type Options, createFolder, fileIn, find } from "../folder.ts";
import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import * as fc from "../../property.ts";
import { decodeText } from "../../../src/documents/files/bytes/decode.ts";
import type {
  InspectSetup,
  LookItem,
  Looked,
  NewId,
} from "../../../src/documents/inspect/inspection.ts";
import { loadIdentify } from "../../../src/documents/inspect/identify.ts";
import { mapDocument } from "../../../src/documents/map/map-document.ts";
import { readMarkdown } from "../../../src/documents/formats/markdown/markdown.ts";
import { around } from "../formats/around.ts";
import { CliError } from "../../../src/errors.ts";
import { openInspector } from "../../../src/documents/inspect/open-inspector.ts";
import { type Pool, createPool } from "../../../src/documents/inspect/pool.ts";
import { holdTime, until } from "../../held-time.ts";
import { patienceMs } from "../../patience.ts";
import { temporaryFolder } from "../../support.ts";
import { execFileSync } from "node:child_process";
import { contentHash } from "../../../src/documents/files/bytes/file-bytes.ts";
import { isAsRecorded } from "../../../src/documents/inspect/recorded.ts";
import { stampOf } from "../../../src/documents/files/source-file.ts";
import { gzipSync } from "node:zlib";
import { type RowReading, readRows } from "../../../src/documents/inspect/read-rows.ts";

describe("explain", () => {
  const noChecks = undefined;

  async function explain(
    files: Record<string, string>,
    path: string,
    options: Options = {},
  ): Promise<Explanation> {
    const root = createFolder(files);
    return await explainDocument(
      fileIn(root, path),
      compileSettings({ root, ...options }),
      noChecks,
    );
  }

  const page = `---
title: T
updated: 2024-05-01
owner: Ann
team: hr
tags: [a]
---
# H
text
`;

  describe("explain", () => {
    it("gives each field with its origin and the exact payload", async () => {
      const explanation = await explain({ "docs/a.md": page }, "docs/a.md", {
        source: "web",
        metadata: { site: "intranet", tags: ["c"] },
        rules: [{ match: "docs/**", link: "https://x/{path}", metadata: { area: "docs" } }],
        flags: { sections: "headings", tags: ["f"] },
      });
      const fields = Object.fromEntries(
        explanation.fields.map(({ name, value, origin }) => [name, [value, origin]]),
      );
      expect(fields).toEqual({
        id: ["docs/a.md", "path"],
        semantic_identifier: ["T", "front matter line 2 (title)"],
        title: ["T", "front matter line 2 (title)"],
        sections: ["1, 7 characters", "flag --sections"],
        link: ["https://x/docs/a.md#h", "rule 1 (docs/**)"],
        source: ["web", "configuration ingest.source"],
        doc_updated_at: ["2024-05-01T00:00:00Z", "front matter line 3 (updated)"],
        primary_owners: ['[{"display_name":"Ann"}]', "front matter line 4 (owner)"],
        "metadata.site": ["intranet", "configuration ingest.metadata"],
        "metadata.area": ["docs", "rule 1 (docs/**)"],
        "metadata.team": ["hr", "front matter line 5 (team)"],
        "metadata.tags": [
          '["c","a","f"]',
          "configuration ingest.metadata, front matter line 6 (tags), flag --tag",
        ],
      });
      expect(explanation).toMatchObject({
        isIncluded: true,
        reason: "found in the project root",
        rules: ["rule 1 (docs/**)"],
      });
      expect(explanation.documentBytes).toBe(
        Buffer.byteLength(JSON.stringify(explanation.document)),
      );
    });

    it("names the key of each name", async () => {
      const text = "---\ntitle: T\nsemantic_identifier: S\nmetadata: {team: x}\n---\nx\n";
      const { fields } = await explain({ "a.md": text }, "a.md");
      const origins = Object.fromEntries(fields.map(({ name, origin }) => [name, origin]));
      expect(origins).toMatchObject({
        semantic_identifier: "front matter line 3 (semantic_identifier)",
        title: "front matter line 2 (title)",
        "metadata.team": "front matter line 4 (metadata)",
      });
    });

    it("names defaults, headings and file names", async () => {
      const fields = async (text: string): Promise<string[]> =>
        (await explain({ "a.md": text }, "a.md", { idPrefix: "x/" })).fields.map(
          ({ name, origin }) => `${name}: ${origin}`,
        );
      expect(await fields("---\nx: 1\n---\n\n# Title\n")).toEqual([
        "semantic_identifier: heading line 5",
        "id: idPrefix and path",
        "title: heading line 5",
        "source: default",
        "sections: default",
        "metadata.x: front matter line 2 (x)",
      ]);
      expect((await fields("x"))[0]).toBe("semantic_identifier: file name");
    });

    it.each<[string, Options, string]>([
      [".hidden.md", {}, "hidden"],
      ["node_modules/a.md", {}, "in node_modules"],
      ["build/a.md", {}, "ignored by an ignore file"],
      ["a.md", { exclude: ["*.md"] }, "matches exclude *.md"],
      ["a.md", { flags: { include: ["b.md"] } }, "does not match --include b.md"],
      ["a.md", { include: ["docs/**"] }, "not in include docs/**"],
      ["draft.md", {}, "draft: true"],
      ["empty.md", {}, "empty"],
    ])("says why %s with %j is left out, as the walk does", async (path, options, reason) => {
      const files = {
        ".gitignore": "build/",
        ".hidden.md": "x",
        "node_modules/a.md": "x",
        "build/a.md": "x",
        "a.md": "x",
        "draft.md": "---\ndraft: true\n---\nx",
        "empty.md": "",
      };
      const explanation = await explain(files, path, options);
      expect(explanation.isIncluded).toBe(false);
      expect(explanation.reason).toContain(reason);
    });

    it("agrees with the walk on every file", async () => {
      const files: Record<string, string> = {
        ".gitignore": "b*\n!bc.md\n",
        "d/.gitignore": "x.md\n!b.md",
      };
      for (const name of ["a", "b", "bc", "x", ".h"]) {
        for (const folder of ["", "d/", "d/e/", ".d/", "bd/"]) files[`${folder}${name}.md`] = "x";
      }
      const root = createFolder(files);
      const settings = compileSettings({ root });
      const found = new Set(find(root).map((each) => (each.kind === "file" ? each.file.path : "")));
      for (const path of Object.keys(files).filter((each) => each.endsWith(".md"))) {
        const { isIncluded } = await explainDocument(fileIn(root, path), settings, noChecks);
        expect(isIncluded, path).toBe(found.has(path));
      }
    });

    it("fails as reading does", async () => {
      await expect(explain({ "a.md": "---\na: [\n---\n" }, "a.md")).rejects.toThrow("a.md:3:1");
    });
  });
});

describe("identify", () => {
  async function identify(
    content: string | Uint8Array,
    options: Options = {},
    path = "page.md",
  ): Promise<NewId | undefined> {
    const root = createFolder({ [path]: content });
    return (await loadIdentify({ root, ...options }))({ path, absolutePath: join(root, path) });
  }

  /** Id by the whole text; undefined when it gives no document. */
  function idOf(content: string, path: string, settings: DocumentSettings): string | undefined {
    try {
      const parsed = readMarkdown(decodeText(Buffer.from(content), path), path, around);
      const mapped = mapDocument({ path, mtimeMs: 0 }, parsed, settings);
      return mapped.kind === "document" ? mapped.document.id : undefined;
    } catch (error) {
      if (error instanceof CliError) return undefined;
      throw error;
    }
  }

  describe("the id of a new file", () => {
    it.each<[content: string, id: string]>([
      ["# Title\n\nText", "page.md"],
      ["---\ntitle: A\ntags: [a, b]\n---\nText", "page.md"],
      ["---\nvalid: yes\nids: 1\n---\nText", "page.md"],
      ["---\nid: ~\n---\nText", "page.md"],
      [`# ${"long ".repeat(10_000)}`, "page.md"],
      ["---\nid: mine\n---\nText", "mine"],
      ["---\n'id' : mine\n---\nText", "mine"],
      ["---\n? id\n: mine\n---\nText", "mine"],
      ['---\n"\\x69d": mine\n---\nText', "mine"],
      ["---\na: &k id\n*k : mine\n---\nText", "mine"],
      ["---\n{id: mine}\n---\nText", "mine"],
      ["---\r\nid: mine\r\n---\r\nText", "mine"],
      ["---\rid: mine\r---\rText", "mine"],
      ["\uFEFF---\nid: mine\n---\nText", "mine"],
      ["+++\nid = 'mine'\n+++\nText", "mine"],
      ['{\n"id": "mine"\n}\nText', "mine"],
      [`---\ntitle: ${"x".repeat(5000)}\nid: mine\n---\nText`, "mine"],
      ["---\nid: e\u0301\n---\nText", "é"],
    ])("is that of its front matter, else that of its path: %.40j", async (content, id) => {
      expect(await identify(content)).toEqual({ id, ownPair: undefined });
    });

    it.each<[content: string | Uint8Array]>([
      ["---\ndraft: true\n---\nText"],
      ["---\ningest: no\n---\nText"],
      ["---\nid: [a]\n---\nText"],
      ["---\na: [open\n---\nText"],
      ["---js\n{}\n---\nText"],
      ["---\ntitle: never closed"],
      ["---"],
      ["{ a"],
      [""],
      [Buffer.from("\uFEFF---\nid: a\n---\n", "utf16le")],
    ])("is left to reading the file: %.40j", async (content) => {
      expect(await identify(content)).toBeUndefined();
    });

    it("knows idPrefix and the pair of a rule, and that plain text says nothing", async () => {
      const rules = [{ match: "*.txt", ccPairId: 9 }];
      const settings = { idPrefix: "docs/", rules };
      expect(await identify("id: x", settings, "a.txt")).toEqual({ id: "docs/a.txt", ownPair: 9 });
    });

    it("takes the keys of the configuration", async () => {
      for (const id of ["doc.key", "kürzel"]) {
        const frontMatter = { id };
        expect(await identify(`---\n${id}: mine\n---\n`, { frontMatter })).toMatchObject({
          id: "mine",
        });
        expect(await identify("---\nid: x\n---\n", { frontMatter })).toMatchObject({
          id: "page.md",
        });
      }
    });

    it("needs no reading of formats whose files set no id, unless a key makes one of it", async () => {
      for (const path of ["a.html", "a.docx", "a.pdf"]) {
        expect(await identify("", {}, path)).toMatchObject({ id: path });
        expect(await identify("", { frontMatter: { id: "title" } }, path)).toBeUndefined();
      }
      for (const path of ["a.md.gz", "a.json", "a.csv"]) {
        expect(await identify("x", {}, path)).toBeUndefined();
      }
      expect(
        (await loadIdentify({ root: "/" }))({ path: "no.md", absolutePath: "/no.md" }),
      ).toBeUndefined();
    });

    it("is never another one than that of reading", async () => {
      const piece = fc.constantFrom(
        "---\n",
        "---",
        "\n",
        "id",
        "ingest",
        ": ",
        ":",
        "x",
        "'",
        '"',
        "\\x69",
        "&a ",
        "*a ",
        "? ",
        "{",
        "}",
        "- ",
        " ",
        "\r\n",
        "<<: ",
        "|\n",
        "draft: false",
        "title: T\n",
        "\t",
        "é",
        "#",
        "\r",
      );
      const text = fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join(""));
      const root = createFolder();
      const settings = compileSettings({ root });
      const identifyIn = await loadIdentify({ root });
      const path = "page.md";
      fc.assert(
        fc.property(text, fc.constantFrom("fenced", "before text", "alone"), (middle, place) => {
          const rest = place === "alone" ? "" : "Text";
          const content = place === "fenced" ? `---\n${middle}\n---\n${rest}` : middle + rest;
          writeFileSync(join(root, path), content);
          const known = identifyIn({ path, absolutePath: join(root, path) });
          const id = idOf(content, path, settings);
          return known === undefined || id === undefined || id === known.id;
        }),
      );
    });
  });
});

describe("pool", () => {
  const script = join(import.meta.dirname, "..", "..", "fixtures", "threads", "reader.cjs");

  function openPool(size: number, root = "/"): Pool {
    const pair = { ccPairId: 2, fromFlag: false };
    const setup: InspectSetup = { settings: { root }, pair };
    const pool = createPool(script, setup, {
      size,
      timeoutMs: patienceMs,
      maxOldGenerationSizeMb: 32,
    });
    onTestFinished(() => pool.close());
    return pool;
  }

  const itemsOf = (...paths: string[]): LookItem[] =>
    paths.map((path) => ({
      path,
      absolutePath: `/${path}`,
      stamp: undefined,
      content: undefined,
    }));

  const textOf = (looked: Looked): string => {
    if (looked.kind === "document") return Buffer.from(looked.body).toString();
    return looked.kind === "failed" ? `failed: ${looked.reason}` : looked.kind;
  };

  /** How often a thread came to a file that hangs. */
  function hangsIn(root: string): number {
    const path = join(root, "hangs");
    return existsSync(path) ? statSync(path).size : 0;
  }

  it("answers every batch in order, with the bodies that belong to it", async () => {
    const pool = openPool(2);
    const batches = Array.from({ length: 40 }, (_, batch) =>
      Array.from({ length: 1 + (batch % 7) }, (_each, index) => `${batch}/ä-${index}.md`),
    );
    const looked = await Promise.all(batches.map((paths) => pool.look(itemsOf(...paths))));
    expect(looked.map((results) => results.map(textOf))).toEqual(batches);
  });

  it.each([
    ["hang", `hang.pdf: reading it took more than ${patienceMs / 1000} s`],
    ["end", "end.pdf: the thread that read it ended unexpectedly"],
    ["memory", "memory.pdf: reading it needs too much memory"],
  ])("fails only the file at which a thread is lost: %s", async (name, reason) => {
    const pass = name === "hang" ? holdTime() : undefined;
    const root = temporaryFolder();
    const pool = openPool(1, root);
    const first = pool.look(itemsOf("a.md", "b.md", `${name}.pdf`, "c.md"));
    const second = pool.look(itemsOf("d.md", `${name}.pdf`));
    for (const count of pass ? [1, 2] : []) {
      await until(() => hangsIn(root) === count);
      pass?.(patienceMs + 10_000);
    }
    expect((await first).map(textOf)).toEqual(["a.md", "b.md", `failed: ${reason}`, "c.md"]);
    expect((await second).map(textOf)).toEqual(["d.md", `failed: ${reason}`]);
    // The thread in its place goes on.
    expect((await pool.look(itemsOf("e.md"))).map(textOf)).toEqual(["e.md"]);
  });

  it("identifies files between other tasks", async () => {
    const pool = openPool(1);
    const looked = pool.look(itemsOf("a.md"));
    const ids = pool.identify(itemsOf("b.md", "own.md", "ä.md"));
    expect((await looked).map(textOf)).toEqual(["a.md"]);
    expect((await ids).map((each) => each?.id)).toEqual(["b.md", undefined, "ä.md"]);
  });

  it("leaves files to reading where a thread is lost that identifies them, and fails none", async () => {
    const pool = openPool(1);
    const lost = pool.identify(itemsOf("b.md", "end.md"));
    const looked = pool.look(itemsOf("c.md", "end.pdf", "d.md"));
    expect(await lost).toEqual([]);
    expect((await looked).map(textOf)).toEqual([
      "c.md",
      "failed: end.pdf: the thread that read it ended unexpectedly",
      "d.md",
    ]);
  });

  it("hands on a bug as what it is", async () => {
    await expect(openPool(1).look(itemsOf("bug.md"))).rejects.toThrow("a bug");
  });

  it.each(["html", "rst", "adoc", "docx", "pdf"])(
    "reads a file of %s in a thread",
    async (extension) => {
      const pair = { ccPairId: 2, fromFlag: false };
      const inspector = await openInspector(
        { settings: { root: temporaryFolder() }, pair },
        script,
        0,
      );
      onTestFinished(() => inspector.close());
      const looked = await inspector.look(itemsOf(`end.${extension}`));
      expect(looked.map(textOf)).toEqual([
        `failed: end.${extension}: the thread that read it ended unexpectedly`,
      ]);
    },
  );
});

describe("recorded", () => {
  const recordedText = "# as recorded\n";

  // What may have become of a recorded file: by stamp, by content.
  const changes: [
    name: string,
    change: (path: string) => void,
    byStamp: boolean,
    byContent: boolean,
  ][] = [
    ["nothing", () => {}, true, true],
    ["only its times", (path) => utimesSync(path, 1, 1), false, true],
    ["other bytes, as many", (path) => writeFileSync(path, "# AS recorded\n"), false, false],
    ["more bytes", (path) => writeFileSync(path, `${recordedText}x`), false, false],
    ["fewer bytes", (path) => writeFileSync(path, recordedText.slice(1)), false, false],
    ["no bytes", (path) => writeFileSync(path, ""), false, false],
    ["gone", (path) => rmSync(path), false, false],
    [
      "a link to the same bytes",
      (path) => {
        writeFileSync(`${path}.real`, recordedText);
        rmSync(path);
        symlinkSync(`${path}.real`, path);
      },
      false,
      false,
    ],
    [
      "a folder",
      (path) => {
        rmSync(path);
        mkdirSync(path);
      },
      false,
      false,
    ],
    [
      "a FIFO",
      (path) => {
        rmSync(path);
        execFileSync("mkfifo", [path]);
      },
      false,
      false,
    ],
  ];

  it.each(changes)("knows a recorded file again after: %s", (_name, change, byStamp, byContent) => {
    const root = createFolder({ "docs/a.md": recordedText });
    const path = join(root, "docs", "a.md");
    const stamp = stampOf(lstatSync(path, { bigint: true }));
    change(path);
    const item: LookItem = {
      path: "docs/a.md",
      absolutePath: undefined,
      stamp,
      content: undefined,
    };
    const setup = { settings: { root } };
    expect(isAsRecorded(item, setup)).toBe(byStamp);
    expect(isAsRecorded({ ...item, path: "elsewhere.md", absolutePath: path }, setup)).toBe(
      byStamp,
    );
    // A content is asked for, or nothing is known: the stamp must not answer.
    const content = contentHash(Buffer.from(recordedText));
    expect(isAsRecorded({ ...item, content }, setup)).toBe(byContent);
    expect(isAsRecorded({ ...item, content: "hash" }, setup)).toBe(false);
    expect(isAsRecorded({ ...item, content, stamp: undefined }, setup)).toBe(false);
    const small = { settings: { root, maxFileBytes: recordedText.length - 1 } };
    expect(isAsRecorded({ ...item, content }, small)).toBe(false);
  });
});

describe("read rows", () => {
  const maxFileBytes = 64 * 1024;

  interface ReadOptions {
    onRow?: (path: string) => void;
    /** Stop after this many rows. */
    rows?: number;
  }

  /** Reads a file that is larger than the limit for one piece. */
  async function readLarge(
    name: string,
    content: string | Uint8Array,
    { onRow, rows = Infinity }: ReadOptions = {},
  ): Promise<{ readings: RowReading[]; failure: string | undefined; path: string }> {
    const root = createFolder({ [name]: content });
    const file = fileIn(root, name);
    const readings: RowReading[] = [];
    const path = file.absolutePath;
    try {
      for await (const row of readRows(file, compileSettings({ root, maxFileBytes }))) {
        readings.push(row);
        onRow?.(path);
        if (readings.length === rows) break;
      }
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      return { readings, failure: error.message, path };
    }
    return { readings, failure: undefined, path };
  }

  const count = 5000;
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  const table = `id,text\r\n${numbers.map((id) => `${id},"Zeile ä ${id}"\r\n`).join("")}`;
  const lines = numbers.map((id) => JSON.stringify({ id: String(id), text: `Zeile ä ${id}` }));

  function idsIn(readings: readonly RowReading[]): (string | undefined)[] {
    return readings.map((row) => (row.kind === "document" ? row.document.id : row.kind));
  }

  describe("a file of rows that is larger than the limit", () => {
    it.each([
      ["a.csv", table],
      ["a.csv.gz", gzipSync(table)],
      ["wide.csv", Buffer.from(`\ufeff${table}`, "utf16le")],
      ["a.tsv", table.replaceAll(",", "\t")],
      ["a.ndjson", lines.join("\n")],
      ["a.ndjson.gz", gzipSync(lines.join("\r\n"))],
      ["a.json", `[${lines.join(",\n")}]`],
    ])("%s has all its rows, with line and hash", async (name, content) => {
      const { readings, failure, path } = await readLarge(name, content);
      expect(failure).toBeUndefined();
      expect(idsIn(readings)).toEqual(numbers.map(String));
      expect(readings.at(-1)).toMatchObject({
        part: count,
        line: name.startsWith("a.csv") || name.includes("sv") ? count + 1 : count,
        content: contentHash(readFileSync(path)),
        document: { sections: [{ text: `Zeile ä ${count}` }] },
      });
    });

    it.each([
      [
        "a.csv",
        `${table}7,"never`,
        /^a\.csv:5002:1: a quote opens in this row and is never closed$/,
      ],
      [
        "a.csv",
        Buffer.concat([Buffer.from(table), Buffer.from([0x37, 0x2c, 0xfc])]),
        /^a\.csv: not valid UTF-8 at byte \d+$/,
      ],
      ["a.csv", `${table}7,\0\n`, /^a\.csv: a NUL byte \(a binary file\?\) at byte \d+$/],
      ["a.json", `[${lines.join(",\n")},\n{]`, /^a\.json:5001:2: JSON is broken at "\]"$/],
      [
        "a.csv.gz",
        gzipSync(table).subarray(0, -20),
        /^a\.csv\.gz: cannot be read completely: the gzip data ends too early$/,
      ],
    ])("%s has the rows before a fault, and its place", async (name, content, message) => {
      const { readings, failure } = await readLarge(name, content);
      expect(failure).toMatch(message);
      if (!name.endsWith(".gz")) expect(readings.length).toBeGreaterThan(count / 2);
    });

    it("fails if it changes while its rows are read", async () => {
      let isChanged = false;
      const { readings, failure } = await readLarge("a.csv", table, {
        onRow(path) {
          if (!isChanged) appendFileSync(path, "9999,late\n");
          isChanged = true;
        },
      });
      expect(failure).toBe("a.csv: changed while its rows were read");
      expect(readings.length).toBeGreaterThanOrEqual(count);
    });

    it("can be left after some rows", async () => {
      const { readings } = await readLarge("a.ndjson", lines.join("\n"), { rows: 2 });
      expect(idsIn(readings)).toEqual(["1", "2"]);
    });
  });
});
