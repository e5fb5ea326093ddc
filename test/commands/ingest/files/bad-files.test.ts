import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runHere } from "../../../main.ts";
import { startTestService } from "../../../service.ts";
import { acceptedIds, runIngest } from "../support.ts";

const good = { "d/good.md": "Text.\n" };
const latin = (text: string): Buffer => Buffer.from(text, "latin1");
const utf16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, "utf16le");

describe("one bad file of each format leaves the others alone", () => {
  it.each<[string, string | Buffer, string]>([
    ["x.html", latin("<p>caf\xe9</p>"), "d/x.html"],
    ["x.mdx", latin("caf\xe9"), "d/x.mdx"],
    ["x.rst", latin("caf\xe9"), "d/x.rst"],
    ["x.adoc", latin("caf\xe9"), "d/x.adoc"],
    ["x.csv", latin("title,text\na,caf\xe9\n"), "d/x.csv"],
    ["x.ndjson", latin('{"text":"caf\xe9"}\n'), "d/x.ndjson"],
    ["x.json", "[{]", "d/x.json:1:3"],
    ["x.csv", "title,text\na,b\nc\n", "d/x.csv:3:1"],
    ["x.docx", "no archive", "d/x.docx"],
    ["x.pdf", "no pdf", "d/x.pdf"],
  ])("%s", async (name, content, place) => {
    const service = await startTestService({ files: { ...good, [`d/${name}`]: content } });
    const { stderr, error } = await runIngest(service, ["d/*"]);
    expect(error).toMatchObject({ exit: "partial" });
    expect(stderr).toContain(`failed ${place}: `);
    expect(stderr).toContain("1 failed");
    expect(acceptedIds(service)).toContain("d/good.md");
    expect(stderr).not.toContain("\ufffd");
  });
});

describe("files without a text are skipped", () => {
  it.each(["x.html", "x.mdx", "x.rst", "x.adoc", "x.csv", "x.tsv", "x.ndjson"])(
    "%s",
    async (name) => {
      const service = await startTestService({ files: { ...good, [`d/${name}`]: " \n" } });
      const { stderr, error } = await runIngest(service, ["d/*"]);
      expect([error?.message, acceptedIds(service)]).toEqual([undefined, ["d/good.md"]]);
      expect(stderr).toContain("1 created");
      expect(stderr).toMatch(/skipped 1: empty: no (?:text|rows)/);
    },
  );

  it("a file that had no rows gives those written later", async () => {
    const service = await startTestService({ files: { "d/x.csv": "title,text\n" } });
    const first = await runIngest(service, ["d/x.csv"]);
    expect(first.stderr).toContain("skipped 1: empty: no rows");
    writeFileSync(join(service.folder, "d/x.csv"), "title,text\na,b\n");
    await runIngest(service, ["d/x.csv"]);
    const { stderr } = await runIngest(service, ["d/x.csv"]);
    expect(acceptedIds(service)).toEqual(["d/x.csv#1"]);
    expect(stderr).toContain("1 unchanged");
    expect(stderr).not.toContain("skipped");
  });
});

describe("each failure names the remedy", () => {
  it.each<[string, string | Buffer, string]>([
    ["x.md", latin("caf\xe9"), "d/x.md: not valid UTF-8 at byte 3; save the file as UTF-8"],
    ["x.md", "---\ndate: nope\n---\nx", "not a date: nope; write 2024-05-01"],
    ["x.csv", "title,title\na,b\n", "two columns for title; give each column a name"],
    ["x.docx", "no archive", "it is no ZIP archive; save it as .docx, or exclude it"],
    ["x.pdf", "no pdf", "it is no PDF, or damaged; print it to a new PDF, or exclude it"],
    ["x.pdf", "", "cannot be read: it is empty; save it again, or exclude it"],
    ["x.json", "", "no JSON: it is empty; write [] for no document, or exclude it"],
    ["x.md.gz", "no gzip", "not gzip, or damaged; check it with `gzip -t`, or exclude it"],
    ["x.md.gz", "", "not gzip: it is empty; pack it again, or exclude it"],
  ])("%s %j", async (name, content, message) => {
    const service = await startTestService({ files: { ...good, [`d/${name}`]: content } });
    const { stderr } = await runIngest(service, ["d/*"]);
    expect(stderr).toContain(message);
  });
});

