import { rmSync, utimesSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { openDatabase } from "../../../../src/database.ts";
import { type TestService, startTestService, writeFiles } from "../../../service.ts";
import { acceptedIds, lastAccepted, runIngest } from "../support.ts";
import { expectRun, runIn } from "../../state/support.ts";
import type { FaultRule } from "../../../../src/sandbox/http/faults.ts";

describe("advance", () => {
  /** What the sandbox holds, not what it was sent: it leaves out what has not advanced. */
  async function stored(service: TestService, id = "docs/a.md"): Promise<unknown> {
    const database = await openDatabase(join(dirname(service.folder), "sandbox", "sandbox.sqlite"));
    const row = database
      .prepare("SELECT metadata FROM documents WHERE id = ?")
      .get(encodeURIComponent(id));
    database.close();
    return JSON.parse(String(row?.["metadata"]));
  }

  const page = (team: number, date: string | undefined): string =>
    `---\nteam: ${team}\n${date === undefined ? "" : `date: ${date}\n`}---\n# A\n\nThe same text.\n`;

  const [past, future] = ["2024-01-01", "2040-01-01"];

  describe("metadata alone, where the service wants a later date", () => {
    it("arrives, whatever dates the file has had", async () => {
      const histories: (string | undefined)[][] = [
        [past, past, past, past],
        [undefined, undefined, undefined],
        [past, undefined, undefined],
        [undefined, past, past],
        [future, past, past],
        [future, undefined, undefined],
      ];
      const service = await startTestService({ dialect: "onyx" });
      for (const team of [0, 1, 2, 3]) {
        const dated = histories.map((dates, index) => [`docs/${index}.md`, dates] as const);
        const changed = dated.filter(([, dates]) => team < dates.length);
        const pages = changed.map(([path, dates]) => [path, page(team, dates[team])]);
        writeFiles(service.folder, Object.fromEntries(pages) as Record<string, string>);
        expect((await runIngest(service, ["docs"])).error).toBeUndefined();
        for (const [path, dates] of changed)
          expect(await stored(service, path), dates.join()).toEqual({ team: String(team) });
      }
    });

    it("arrives under another pair, and under the first one again", async () => {
      const service = await startTestService({ dialect: "onyx" });
      for (const [team, ccPairId] of [2, 7, 7, 2].entries()) {
        writeFiles(service.folder, { "docs/a.md": page(team, past) });
        expect((await runIngest(service, ["docs"], { ccPairId })).error).toBeUndefined();
        expect(await stored(service)).toEqual({ team: String(team) });
      }
    });

    describe("after the state was lost", () => {
      const lose = (service: TestService): void =>
        rmSync(join(service.folder, ".knowctl"), { recursive: true });

      /** A service that has a document whose date was moved on before. */
      async function startLost(): Promise<TestService> {
        const service = await startTestService({ dialect: "onyx" });
        for (const team of [0, 1, 2]) {
          writeFiles(service.folder, { "docs/a.md": page(team, past) });
          expect((await runIngest(service, ["docs"])).stderr).not.toContain("warning");
        }
        lose(service);
        writeFiles(service.folder, { "docs/a.md": page(3, past) });
        return service;
      }

      it("is said to be in doubt, and the next change arrives", async () => {
        const service = await startLost();
        const { stderr } = await runIngest(service, ["docs"]);
        expect(stderr).toContain("may have ignored changes");
        expect(stderr).toContain("--force");
        expect(await stored(service)).toEqual({ team: "2" });
        writeFiles(service.folder, { "docs/a.md": page(4, past) });
        expect((await runIngest(service, ["docs"])).stderr).not.toContain(
          "may have ignored changes",
        );
        expect(await stored(service)).toEqual({ team: "4" });
      });

      it.each<[string, Parameters<typeof runIngest>[2], number[]]>([
        ["with a state, again and again", {}, [3, 4]],
        ["without one", { state: false }, [3]],
      ])("arrives with force: %s", async (_, options, teams) => {
        const service = await startLost();
        for (const team of teams) {
          writeFiles(service.folder, { "docs/a.md": page(team, past) });
          const { stderr } = await runIngest(service, ["docs"], { ...options, force: true });
          expect(stderr).not.toContain("may have ignored changes");
          expect(await stored(service)).toEqual({ team: String(team) });
        }
      });
    });
  });
});

describe("changed options", () => {
  // The members stand in another order than the sorted ones of the state.
  const config = {
    ingest: {
      link: "https://docs.example.com/{path}",
      metadata: { team: "people", area: "office" },
      rules: [{ tags: ["people"], match: "docs/**" }],
      frontMatter: { title: ["label"], id: ["uid"] },
    },
  };

  it("names no option as the reason where only a linked file changed", async () => {
    const started = await startTestService({
      files: {
        ".cliconfig.json": JSON.stringify(config),
        "docs/a.md": "# A\n\nSee [the other page](b.md).\n",
        "docs/b.md": "# B\n\nText.\n",
      },
    });
    const service = { ...started, env: { ...started.env, KNOWCTL_TRUST_PROJECT: "1" } };
    await expectRun(service, "ingest docs --cc-pair-id 2", 0);
    rmSync(join(service.folder, "docs/b.md"));
    const linked = await runIn(service, "ingest docs --cc-pair-id 2");
    expect(linked.stderr).toContain("1 updated");
    expect(linked.stderr).not.toContain("changed:");
    const { metadata: _, ...rest } = config.ingest;
    const other = { ingest: { ...rest, metadata: { team: "all" } } };
    writeFiles(service.folder, { ".cliconfig.json": JSON.stringify(other) });
    const changed = await runIn(service, "ingest docs --cc-pair-id 2");
    expect(changed.stderr).toContain("1 changed: metadata changed");
  });
});

describe("file date", () => {
  const dated = (year: number): string => `---\nupdated: ${year}-01-01\n---\n# Dated\n\nText.\n`;
  const files = { "docs/dated.md": dated(2024), "docs/plain.md": "# Plain\n\nText.\n" };

  it("the time of a file alone sends nothing again, a date that is written does", async () => {
    const service = await startTestService({ files });
    const run = async () => (await runIngest(service, ["docs"], { updatedAt: "mtime" })).stderr;
    expect(await run()).toContain("2 created");
    for (const path of Object.keys(files)) utimesSync(join(service.folder, path), 1e9, 1e9);
    expect(await run()).toContain("2 unchanged");
    writeFiles(service.folder, { "docs/dated.md": dated(2025) });
    expect(await run()).toContain("1 updated, 1 unchanged");
    expect(lastAccepted(service, "docs/dated.md")?.doc_updated_at).toBe("2025-01-01T00:00:00Z");
  });

  it("taking the time of files, or no more, sends those that have no other date", async () => {
    const service = await startTestService({ files });
    await runIngest(service, ["docs"]);
    const taken = await runIngest(service, ["docs"], { updatedAt: "mtime" });
    expect(taken.stderr).toContain("1 updated, 1 unchanged");
    expect(lastAccepted(service, "docs/plain.md")?.doc_updated_at).toMatch(/Z$/);
    const plan = await runIngest(service, ["docs"], { dryRun: true });
    expect(plan.stdout + plan.stderr).toMatch(/plain\.md.*\bdate/);
    expect((await runIngest(service, ["docs"])).stderr).toContain("1 updated, 1 unchanged");
    expect(lastAccepted(service, "docs/plain.md")).not.toHaveProperty("doc_updated_at");
  });
});

describe("id change", () => {
  const files = Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => [`docs/${index}.md`, `# Page ${index}\n`]),
  );
  const line = "ingest docs --cc-pair-id 2";

  it("a forgotten prefix sends nothing, also in a shard, and names both ways on", async () => {
    const rules: FaultRule[] = [];
    const service = await startTestService({ files, faults: { rules } });
    await expectRun(service, `${line} --id-prefix kb/`, 0);
    const planned = await expectRun(service, `${line} --dry-run`, 0);
    const text =
      "40 of 40 recorded documents would be sent a second time, under another id (first: kb/docs/0.md → docs/0.md)";
    expect(planned.stderr.match(/^warning: .*/gm)).toEqual([
      `warning: ${text}: the upload is refused; repeat the recorded prefix: --id-prefix kb/; ` +
        "or send them under the new ids with --allow-id-change: the earlier ones stay until " +
        "`knowctl prune --tombstone --class other-options --class row-gone`",
    ]);
    await expectRun(
      service,
      line,
      2,
      `error: ${text}; nothing was sent`,
      "repeat the recorded prefix: --id-prefix kb/",
    );
    // The documents of all shards are counted, so that each shard refuses.
    for (let part = 1; part <= 20; part++) {
      const ran = await runIn(service, `${line} --shard ${part}/20`);
      // A shard without a document has nothing to refuse.
      if (!ran.stderr.includes("nothing to do")) expect(ran, ran.stderr).toMatchObject({ code: 2 });
    }
    expect(service.sandbox.ledger.documents.size).toBe(40);
    await expectRun(service, `${line} --id-prefix kb/`, 0);
    // A retry repeats what an upload was allowed to.
    const refused = { status: 400, body: { detail: "refused" } };
    for (const documentId of ["docs/1.md", "docs/2.md", "docs/3.md", "docs/4.md"]) {
      rules.push({ when: { method: "POST", documentId }, do: refused });
    }
    await expectRun(service, `${line} --allow-id-change`, 10);
    rules.length = 0;
    await expectRun(service, "retry", 0, "4 created");
    expect(service.sandbox.ledger.documents.size).toBe(80);
  });

  it("a prefix that is new is a change too, also by a state that another machine brought", async () => {
    const service = await startTestService({
      files: { "docs/a.md": "# A\n", "docs/b.md": "# B\n" },
    });
    await expectRun(service, `${line} --state first`, 0);
    await runIn(service, "state export all.ndjson --state first");
    await runIn(service, "state import all.ndjson --yes");
    await expectRun(service, `${line} --id-prefix docs-old/`, 2, '--id-prefix ""');
  });

  it("counts only the documents of the run, and a tenth of them", async () => {
    const service = await startTestService({ files });
    await expectRun(service, line, 0);
    const own = (names: number[]): Record<string, string> =>
      Object.fromEntries(
        names.map((name) => [`docs/${name}.md`, `---\nid: own-${name}\n---\n# A\n`]),
      );
    writeFiles(service.folder, own([0, 1, 2]));
    expect((await runIn(service, line)).code).toBe(0);
    writeFiles(service.folder, own([3, 4, 5, 6]));
    expect((await runIn(service, line)).code).toBe(2);
    expect((await runIn(service, "ingest docs/3.md --cc-pair-id 2")).code).toBe(0);
    expect((await runIn(service, "ingest docs/4.md docs/5.md --cc-pair-id 2")).code).toBe(2);
  });

  it("takes another row at the same place for another row", async () => {
    const csv = (names: string[]): string =>
      ["id,text", ...names.map((each) => `${each},x`)].join("\n");
    const service = await startTestService({ files: { "r.csv": csv(["a", "b", "c"]) } });
    const rows = "ingest r.csv --cc-pair-id 2 --map id=id,title=id,text=text";
    await expectRun(service, rows, 0);
    writeFiles(service.folder, { "r.csv": csv(["d", "e", "f"]) });
    await expectRun(service, rows, 0);
  });
});

