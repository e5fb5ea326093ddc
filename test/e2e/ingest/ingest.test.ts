import { describe, expect, it, onTestFinished } from "vitest";
import { acceptedIds, lastAccepted, startGitService } from "../../commands/ingest/support.ts";
import { type TestService, startTestService, testKey, writeFiles } from "../../service.ts";
import { type CliResult, projectFolder, runCli, temporaryFolder } from "../../support.ts";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runHere } from "../../main.ts";
import { type AloneTask, runAlone } from "../../../src/documents/inspect/pool.ts";
import type { Looked, Prepared } from "../../../src/documents/inspect/inspection.ts";
import { openInspector } from "../../../src/documents/inspect/open-inspector.ts";
import type { Explanation } from "../../../src/documents/inspect/explain.ts";
import { docx, zip } from "../../documents/formats/archive.ts";

describe("ingest git", () => {
  it("sends what changed since a commit, with the facts of git, and refuses an unknown one", async () => {
    const files = { "docs/a.md": "# A\n\nText.\n", "docs/b.md": "# B\n\nText.\n" };
    const service = await startGitService({ files });
    writeFiles(service.folder, { "docs/b.md": "# B\n\nOther text.\n" });
    const commit = service.commit("2023-04-05T06:07:08Z");
    const run = (...args: string[]) =>
      runHere(["ingest", "docs", "--cc-pair-id", "2", ...args], {
        cwd: service.folder,
        env: service.env,
      });
    const unknown = await run("--since", "nowhere");
    expect(unknown).toMatchObject({ code: 2, stdout: "" });
    expect(unknown.stderr).toContain("no such commit");
    const facts = ["--updated-at", "git", "--meta-commit"];
    const result = await run("--since", "HEAD~1", ...facts);
    expect(result).toMatchObject({ code: 0, stdout: "" });
    expect(result.stderr).toContain("since HEAD~1: 1 file changed");
    expect(acceptedIds(service)).toEqual(["docs/b.md"]);
    expect(lastAccepted(service, "docs/b.md")).toMatchObject({
      doc_updated_at: "2023-04-05T06:07:08Z",
      metadata: { source_commit: commit },
    });
  });
});

describe("ingest images", () => {
  const png = Buffer.from("\x89PNG\r\n\x1a\none", "latin1");

  // The broken Word file brings the worker threads in: what is uploaded has to come out of them.
  const files = {
    "docs/a.md": "# A\n\n![one](one.png)\n",
    "docs/b.md": "# B\n\n![one](one.png)\n",
    "docs/broken.docx": "no archive",
    "docs/one.png": png,
  };

  // By the other dialect in this process: test/commands/ingest/files/images.test.ts.
  it("uploads images once", async () => {
    const service = await startTestService({ files, dialect: "onyx" });
    const args = ["ingest", "docs", "--cc-pair-id", "2", "--images", "upload"];
    const result = await runCli(args, { cwd: service.folder, env: service.env });
    expect(result).toMatchObject({ code: 10, stdout: "" });
    expect(result.stderr).toContain("2 created");
    const [first, second] = ["docs/a.md", "docs/b.md"].map(
      (id) => lastAccepted(service, id)?.sections[1]?.image_file_id,
    );
    expect(first).toMatch(/^[0-9a-f-]{36}$/);
    expect(second).toBe(first);
    const uploads = service.sandbox.ledger.requests.filter(({ path }) => path.endsWith("/upload"));
    expect(uploads).toHaveLength(1);
  });
});

