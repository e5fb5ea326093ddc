import { existsSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { LintSetup } from "../../../src/checks/lint/examine.ts";
import { loadExamine } from "../../../src/checks/lint/load-examine.ts";
import { loadInspector } from "../../../src/documents/inspect/inspect.ts";
import type { InspectSetup, LookItem, Looked } from "../../../src/documents/inspect/inspection.ts";
import { loadIdentify } from "../../../src/documents/inspect/identify.ts";
import { createPool } from "../../../src/documents/inspect/pool.ts";
import { stampOf } from "../../../src/documents/files/source-file.ts";
import { projectFolder, runCli, temporaryFolder } from "../../support.ts";
import { filesInThisThread } from "../../../src/documents/inspect/open-inspector.ts";
import { startTestService } from "../../service.ts";

describe("threads", () => {
  const worker = join(projectFolder, "dist", "worker.cjs");
  const png = Buffer.from("\x89PNG\r\n\x1a\none", "latin1");

  const files: Record<string, string | Uint8Array> = {
    "plain.md": "# ä\n",
    "own.md": "---\nid: of its own\nupdated: 2026-01-02\n---\nText.\n",
    "pair.md": "Text.\n",
    "broken.md": "---\na: [\n---\n",
    "draft.md": "---\ndraft: true\n---\nText.\n",
    "access.md": "---\nprivate: true\n---\nText.\n",
    "images.md": "![one](one.png)\n\n![gone](gone.png)\n\n<!-- x",
    "one.png": png,
    "real/elsewhere.md": "Text.\n",
    "recorded.md": "Text.\n",
    "[x].md": "Text.\n",
    '"q"\\.md': "Text.\n",
    "line\nend.md": "Text.\n",
    "b/c d.md": "Text.\n",
    "ä/\u{1f600}|.md": "Text.\n",
  };

  /** With the bytes as text, and without the stamp: a fresh one is not always trusted. */
  function comparable(looked: Looked): unknown {
    if (looked.kind === "document") {
      return { ...looked, body: Buffer.from(looked.body).toString(), stamp: "" };
    }
    return looked.kind === "skipped" ? { ...looked, stamp: "" } : looked;
  }

  it("a thread gives for every kind of file what this thread gives", async () => {
    const root = temporaryFolder();
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), content);
    }
    const setup: InspectSetup = {
      settings: {
        root,
        images: "upload",
        metaCommit: true,
        rules: [{ match: "pair.md", ccPairId: 7 }],
      },
      pair: { ccPairId: undefined, fromFlag: false },
    };
    const items: LookItem[] = Object.keys(files)
      .filter((path) => path.endsWith(".md"))
      .map((path) => ({ path, absolutePath: undefined, stamp: undefined, content: undefined }));
    items.push(
      { ...items[0]!, path: "gone.md" },
      { ...items[0]!, path: "linked.md", absolutePath: join(root, "real/elsewhere.md") },
      { ...items[0]!, facts: { commit: { id: "abc", date: "2026-01-02T00:00:00Z" } } },
      {
        ...items[0]!,
        path: "recorded.md",
        stamp: stampOf(lstatSync(join(root, "recorded.md"), { bigint: true })),
      },
    );
    const pool = createPool(worker, setup, { size: 1 });
    onTestFinished(() => pool.close());
    const expected = (await (await loadInspector(setup)).look(items)).map(comparable);
    const kinds = (expected as Looked[]).map(({ kind }) => kind);
    expect(new Set(kinds)).toEqual(new Set(["document", "failed", "skipped", "same"]));
    expect(expected).toContainEqual(expect.objectContaining({ images: 1, ownPair: undefined }));
    expect(expected).toContainEqual(expect.objectContaining({ ownPair: 7 }));
    const half = items.length >> 1;
    // Two tasks: the bodies of the second one need memory that the first has not taken away.
    const looked = await Promise.all([
      pool.look(items.slice(0, half)),
      pool.look(items.slice(half)),
    ]);
    expect(looked.flat().map(comparable)).toEqual(expected);
  });

  it("a thread identifies files like this thread", async () => {
    const root = temporaryFolder();
    const some = { "own.md": "---\nid: x\n---\n", "ü.md": "# A\n", "a.txt": "A", "b.md.gz": "x" };
    for (const [name, text] of Object.entries(some)) writeFileSync(join(root, name), text);
    const items = [...Object.keys(some), "gone.md"].map((path) => ({
      path,
      absolutePath: undefined,
    }));
    const pair = { ccPairId: 2, fromFlag: false };
    const pool = createPool(worker, { settings: { root }, pair }, { size: 1 });
    onTestFinished(() => pool.close());
    const expected = items.map(await loadIdentify({ root }));
    expect(expected.map((each) => each?.id)).toEqual(["x", "ü.md", "a.txt", undefined, undefined]);
    expect(await pool.identify(items)).toEqual(expected);
  });

  it("a thread examines pages like this thread", async () => {
    const root = temporaryFolder();
    writeFileSync(join(root, "empty.md"), "---\ntitle: T\n---\n");
    const checks: LintSetup = { config: {}, only: ["empty"], keys: [] };
    const pair = { ccPairId: undefined, fromFlag: false };
    const setup: InspectSetup = { settings: { root }, pair, checks, onlyExamines: true };
    const items = [
      { path: "empty.md", absolutePath: undefined, stamp: undefined, content: undefined },
    ];
    const pool = createPool(worker, setup, { size: 1 });
    onTestFinished(() => pool.close());
    const expected = (await (await loadInspector(setup, loadExamine)).look(items)).map(comparable);
    expect(expected).toMatchObject([{ report: expect.stringContaining('"rule":"empty"') }]);
    expect((await pool.look(items)).map(comparable)).toEqual(expected);
  });
});

describe("unchanged", () => {
  const preload = join(projectFolder, "test", "fixtures", "threads", "count-opens.cjs");
  // Enough for the threads that look at files to be started.
  const many = filesInThisThread + 50;

  /** A service, and a run that gives how many documents it has opened. */
  async function start(count: number) {
    const names = Array.from({ length: count }, (_, index) => `docs/d${index % 25}/${index}.md`);
    const files = Object.fromEntries(names.map((name) => [name, `# ${name}\n`]));
    const service = await startTestService({ files });
    const list = join(service.folder, "opened.txt");
    const env = { ...service.env, NODE_OPTIONS: `--require ${preload}`, OPENED_LIST: list };
    const run = async (...flags: string[]): Promise<number> => {
      const before = existsSync(list) ? readFileSync(list, "utf8").length : 0;
      const args = ["ingest", "docs", "--cc-pair-id", "2", ...flags];
      const result = await runCli(args, { cwd: service.folder, env });
      expect(result, result.stderr).toMatchObject({ code: 0 });
      const text = existsSync(list) ? readFileSync(list, "utf8").slice(before) : "";
      return text.split("\n").length - 1;
    };
    return { service, run };
  }

  it("opens each new document twice, none when nothing changed; --checksum opens each once", async () => {
    const { service, run } = await start(many);
    expect(await run("--concurrency", "32")).toBe(2 * many);
    const requests = service.sandbox.ledger.requestCount;
    expect(await run()).toBe(0);
    expect(await run("--checksum")).toBe(many);
    expect(service.sandbox.ledger.requestCount).toBe(requests);
  });
});