describe("picking", () => {
  it("an upload and its plan refuse to pick instead of writing all", async () => {
    const service = await startTestService({ files: { "docs/a.md": "A\n" } });
    for (const flags of [
      "--jq .counts",
      "--filter action=new",
      "--fields path",
      "--dry-run --jq .counts",
    ]) {
      const ran = await expectRun(
        service,
        `ingest docs --cc-pair-id 2 -o json ${flags}`,
        2,
        "| jq",
      );
      expect(ran.stdout).toBe("");
    }
    expect(acceptedIds(service)).toEqual([]);
  });

  it("what the environment asks of every list is no mistake here", async () => {
    const service = await startTestService({ files: { "docs/a.md": "A\n" } });
    const env = { ...service.env, KNOWCTL_FIELDS: "name" };
    await expectRun({ folder: service.folder, env }, "ingest docs --cc-pair-id 2", 0, "1 created");
  });
});

describe("short key", () => {
  const broken = "---\nupdated: yesterday\n---\n# B\n";
  const key = "handbook";
  const upload = "ingest docs --cc-pair-id 2 --id-prefix handbook/";

  function start() {
    const files = { "docs/a.md": "# A\n", "docs/b.md": "# B\n" };
    return startTestService({ files, dialect: "onyx", key });
  }

  /** A key of fewer than 16 characters may be an ordinary word of paths and ids. */
  describe("a short key that is a part of the ids", () => {
    it("is whole in what a retry sends, but is not taken from a report, which hides it", async () => {
      const service = await start();
      writeFiles(service.folder, { "docs/b.md": broken });
      await expectRun(service, `${upload} --report run.json`, 10);
      writeFiles(service.folder, { "docs/b.md": "# Good\n" });
      await expectRun(service, "retry run.json", 10, "docs/b.md: not sent: cannot tell its id");
      await expectRun(service, "retry", 0);
      const ids = [...service.sandbox.ledger.documents.keys()].toSorted();
      expect(ids).toEqual(["handbook/docs/a.md", "handbook/docs/b.md"]);
    });

    it("does not hide that another pair has a document", async () => {
      const service = await start();
      expect(
        await runIn(service, upload.replace("--cc-pair-id 2", "--cc-pair-id 7")),
      ).toMatchObject({
        code: 0,
      });
      rmSync(join(service.folder, ".knowctl"), { recursive: true });
      writeFiles(service.folder, { "docs/a.md": "# Other\n" });
      await expectRun(service, upload, 10);
    });

    it("makes no document an orphan, and keeps none from being deleted", async () => {
      const service = await start();
      await expectRun(service, upload, 0);
      const notices = "prune --cc-pair-id 2 --tombstone --yes --max-delete 100%";
      const ran = await expectRun(service, notices, 0, "nothing to remove");
      expect(ran.stderr).not.toContain("replaced");
      rmSync(join(service.folder, "docs/a.md"));
      const line = "prune . --cc-pair-id 2 --yes";
      await expectRun(service, line, 0);
      expect((await runIn(service, "state list --fields path -o tsv")).stdout).toBe("docs/b.md\n");
    });
  });
});