describe("ingest", () => {
  // What the command does in its many cases: test/commands/ingest/.

  const ingest = (...rest: string[]): string[] => ["ingest", "docs", "--cc-pair-id", "2", ...rest];

  it("uploads a folder as a process; a second run sends nothing, and no key is left", async () => {
    const files = {
      "docs/leave.md": "---\ntitle: Annual leave\n---\n# Leave\n",
      "docs/plain.txt": "Text.\n",
      "docs/broken.md": "---\ntitle: [unclosed\n---\ntext\n",
    };
    const service = await startTestService({ files });
    const options = { cwd: service.folder, env: service.env };
    const first = await runCli(ingest("--debug", "--output", "json"), options);
    expect(first).toMatchObject({ code: 10 });
    expect(JSON.parse(first.stdout)).toMatchObject({ counts: { created: 2, failed: 1 } });
    expect(acceptedIds(service)).toEqual(["docs/leave.md", "docs/plain.txt"]);
    expect(first.stdout + first.stderr).not.toContain(testKey);
    const state = readFileSync(join(service.folder, ".knowctl", "state.db"));
    expect(state.includes(testKey)).toBe(false);
    const second = await runHere(ingest("--exclude", "broken.md"), options);
    expect(second).toMatchObject({ code: 0, stdout: "" });
    expect(second.stderr).toContain("2 unchanged");
  });

  it("says that nobody answers when the service is dead", async () => {
    const service = await startTestService({ files: { "docs/a.md": "A\n" } });
    await service.sandbox.close();
    const result = await runHere(ingest(), { cwd: service.folder, env: service.env });
    expect(result.code).toBe(5);
    expect(result.stderr).toContain(service.sandbox.url);
  });
});

describe("shards", () => {
  const shardCount = 4;
  const shards = Array.from({ length: shardCount }, (_, index) => `${index + 1}/${shardCount}`);

  const pages = Array.from(
    { length: 120 },
    (_, number) => [`docs/${number % 7}/page-${number}.md`, `# Page ${number}\n\nText.\n`] as const,
  );
  const rows = Array.from({ length: 40 }, (_, number) => `r${number},Row ${number},Text ${number}`);
  const files = {
    ...Object.fromEntries(pages),
    "docs/rows.csv": `id,title,text\n${rows.join("\n")}\n`,
    "docs/empty.md": "",
  };
  const documentCount = pages.length + rows.length;

  type Run = (
    args: string[],
    options: { cwd: string; env: Record<string, string> },
  ) => Promise<Pick<CliResult, "code" | "stderr">>;

  function run({ folder: cwd, env }: TestService, args: string[]): ReturnType<typeof runHere> {
    return runHere(args, { cwd, env });
  }

  const inputs = ["docs", "docs/rows.csv", "--cc-pair-id", "2"];

  /** All shards at once, as processes or in this one. */
  async function expectShards(
    { folder: cwd, env }: TestService,
    start: Run,
    extra: (index: number) => string[],
  ): Promise<void> {
    const results = await Promise.all(
      shards.map((shard, index) => {
        const own = ["--shard", shard, "--report", `shard-${index + 1}.json`, ...extra(index)];
        return start(["ingest", ...inputs, ...own], { cwd, env });
      }),
    );
    expect(results.map(({ code, stderr }) => (code === 0 ? 0 : stderr))).toEqual(
      shards.map(() => 0),
    );
  }

  function expectEachOnce(service: TestService): void {
    const sent = [...service.sandbox.ledger.documents.values()];
    expect(sent).toHaveLength(documentCount);
    expect(sent.filter((bodies) => bodies.length !== 1)).toEqual([]);
  }

  async function expectMerged(service: TestService): Promise<void> {
    const names = shards.map((_, index) => `shard-${index + 1}.json`);
    const { code, stdout } = await run(service, ["report", "merge", ...names]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      status: "ok",
      shard: null,
      merged: { shards: shardCount, missing: [] },
      counts: { created: documentCount, updated: 0, unchanged: 0, skipped: 1, failed: 0 },
      planned: documentCount,
      requests: documentCount,
      failures: [],
    });
  }

  async function expectNothingLeft(service: TestService): Promise<void> {
    const { code, stderr } = await run(service, ["ingest", ...inputs]);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining(`${documentCount} unchanged`),
    });
    expectEachOnce(service);
  }

  describe("shards at once send each document exactly once", () => {
    it("as processes with one state", async () => {
      const service = await startTestService({ files });
      await expectShards(service, runCli, () => []);
      expectEachOnce(service);
      await expectMerged(service);
      await expectNothingLeft(service);
      expect((await run(service, ["ingest", ...inputs, "--shard", "3/4"])).stderr).toContain(
        "unchanged",
      );
    });

    it("with a state each, as on machines, merged afterwards", async () => {
      const service = await startTestService({ files });
      const state = (index: number): string => join(service.folder, "..", `state-${index + 1}`);
      await expectShards(service, runHere, (index) => ["--state", state(index)]);
      expectEachOnce(service);
      await expectMerged(service);
      const names = shards.map((_, index) => `../state-${index + 1}.ndjson`);
      for (const [index, name] of names.entries()) {
        const args = ["state", "export", name, "--state", state(index)];
        expect(await run(service, args)).toMatchObject({ code: 0 });
      }
      expect(await run(service, ["state", "import", ...names, "--yes"])).toMatchObject({ code: 0 });
      await expectNothingLeft(service);
    });
  });
});