it.skipIf(process.platform !== "linux")(
  "a name that is no UTF-8 is told only where it is asked for",
  async () => {
    const service = await startTestService({ files: good });
    const name = Buffer.concat([
      Buffer.from(join(service.folder, "d/b")),
      Buffer.from("\xff.md", "latin1"),
    ]);
    writeFileSync(name, "Text.\n");
    expect((await runIngest(service, ["d/g*"])).error).toBeUndefined();
    expect((await runIngest(service, ["d/*"])).error).toMatchObject({ exit: "partial" });
  },
);

it.each(["x.html", "x.mdx", "x.csv", "x.ndjson"])(
  "UTF-16 with a mark is read: %s",
  async (name) => {
    const texts: Record<string, string> = {
      "x.csv": "id,text\ncafé,Grüße\n",
      "x.ndjson": '{"id":"café","text":"Grüße"}\n',
    };
    const content = utf16(texts[name] ?? "<p>Grüße</p>");
    const service = await startTestService({ files: { [`d/${name}`]: content } });
    const { error } = await runIngest(service, [`d/${name}`]);
    expect(error).toBeUndefined();
    expect(acceptedIds(service)).toHaveLength(1);
  },
);

const oneRow = "id,text\na,1\n";
const ofRows = "set another id in one of the rows";
const ofFiles = "set another `id` in the front matter of one file, or exclude that file";
it.each<[string, Record<string, string>, string, string, string[]]>([
  [
    "two rows of one file",
    { "d/x.csv": "id,text\na,1\nb,1\na,2\n" },
    "two rows of one file have the same document id; nothing was sent",
    "a: d/x.csv (row 1) and d/x.csv (row 3)",
    [ofRows],
  ],
  [
    "rows of two files",
    { "d/x.csv": oneRow, "d/y.csv": oneRow },
    "two files have the same document id; nothing was sent",
    "a: d/x.csv (row 1) and d/y.csv (row 1)",
    [ofRows],
  ],
  [
    "a row and a file",
    { "d/x.csv": oneRow, "d/y.md": "---\nid: a\n---\n# A\n" },
    "two files have the same document id; nothing was sent",
    "a: d/x.csv (row 1) and d/y.md",
    [ofRows, ofFiles],
  ],
])("%s with one id are refused before anything is sent", async (_, given, message, pair, hints) => {
  const service = await startTestService({ files: given });
  for (const options of [{}, { state: false }] as const) {
    const { error } = await runIngest(service, Object.keys(given), options);
    expect(error).toMatchObject({ exit: "usage", message, details: [pair], hints });
  }
  expect(acceptedIds(service)).toEqual([]);
});

it("a shared id of files that were never uploaded: orphans says that a path leaves them out", async () => {
  const page = "---\nid: a\n---\n# A\n";
  const given = { "docs/x.md": page, "other/y.md": page };
  const { folder: cwd, env } = await startTestService({ files: given });
  const run = (line: string) => runHere(line.split(" "), { cwd, env });
  expect(await run("ingest docs --cc-pair-id 2")).toMatchObject({ code: 0 });
  const refused = await run("prune --tombstone --dry-run");
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("no path was named, so all files of the project were compared");
  expect(refused.stderr).toMatch(/two files have the same document id$/m);
  expect(await run("prune docs --tombstone --dry-run")).toMatchObject({ code: 0 });
});

it("three files with one id are two collisions, and another key may be meant", async () => {
  const page = "---\nid: a\n---\n# A\n";
  const given = { "d/x.md": page, "d/y.md": page, "d/z.md": page };
  const service = await startTestService({ files: given });
  for (const options of [{}, { state: false }] as const) {
    const { error } = await runIngest(service, ["d"], options);
    const details = ["a: d/x.md and d/y.md", "a: d/x.md and d/z.md"];
    const otherKey: unknown = expect.stringContaining("ingest.frontMatter.id");
    expect(error).toMatchObject({ exit: "usage", details, hints: [ofFiles, otherKey] });
  }
});

it.each([["d/*.nothing"], ["{a,b}".repeat(18)], ["{1..1000000}"]])(
  "%s: exit 2, also with --format",
  async (pattern) => {
    const service = await startTestService({ files: good });
    for (const options of [{}, { format: "text" as const }]) {
      const { error } = await runIngest(service, [pattern], options);
      expect(error).toMatchObject({ exit: "usage" });
    }
  },
);
