import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runHere } from "../../../main.ts";
import { type TestService, startTestService, writeFiles } from "../../../service.ts";
import { acceptedIds, lastAccepted, runIngest } from "../support.ts";
import { expectRun, runIn } from "../../state/support.ts";
import { replaceInFileSystem } from "../../../file-system.ts";
import { gzipSync } from "node:zlib";

describe("bad files", () => {
  const good = { "d/good.md": "Text.\n" };
  const latin = (text: string): Buffer => Buffer.from(text, "latin1");
  const utf16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, "utf16le");

  it("bad files of each format leave the others alone, and each failure names the remedy", async () => {
    const bad: [name: string, content: string | Buffer, ...told: string[]][] = [
      ["x.html", latin("<p>caf\xe9</p>")],
      ["x.mdx", latin("caf\xe9")],
      ["x.rst", latin("caf\xe9")],
      ["x.adoc", latin("caf\xe9")],
      ["latin.csv", latin("title,text\na,caf\xe9\n")],
      ["x.ndjson", latin('{"text":"caf\xe9"}\n')],
      ["x.json", "[{]", "x.json:1:3: "],
      ["short.csv", "title,text\na,b\nc\n", "short.csv:3:1: "],
      ["x.docx", "no archive", "it is no ZIP archive; save it as .docx, or exclude it"],
      ["x.pdf", "no pdf", "it is no PDF, or damaged; print it to a new PDF, or exclude it"],
      ["latin.md", latin("caf\xe9"), "latin.md: not valid UTF-8 at byte 3; save the file as UTF-8"],
      ["date.md", "---\ndate: nope\n---\nx", "not a date: nope; write 2024-05-01"],
      ["twice.csv", "title,title\na,b\n", "two columns for title; give each column a name"],
      ["empty.pdf", "", "cannot be read: it is empty; save it again, or exclude it"],
      ["empty.json", "", "no JSON: it is empty; write [] for no document, or exclude it"],
      ["x.md.gz", "no gzip", "not gzip, or damaged; check it with `gzip -t`, or exclude it"],
      ["empty.md.gz", "", "not gzip: it is empty; pack it again, or exclude it"],
    ];
    const files = Object.fromEntries(bad.map(([name, content]) => [`d/${name}`, content]));
    const service = await startTestService({ files: { ...good, ...files } });
    const { stderr, error } = await runIngest(service, ["d/*"]);
    expect(error).toMatchObject({ exit: "partial" });
    for (const [name, , ...told] of bad) {
      const line = stderr.split("\n").find((each) => each.startsWith(`failed d/${name}:`)) ?? "";
      expect(line, name).not.toBe("");
      for (const text of told) expect(line, name).toContain(text);
    }
    expect(stderr).toContain(`${bad.length} failed`);
    expect(acceptedIds(service)).toEqual(["d/good.md", "d/short.csv#1"]);
    expect(stderr).not.toContain("\ufffd");
  });

  describe("files without a text are skipped", () => {
    it("in each format", async () => {
      const texts = ["x.html", "x.mdx", "x.rst", "x.adoc"];
      const rows = ["x.csv", "x.tsv", "x.ndjson"];
      const files = Object.fromEntries([...texts, ...rows].map((name) => [`d/${name}`, " \n"]));
      const service = await startTestService({ files: { ...good, ...files } });
      const { stderr, error } = await runIngest(service, ["d/*"]);
      expect([error?.message, acceptedIds(service)]).toEqual([undefined, ["d/good.md"]]);
      expect(stderr).toContain("1 created");
      expect(stderr).toMatch(/skipped 4: empty: no text/);
      expect(stderr).toMatch(/skipped 3: empty: no rows/);
    });

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

  it("UTF-16 with a mark is read", async () => {
    const texts: Record<string, string> = {
      "x.html": "<p>Grüße</p>",
      "x.mdx": "Grüße",
      "x.csv": "id,text\ncafé,Grüße\n",
      "x.ndjson": '{"id":"thé","text":"Grüße"}\n',
    };
    const files = Object.entries(texts).map(([name, text]) => [`d/${name}`, utf16(text)]);
    const service = await startTestService({ files: Object.fromEntries(files) });
    const { error } = await runIngest(service, ["d/*"]);
    expect(error).toBeUndefined();
    const ids = ["café", "d/x.html", "d/x.mdx", "thé"];
    expect(acceptedIds(service)).toEqual(ids.toSorted());
    for (const id of ids)
      expect(lastAccepted(service, id)?.sections[0]?.text?.trim()).toBe("Grüße");
  });

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
  ])(
    "%s with one id are refused before anything is sent",
    async (_, given, message, pair, hints) => {
      const service = await startTestService({ files: given });
      for (const options of [{}, { state: false }] as const) {
        const { error } = await runIngest(service, Object.keys(given), options);
        expect(error).toMatchObject({ exit: "usage", message, details: [pair], hints });
      }
      expect(acceptedIds(service)).toEqual([]);
    },
  );

  it("a shared id of files that were never uploaded: orphans says that a path leaves them out", async () => {
    const page = "---\nid: a\n---\n# A\n";
    const given = { "docs/x.md": page, "other/y.md": page };
    const { folder: cwd, env } = await startTestService({ files: given });
    const run = (line: string) => runHere(line.split(" "), { cwd, env });
    expect(await run("ingest docs --cc-pair-id 2")).toMatchObject({ code: 0 });
    const refused = await run("prune --tombstone --dry-run");
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(
      "no path was named, so all files of the project were compared",
    );
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

  it("patterns that match nothing, or too much: exit 2, also with --format", async () => {
    const service = await startTestService({ files: good });
    for (const pattern of ["d/*.nothing", "{a,b}".repeat(18), "{1..1000000}"]) {
      for (const options of [{}, { format: "text" as const }]) {
        const { error } = await runIngest(service, [pattern], options);
        expect(error, pattern).toMatchObject({ exit: "usage" });
      }
    }
  });
});

describe("normal forms", () => {
  // As a Mac may write it, and as it is typed elsewhere: one path, and one document id.
  const nfd = "u\u0308ber";
  const nfc = "\u00fcber";
  const ingest = "ingest . --cc-pair-id 2";
  const twins = {
    code: 2,
    stderr: expect.stringContaining("differ only in their Unicode normalisation"),
  };

  describe("names on the disk in another normal form", () => {
    it.each([
      ["files", `${nfd}.md`, `${nfc}.md`],
      ["files, the other first", `${nfc}.md`, `${nfd}.md`],
      ["folders", `${nfd}/a.md`, `${nfc}/a.md`],
    ])("are refused where both are there, also when one was sent before: %s", async (...names) => {
      const [, before, added] = names;
      const service = await startTestService({ files: { [before]: "one\n" } });
      await expectRun(service, ingest, 0);
      writeFiles(service.folder, { [added]: "two\n" });
      const refused = await runIn(service, ingest);
      expect(refused).toMatchObject(twins);
      // Told apart on a screen.
      expect(refused.stderr).toContain("u\\u{308}ber");
      expect(await runIn(service, `${ingest} --dry-run`)).toMatchObject(twins);
    });

    it("are refused where neither was sent before", async () => {
      const files = { [`${nfd}.md`]: "---\nid: one\n---\n1\n", [`${nfc}.md`]: "2\n" };
      expect(await runIn(await startTestService({ files }), ingest)).toMatchObject(twins);
    });

    it("keep their ids: another file cannot take one", async () => {
      const files = { [`${nfd}/${nfd}.md`]: "---\nid: taken\n---\none\n" };
      const service = await startTestService({ files });
      await expectRun(service, ingest, 0);
      writeFiles(service.folder, { "zz.md": "---\nid: taken\n---\ntwo\n" });
      await expectRun(service, ingest, 2, `taken: ${nfc}/${nfc}.md and zz.md`);
    });

    it("are there for a retry, and not gone where they are only left out", async () => {
      const broken = "---\n[\n---\none\n";
      const service = await startTestService({ files: { [`${nfd}.md`]: broken, "a.md": "a\n" } });
      await expectRun(service, ingest, 10);
      writeFiles(service.folder, { [`${nfd}.md`]: "one\n" });
      await expectRun(service, "retry --cc-pair-id 2", 0, "1 created");
      const config = JSON.stringify({ ingest: { exclude: [`${nfc}.md`] } });
      writeFiles(service.folder, { ".cliconfig.json": config });
      const listed = await runIn(
        service,
        "prune . --cc-pair-id 2 --tombstone --dry-run --class excluded -o tsv",
      );
      expect(listed.stdout).toContain("\texcluded\t");
      expect(listed.stdout).not.toContain("\tgone\t");
    });
  });
});

it("no file is to blame when there are too many open files", async () => {
  const files = { "docs/a.md": "# A\n", "docs/b.md": "# B\n", "docs/sub/c.md": "# C\n" };
  const service = await startTestService({ files });
  for (const [call, path, code] of [
    ["openSync", "docs/b.md", "EMFILE"],
    ["openSync", "docs/b.md", "ENFILE"],
    ["readdirSync", "docs/sub", "EMFILE"],
  ] as const) {
    // A real lack of descriptors would hit whatever opens a file first: here it hits one call alone.
    let isShort = true;
    replaceInFileSystem(call, (actual) => (...args: unknown[]) => {
      if (!isShort || !String(args[0]).endsWith(path)) return actual(...args);
      throw Object.assign(new Error(`${code}: ${call}`), { code });
    });
    await expectRun(service, "ingest docs --cc-pair-id 2", 14, "too many open files", "ulimit -n");
    expect(acceptedIds(service)).toEqual([]);
    isShort = false;
  }
  await expectRun(service, "ingest docs --cc-pair-id 2", 0);
  expect(acceptedIds(service)).toHaveLength(3);
});

describe("large", () => {
  // Beyond the first 32 new files, a file is only glanced at before others are sent.
  const many = Object.fromEntries(
    Array.from({ length: 60 }, (_, index) => [`d/a${1000 + index}.md`, `Text ${index}.\n`]),
  );
  const files = {
    ...many,
    "d/x-bad.md": "---\nupdated: never\n---\nText.\n",
    "d/x-draft.md": "---\ndraft: true\n---\nText.\n",
    "d/x-empty.md": "---\ntitle: T\n---\n",
    "d/x-own.md": "---\nid: own\n---\nText.\n",
    "d/x-same.txt": "Text 0.\n",
  };

  it("tells and records of files that are read late what it does of the others", async () => {
    const service = await startTestService({ files });
    const { stderr, error } = await runIngest(service, ["d"]);
    expect(error).toMatchObject({ exit: "partial" });
    expect(stderr).toContain("failed d/x-bad.md:2:1: front matter updated");
    expect(stderr).toContain("skipped 1: draft: true in the front matter");
    expect(stderr).toContain("skipped 1: empty: no text after the front matter");
    expect(acceptedIds(service)).toEqual([...Object.keys(many), "d/x-same.txt", "own"].toSorted());
    writeFileSync(join(service.folder, "d/x-bad.md"), "Text.\n");
    const second = await runIngest(service, ["d"]);
    expect(second.error).toBeUndefined();
    expect(second.stderr).toContain("1 created");
    expect(second.stderr).toContain("62 unchanged");
    expect(second.stderr).toContain("skipped 1: draft");
  });

  it("finds the id of a file that is read late twice before anything is sent", async () => {
    const service = await startTestService({
      files: { ...files, "d/y.md": "---\nid: d/x-same.txt\n---\nText.\n" },
    });
    const { stderr, error } = await runIngest(service, ["d"]);
    expect(error).toMatchObject({
      exit: "usage",
      details: ["d/x-same.txt: d/x-same.txt and d/y.md"],
    });
    expect([stderr.includes("created"), acceptedIds(service)]).toEqual([false, []]);
  });

  it("sends a moved file under its new id, and knows what was accepted for another path", async () => {
    const service = await startTestService({ files: many });
    await runIngest(service, ["d"]);
    rmSync(join(service.folder, "d/a1000.md"));
    const moved = { "d/b.md": "Text 0.\n" };
    const fresh = Object.fromEntries(
      Object.keys(many).map((path) => [path.replace("d/", "d/e/"), "Text.\n"]),
    );
    writeFiles(service.folder, { ...fresh, ...moved });
    const { stderr } = await runIngest(service, ["d"]);
    expect(stderr).toContain("61 created");
    expect(stderr).toContain("59 unchanged");
  });

  const pages = Object.fromEntries(
    Array.from({ length: 1010 }, (_, index) => [`d/${10_000 + index}.md`, "Text.\n"]),
  );
  const methodsOf = (service: TestService): string[] =>
    service.sandbox.ledger.requests.map(({ method }) => method);

  it("asks for the pairs once, before anything is sent, and never when nothing is to be sent", async () => {
    const service = await startTestService({ files: pages });
    await runIngest(service, ["d"]);
    const first = methodsOf(service);
    expect([first[0], first.filter((each) => each === "GET").length]).toEqual(["GET", 1]);
    expect(acceptedIds(service)).toHaveLength(1010);
    await runIngest(service, ["d"]);
    expect(methodsOf(service)).toHaveLength(first.length);
    const elsewhere = await runIngest(service, ["d"], { ccPairId: 99 });
    expect(elsewhere.error).toMatchObject({ exit: "not-found" });
    expect(elsewhere.stderr).not.toContain("created");
  });

  it("sends nothing where an id comes twice among more than a thousand", async () => {
    const files = { ...pages, "d/z.md": "---\nid: d/10000.md\n---\nText.\n" };
    const service = await startTestService({ files });
    expect((await runIngest(service, ["d"])).error).toMatchObject({ exit: "usage" });
    expect(methodsOf(service).filter((each) => each !== "GET")).toEqual([]);
  });
});

describe("lfs", () => {
  const oid = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393";
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize 12345\n`;
  const why = "a Git LFS pointer, not the file itself";
  const remedy = "git lfs pull";

  const extensions = [
    "md",
    "markdown",
    "mdx",
    "txt",
    "rst",
    "adoc",
    "html",
    "htm",
    "docx",
    "pptx",
    "xlsx",
    "pdf",
  ];
  const named = ["json", "ndjson", "csv", "tsv", "md.gz", "ndjson.gz"];

  interface Failed {
    status: string;
    path: string;
    reason: string;
  }

  function failuresIn(stdout: string): Failed[] {
    const lines = stdout.split("\n").filter(Boolean);
    return lines
      .map((line) => JSON.parse(line) as Failed)
      .filter(({ status }) => status === "failed");
  }

  describe("Git LFS pointers", () => {
    it("are failures of their files in every format, and the rest goes on", async () => {
      const names = [...extensions, ...named].map((extension) => `docs/page.${extension}`);
      const files = Object.fromEntries(names.map((name) => [name, pointer]));
      const service = await startTestService({ files: { ...files, "docs/good.md": "# Good\n" } });
      const inputs = ["docs", ...names.slice(extensions.length)].join(" ");
      const ran = await expectRun(service, `ingest ${inputs} --cc-pair-id 2 -o ndjson`, 10);
      const failures = failuresIn(ran.stdout);
      expect(failures.map(({ path }) => path).toSorted()).toEqual(names.toSorted());
      for (const { path, reason } of failures) {
        expect(reason).toContain(`${path}: ${why}`);
        expect(reason).toContain(remedy);
      }
      expect(acceptedIds(service)).toEqual(["docs/good.md"]);
      await expectRun(service, "explain docs/page.md", 2, remedy);
      const printed = await runIn(service, "convert docs/page.md");
      expect(printed).toMatchObject({ code: 10, stdout: "", stderr: expect.stringContaining(why) });
    });

    it("are failures also on stdin", async () => {
      const service = await startTestService();
      const line = "ingest - --format markdown --id docs/page.md --cc-pair-id 2";
      const ran = await runIn(service, line, { stdin: pointer });
      expect(ran).toMatchObject({ code: 10, stderr: expect.stringContaining(`stdin: ${why}`) });
      expect(ran.stderr).toContain(remedy);
      expect(acceptedIds(service)).toEqual([]);
    });

    it("are failures also where the pointer was packed, has a byte order mark, other line ends, or an extension", async () => {
      const extended = pointer.replace("oid", `ext-0-crypt sha256:${oid}\noid`);
      const service = await startTestService({
        files: {
          "a.md.gz": gzipSync(pointer),
          "b.md": pointer.replaceAll("\n", "\r\n"),
          "f.md": `\ufeff${pointer}`,
          "c.md": pointer.trimEnd(),
          "d.md": extended,
          "e.md": pointer.replace("git-lfs", "hawser"),
        },
      });
      const ran = await runIn(service, "ingest . a.md.gz --cc-pair-id 2 -o ndjson");
      expect(failuresIn(ran.stdout)).toHaveLength(6);
      expect(acceptedIds(service)).toEqual([]);
    });

    it("are not what a document says about them", async () => {
      const files = {
        "about.md": `# Pointers\n\n${pointer}`,
        "more.txt": `${pointer}\nThe size is in bytes.\n`,
        "first.txt":
          "version https://git-lfs.github.com/spec/v1\nis the first line of a pointer.\n",
      };
      const service = await startTestService({ files });
      await expectRun(service, "ingest . --cc-pair-id 2", 0);
      expect(acceptedIds(service)).toEqual(["about.md", "first.txt", "more.txt"]);
    });

    it("neither overwrite a document that was sent nor make an orphan of it", async () => {
      const files = { "docs/a.md": "# A\n\nGood.\n", "docs/b.md": "# B\n" };
      const service = await startTestService({ files, dialect: "onyx" });
      await runIn(service, "ingest docs --cc-pair-id 2");
      writeFiles(service.folder, { "docs/a.md": pointer });
      await expectRun(service, "ingest docs --cc-pair-id 2", 10, `docs/a.md: ${why}`);
      expect(lastAccepted(service, "docs/a.md")?.sections[0]?.text).toContain("Good.");
      const orphans = await runIn(service, "prune docs --cc-pair-id 2 --dry-run -o ndjson");
      expect(orphans).toMatchObject({ code: 2, stdout: expect.not.stringContaining("gone") });
      writeFiles(service.folder, { "docs/a.md": "# A\n\nPulled.\n" });
      await expectRun(service, "retry --cc-pair-id 2", 0);
      expect(lastAccepted(service, "docs/a.md")?.sections[0]?.text).toContain("Pulled.");
    });

    it("in the place of an image fail the document that refers to it", async () => {
      const png = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.from("one")]);
      const text = "# A\n\nSee\n![plan](plan.png)\n";
      const service = await startTestService({
        files: { "docs/a.md": text, "docs/plan.png": png },
      });
      const line = "ingest docs --cc-pair-id 2 --images upload";
      await expectRun(service, line, 0);
      writeFiles(service.folder, { "docs/plan.png": pointer });
      const ran = await expectRun(service, `${line} -o ndjson`, 10);
      expect(failuresIn(ran.stdout)).toMatchObject([{ path: "docs/a.md" }]);
      expect(ran.stdout).toContain(`docs/a.md:4: image plan.png: ${why}`);
      expect(ran.stdout).toContain(remedy);
      expect(lastAccepted(service, "docs/a.md")?.sections).toHaveLength(2);
      await expectRun(service, "ingest docs --cc-pair-id 2", 0);
    });
  });
});

it.each(["", " --verify --wait 0s"])(
  "a folder that is removed during the upload is part of its result: ingest%s",
  async (flag) => {
    const names = Array.from({ length: 300 }, (_, at) => `docs/${at}.md`);
    const service: TestService = await startTestService({
      files: Object.fromEntries(names.map((name) => [name, `# ${name}\n`])),
      dialect: "onyx",
      sandbox: {
        onDocument: () => rmSync(join(service.folder, "docs"), { recursive: true, force: true }),
      },
    });
    const { stderr } = await expectRun(
      service,
      `ingest docs --cc-pair-id 2 --concurrency 1${flag}`,
      10,
      "cannot be read: the file is gone",
    );
    expect(stderr).toMatch(/^done: \d+ created, \d+ failed/m);
    expect(stderr).not.toContain("no such file or folder");
  },
);