describe("state", () => {
  const count = 120;
  const files = Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`docs/${index}.md`, `# ${index}\n\nText.\n`]),
  );

  describe("state", () => {
    it("takes two imports while an upload runs, and loses nothing", async () => {
      const service = await startTestService({ files });
      const options = { cwd: service.folder, env: service.env };
      const run = (...args: string[]) => runHere(args, options);
      // What another machine has sent to another pair.
      const other = ["--state", join(service.folder, "other")];
      expect(await run("ingest", "docs", "--cc-pair-id", "7", ...other)).toMatchObject({ code: 0 });
      expect(await run("state", "export", "other.ndjson", ...other)).toMatchObject({ code: 0 });
      copyFileSync(join(service.folder, "other.ndjson"), join(service.folder, "copy.ndjson"));
      const atOnce = [
        ["ingest", "docs", "--cc-pair-id", "2"],
        ["state", "import", "other.ndjson", "--yes"],
        ["state", "import", "other.ndjson", "copy.ndjson", "--yes"],
      ];
      const ran = await Promise.all(atOnce.map((args) => runCli(args, options)));
      expect(ran.map(({ code, stderr }) => (code === 0 ? 0 : stderr))).toEqual([0, 0, 0]);
      for (const pair of ["2", "7"]) {
        const { stdout } = await run("state", "list", "--cc-pair-id", pair, "-o", "ndjson");
        expect(stdout.split("\n").filter(Boolean)).toHaveLength(count);
        const again = await run("ingest", "docs", "--cc-pair-id", pair);
        expect(again.stderr).toContain(`${count} unchanged`);
      }
    });

    // Node's recursive mkdir never returned here; a process of its own can be ended.
    it.runIf(process.platform === "linux")("ends where no folder can be made", async () => {
      const { folder, env } = await startTestService({ files: { "a.md": "Text.\n" } });
      const args = ["ingest", "a.md", "--cc-pair-id", "2", "--state", "/proc/knowctl/state"];
      const { code, stderr } = await runCli(args, { cwd: folder, env });
      expect(code).toBe(14);
      expect(stderr).toContain("cannot create the state folder /proc/knowctl/state");
      expect(stderr).toContain("--no-state");
    });

    it.runIf(process.platform === "linux").each([
      [["ingest", "a.md", "--cc-pair-id", "2", "--report", "/proc/knowctl/r.json"], 2],
      [["sandbox", "--port", "0", "--data", "/proc/knowctl/data"], 14],
      [["config", "set", "baseUrl", "http://127.0.0.1:1"], 14],
    ])("ends where no folder can be made: %j", async (args, code) => {
      const { folder, env } = await startTestService({ files: { "a.md": "Text.\n" } });
      const noHome = { ...env, HOME: "/proc/knowctl", XDG_CONFIG_HOME: "/proc/knowctl/config" };
      const ran = await runCli(args, { cwd: folder, env: code === 2 ? env : noHome });
      expect(ran).toMatchObject({ code, stderr: expect.stringContaining("/proc/knowctl") });
    });
  });
});

