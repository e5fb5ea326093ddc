import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { main } from "../../../main.ts";
import { type TestService, type TestServiceOptions, startTestService } from "../../../service.ts";
import { createTestContext } from "../../../support.ts";
import { acceptedIds, lastAccepted, startGitService } from "../support.ts";

describe("links", () => {
  /** Runs a command line; `cwd` is relative to the service's folder. */
  async function run(service: TestService, args: string, cwd = ".") {
    const context = createTestContext({ cwd: join(service.folder, cwd), env: service.env });
    const code = await main(args.split(" "), context);
    return { code, stdout: context.stdoutText(), stderr: context.stderrText() };
  }

  /** Lines `class id: reason`. */
  async function orphansOf(service: TestService, scope = "."): Promise<string[]> {
    const { stdout } = await run(
      service,
      `prune ${scope} --cc-pair-id 2 --tombstone --dry-run --max-delete 100% --class excluded -o json`,
    );
    const all = JSON.parse(stdout) as { class: string; id: string; reason: string }[];
    return all.map(
      (each) =>
        `${each.class} ${each.id}: ${each.reason.replace("; its document was not removed", "")}`,
    );
  }

  const upload = (paths: string): string => `ingest ${paths} --cc-pair-id 2`;

  const files = {
    "README.md": "# Read me\n",
    "docs/a.md": "# A\n",
    "z/b.md": "# B\n",
    ".hide/d.md": "# D\n",
  };
  const links = {
    "docs/README.md": "../README.md",
    "docs/link": "../z",
    "docs/shown.md": "../.hide/d.md",
  };

  function link(service: TestService, all: Record<string, string> = links): void {
    for (const [path, target] of Object.entries(all)) {
      mkdirSync(dirname(join(service.folder, path)), { recursive: true });
      symlinkSync(target, join(service.folder, path));
    }
  }

  async function start(options: TestServiceOptions = {}): Promise<TestService> {
    const service = await startTestService({ files, ...options });
    link(service);
    return service;
  }

  const ids = [".hide/d.md", "README.md", "docs/a.md", "z/b.md"];

  describe("a file that links lead to has one id", () => {
    const ways: [paths: string, cwd: string][] = [
      [".", "."],
      ["docs", "."],
      [".", "docs"],
      ["docs/README.md docs/link/b.md docs/shown.md docs/a.md", "."],
      ["README.md shown.md a.md link", "docs"],
      ["README.md z .hide/d.md docs/a.md", "."],
      ["../README.md b.md ../.hide/d.md ../docs/a.md", "z"],
      ["docs/*.md docs/*/*.md", "."],
    ];

    it("whatever the paths and the folder of the command", async () => {
      const service = await start();
      const list = "state list --fields path,id -o tsv";
      const recorded = new Set<string>();
      const expectUnchanged = async ([paths, cwd]: [string, string]): Promise<void> => {
        const { code, stderr } = await run(service, upload(paths), cwd);
        expect(code, paths).toBe(0);
        expect(stderr, paths).toContain("4 unchanged");
        expect(stderr, paths).not.toContain("no longer found");
      };
      for (const [at, [paths, cwd]] of ways.entries()) {
        service.sandbox.ledger.documents.clear();
        const first = await run(service, upload(`${paths} --overwrite`), cwd);
        expect(first, paths).toMatchObject({ code: 0 });
        expect(acceptedIds(service), paths).toEqual(ids);
        // Each way leaves the same records, so that one of them stands for all that is found again.
        recorded.add((await run(service, list)).stdout);
        for (const again of at === 0 ? ways : [ways[(at + 1) % ways.length]!])
          await expectUnchanged(again);
        expect(acceptedIds(service)).toEqual(ids);
        rmSync(join(service.folder, ".knowctl"), { recursive: true });
      }
      expect(recorded.size).toBe(1);
    });

    it("in every shard", async () => {
      const service = await start();
      for (const shard of ["1/3", "2/3", "3/3"]) {
        expect(await run(service, upload(`docs --shard ${shard}`))).toMatchObject({ code: 0 });
      }
      expect(acceptedIds(service)).toEqual(ids);
    });

    it("without a state too", async () => {
      const service = await start();
      expect(await run(service, upload("docs . --no-state"))).toMatchObject({ code: 0 });
      expect(acceptedIds(service)).toEqual(ids);
    });
  });

  describe("a document behind a link", () => {
    it("is no orphan while its file is there, and gone when the file is", async () => {
      const service = await start();
      expect(await run(service, upload("."))).toMatchObject({ code: 0 });
      expect(await orphansOf(service)).toEqual([]);
      rmSync(join(service.folder, "docs/shown.md"));
      rmSync(join(service.folder, "docs/README.md"));
      expect(await orphansOf(service)).toEqual([
        "excluded .hide/d.md: the file exists, but is now excluded or ignored",
      ]);
      expect(await orphansOf(service, "docs")).toEqual([]);
      rmSync(join(service.folder, ".hide/d.md"));
      expect(await orphansOf(service)).toEqual(["gone .hide/d.md: the file is gone"]);
    });

    it("is explained by its real path and the link", async () => {
      const service = await start();
      for (const path of ["docs/shown.md", ".hide/d.md"]) {
        const { code, stdout } = await run(service, `explain ${path} --json`);
        expect(code).toBe(0);
        expect(JSON.parse(stdout)).toMatchObject({
          path: ".hide/d.md",
          isIncluded: true,
          reason: "found in the project root through the symbolic link docs/shown.md",
        });
      }
    });

    it("of rows is explained as left out, unless it is named", async () => {
      const service = await start({ files: { ...files, "z/r.csv": "id,text\n1,x\n" } });
      const { stdout } = await run(service, "explain docs/link/r.csv --json");
      expect(JSON.parse(stdout)).toMatchObject({
        path: "z/r.csv",
        isIncluded: false,
        reason: "row files are included only when named or matched by a glob",
      });
    });

    it("fails and is mended under its real path", async () => {
      const service = await start();
      writeFileSync(join(service.folder, "README.md"), Buffer.from([0x66, 0xff, 0xfe, 0xff]));
      expect(await run(service, upload("docs"))).toMatchObject({ code: 10 });
      writeFileSync(join(service.folder, "README.md"), "");
      expect(await run(service, upload("docs"))).toMatchObject({ code: 0 });
      expect((await run(service, "retry --cc-pair-id 2")).stderr).toContain("nothing to retry");
    });
  });

  describe("a document of a file that moved and left a link in its place", () => {
    /** Uploads files, then moves them and puts links in their place. */
    async function startRecorded(text = "# Same\n"): Promise<TestService> {
      const service = await startTestService({
        files: { "docs/README.md": text, "docs/link/b.md": text.replace("same", "b") },
      });
      expect(await run(service, upload("docs"))).toMatchObject({ code: 0 });
      // Renaming a folder leaves the stamps of its files as they are.
      for (const [from, to] of [
        ["docs/README.md", "README.md"],
        ["docs/link", "z"],
      ] as const) {
        renameSync(join(service.folder, from), join(service.folder, to));
      }
      link(service, { "docs/README.md": "../README.md", "docs/link": "../z" });
      return service;
    }

    it.each(["docs", ".", "docs/README.md docs/link", "README.md z"])(
      "is sent under the real one by ingest %s, and the old one is an orphan",
      async (paths) => {
        const service = await startRecorded();
        expect(acceptedIds(service)).toEqual(["docs/README.md", "docs/link/b.md"]);
        const result = await run(service, upload(paths));
        expect(result).toMatchObject({ code: 0 });
        expect(result.stderr).toContain("2 created");
        for (const scope of ["docs", "."]) {
          expect(await orphansOf(service, scope)).toEqual([
            "row-gone docs/README.md: the file has another id now: its real path is README.md",
            "row-gone docs/link/b.md: the file has another id now: its real path is z/b.md",
          ]);
        }
      },
    );

    it.each(["docs", "README.md z"])("keeps an id of its own with ingest %s", async (paths) => {
      const service = await startRecorded("---\nid: same\n---\n# Same\n");
      expect(acceptedIds(service)).toEqual(["b", "same"]);
      const again = await run(service, upload(`${paths} --force`));
      expect(again.stderr).not.toContain("two files have the same document id");
      expect(again).toMatchObject({ code: 0 });
      expect((await run(service, upload(paths))).stderr).toContain("2 unchanged");
      expect(await orphansOf(service)).toEqual([]);
    });
  });

  it("--since looks at what links lead to, also through a new link", async () => {
    const service = await startGitService({ files: { ...files, "y/e.md": "# E\n" } });
    link(service);
    service.commit();
    expect(await run(service, upload("docs"))).toMatchObject({ code: 0 });
    writeFileSync(join(service.folder, "z/b.md"), "# B changed\n");
    const changed = await run(service, upload("docs --since HEAD"));
    expect(changed).toMatchObject({ code: 0 });
    expect(changed.stderr).toContain("1 updated");
    link(service, { "docs/e.md": "../y/e.md" });
    const added = await run(service, upload("docs --since HEAD"));
    expect(added.stderr).toContain("1 created");
    expect(acceptedIds(service)).toEqual([...ids, "y/e.md"].toSorted());
  });

  it("a file behind a committed link has the date of its own last commit", async () => {
    const service = await startGitService({ files });
    link(service);
    service.commit();
    writeFileSync(join(service.folder, "z/b.md"), "# B changed\n");
    service.commit("2022-02-02T00:00:00Z");
    expect(await run(service, upload("docs --updated-at git"))).toMatchObject({ code: 0 });
    const dates = ids.map((id) => lastAccepted(service, id)?.doc_updated_at);
    const old = "2020-01-01T00:00:00Z";
    expect(dates).toEqual([old, old, old, "2022-02-02T00:00:00Z"]);
    expect((await run(service, upload(". --updated-at git"))).stderr).toContain("4 unchanged");
  });
});