describe("converted", () => {
  const worker = join(projectFolder, "dist", "worker.cjs");
  const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
  const space = Buffer.alloc(65 * 1024 * 1024, " ");

  const hostile: Record<string, readonly [content: string | Uint8Array, reason: RegExp]> = {
    "nested.html": ["<div>".repeat(20_000), /nested more than 5000 levels deep/],
    "formats.html": [
      numbers(6000)
        .map((n) => `<b id=a${n}>`)
        .join("") + "<p>x",
      /5000 levels deep/,
    ],
    "attributes.html": [
      `<p ${numbers(200_000)
        .map((n) => `a${n}=1`)
        .join(" ")}>x`,
      /1000 attributes/,
    ],
    "bomb.docx": [
      docx("", { "word/document.xml": space }),
      /larger than the limit for one document/,
    ],
    "entities.docx": [
      zip({ "word/document.xml": '<!DOCTYPE d [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><d>&b;</d>' }),
      /declares a document type/,
    ],
    "nested.docx": [docx("<w:p>".repeat(20_000)), /1000 levels deep/],
  };
  const good: Record<string, string | Uint8Array> = {
    "a.html": "<h1>A</h1><p>b",
    "b.docx": docx("<w:p><w:r><w:t>c</w:t></w:r></w:p>"),
    "c.md": "# C\n",
  };

  function folderOf(files: Record<string, string | Uint8Array>): string {
    const root = temporaryFolder();
    mkdirSync(root, { recursive: true });
    for (const [path, content] of Object.entries(files)) writeFileSync(join(root, path), content);
    return root;
  }

  const reasonOf = (looked: Looked): string =>
    looked.kind === "failed" ? looked.reason : looked.kind;

  it("a file that exhausts a library fails by name, and the others are read", async () => {
    const files = Object.fromEntries(
      Object.entries(hostile).map(([path, [content]]) => [path, content]),
    );
    const root = folderOf({ ...files, ...good });
    const pair = { ccPairId: 2, fromFlag: false };
    const inspector = await openInspector({ settings: { root }, pair }, worker, 0);
    onTestFinished(() => inspector.close());
    const paths = ["a.html", ...Object.keys(hostile), "b.docx", "c.md"];
    const items = paths.map((path) => {
      return { path, absolutePath: undefined, stamp: undefined, content: undefined };
    });
    const looked = (await inspector.look(items)).map(reasonOf);
    expect(looked[0]).toBe("document");
    for (const [index, [path, [, reason]]] of Object.entries(hostile).entries()) {
      expect(looked[index + 1]).toMatch(reason);
      expect(looked[index + 1]?.startsWith(`${path}: `)).toBe(true);
    }
    expect(looked.slice(-2)).toEqual(["document", "document"]);
  });

  const fileIn = (root: string, path: string): AloneTask => ({
    kind: "explain",
    file: {
      path,
      absolutePath: join(root, path),
      sizeBytes: 1,
      stamp: "",
      mtimeMs: 0,
      facts: undefined,
    },
    row: undefined,
  });

  it("a thread explains one file, and fails for it as this thread does", async () => {
    const root = folderOf({ ...good, "bad.html": hostile["attributes.html"]?.[0] ?? "" });
    const settings = { root };
    const explain = (path: string): Promise<Explanation> =>
      runAlone(worker, { alone: fileIn(root, path), settings, checks: undefined }, path);
    expect((await explain("a.html")).document).toMatchObject({ title: "A" });
    await expect(explain("bad.html")).rejects.toMatchObject({
      exit: "usage",
      message: "bad.html: an element has more than 1000 attributes",
      hints: ["exclude the file"],
    });
  });

  it("a thread reads the text of stdin", async () => {
    const settings = { root: temporaryFolder() };
    const read = (text: string): Promise<Prepared> => {
      const target = { id: "x", format: "html" } as const;
      const pair = { ccPairId: 2, fromFlag: true };
      const alone: AloneTask = { kind: "text", bytes: Buffer.from(text), target, pair };
      return runAlone(worker, { alone, settings, checks: undefined }, "stdin");
    };
    const prepared = await read("<h1>A</h1><p>b &lt;c>");
    const body = prepared.kind === "document" ? Buffer.from(prepared.body).toString() : "";
    expect(JSON.parse(body)).toMatchObject({
      document: { id: "x", sections: [{ text: "# A\n\nb \\<c>\n" }] },
      cc_pair_id: 2,
    });
    expect(await read(String(hostile["attributes.html"]?.[0]))).toMatchObject({
      kind: "failed",
      id: "x",
      reason: "stdin: an element has more than 1000 attributes; exclude the file",
    });
  });

  it.each([
    ["for (const all = []; ; ) all.push(new Array(1_000_000).fill(1));", "needs too much memory"],
    ["process.exit(1)", "ended unexpectedly"],
  ])("a thread that is lost fails its text: %s", async (code, reason) => {
    const script = join(folderOf({ "thread.cjs": code }), "thread.cjs");
    const data = { alone: fileIn("/", "a.html"), settings: { root: "/" }, checks: undefined };
    await expect(runAlone(script, data, "a.html")).rejects.toThrow(reason);
  });
});