describe("same link", () => {
  const files = {
    "docs/a.md": "One.\n",
    "docs/a.txt": "Two.\n",
    "docs/a/index.md": "Three.\n",
    "docs/b.md": "Four.\n",
    "docs/own.md": "---\nlink: https://x.example/docs/a\n---\nFive.\n",
    "rows.csv": "title,text\nPen,Blue\nInk,Black\n",
  };

  async function run(args: string): Promise<{ code: number; stderr: string }> {
    const { folder: cwd, env } = await startTestService({ files });
    const context = createTestContext({ cwd, env });
    const code = await main([...args.split(" "), "--link", "https://x.example/{slug}"], context);
    return { code, stderr: context.stderrText() };
  }

  describe("a template that makes one link for several files", () => {
    const line =
      "2 documents have the link of another document (first: docs/a.md and docs/a.txt: https://x.example/docs/a)";
    it.each([
      "convert docs rows.csv",
      "ingest docs rows.csv --cc-pair-id 2",
      "ingest docs --dry-run --cc-pair-id 2",
    ])("is counted in one line: %s", async (args) => {
      const { code, stderr } = await run(args);
      expect(code).toBe(0);
      expect(stderr).toContain(line);
      expect(stderr.split("link of another")).toHaveLength(2);
    });
  });
});
