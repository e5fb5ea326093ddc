import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openDatabase } from "../../../src/database.ts";
import { type TestService, startTestService, testKey, writeFiles } from "../../service.ts";
import { expectRun, runIn } from "../state/support.ts";
import { failedInReport, failedInState } from "../../../src/commands/retry/groups.ts";
import type { RunReport } from "../../../src/output/report/stored/record.ts";
import { type RecordedOptions, optionsJson } from "../../../src/sync/state/options.ts";
import { openTestState } from "../../sync/open-state.ts";

describe("retry", () => {
  const broken = "---\ntitle: [unclosed\n---\ntext\n";
  const files = {
    "docs/a.md": "# A\n\nOne.\n",
    "docs/bad.md": broken,
    "docs/sub/worse.md": broken,
  };
  const retry = "retry --cc-pair-id 2";

  /** One document sent, two failed; then one of the two is mended, and the one that was sent changes. */
  async function startFailed(): Promise<TestService> {
    const service = await startTestService({ files });
    const line = "ingest docs --cc-pair-id 2 --report run.json";
    await expectRun(service, line, 10);
    writeFiles(service.folder, { "docs/bad.md": "# Mended\n", "docs/a.md": "# A\n\nOther.\n" });
    return service;
  }

  const sentIds = (service: TestService): string[] =>
    [...service.sandbox.ledger.documents.entries()]
      .flatMap(([id, bodies]) => bodies.map(() => id))
      .toSorted();
  const failedPaths = async (service: TestService): Promise<string[]> => {
    const { stdout } = await runIn(service, "state list --status failed --fields path -o tsv");
    return stdout.split("\n").filter(Boolean);
  };

  describe("retry", () => {
    it.each([
      ["by the state", retry],
      ["by a report", "retry run.json --cc-pair-id 2"],
    ])("sends only what failed: %s", async (_name, line) => {
      const service = await startFailed();
      const { stdout } = await runIn(service, `${line} --dry-run --output ndjson`);
      expect(stdout).toContain('"action":"new","path":"docs/bad.md"');
      expect(stdout).not.toContain("docs/a.md");
      expect(sentIds(service)).toEqual(["docs/a.md"]);
      expect(await failedPaths(service)).toHaveLength(2);
      await expectRun(service, line, 10, "1 created, 1 failed");
      expect(sentIds(service)).toEqual(["docs/a.md", "docs/bad.md"]);
      expect(await failedPaths(service)).toEqual(["docs/sub/worse.md"]);
      writeFiles(service.folder, { "docs/sub/worse.md": "# Mended too\n" });
      await expectRun(service, retry, 0);
      expect(await failedPaths(service)).toEqual([]);
      expect(await runIn(service, retry)).toMatchObject({
        code: 0,
        stderr: "nothing to retry: no file failed last time\n",
      });
    });

    it.each([
      [{}, "ingest docs", "`knowctl retry` sends them again"],
      [{ "docs/bad.md": broken }, "ingest docs", "fix them, then run `knowctl retry`"],
      [{}, "ingest docs --no-state", "run the command again: it sends them again"],
      [{}, "ingest -", "send them again; accepted documents are not sent twice"],
    ])("is advised as what the failures need: %j, %s", async (more, line, advice) => {
      const rule = { when: { documentId: "docs/a.md" }, do: { status: 500, body: {} } };
      const good = { "docs/a.md": "# A\n", "docs/b.md": "# B\n" };
      const service = await startTestService({
        files: { ...good, ...more },
        faults: { rules: [rule] },
      });
      const stdin = '{"id":"docs/a.md","title":"A","sections":[{"text":"A"}]}\n';
      const given = line.endsWith("-") ? { stdin } : {};
      const { code, stderr } = await runIn(service, `${line} --cc-pair-id 2`, given);
      expect(code).toBe(10);
      expect(stderr).toContain(`→ ${advice}`);
    });

    it("takes the options of the last attempt, though that one stopped the run", async () => {
      const when = (nth: number) => ({ method: "POST", nth });
      const rules = [
        { when: when(1), do: { status: 400, body: {} } },
        { when: when(2), do: { status: 401, body: {} } },
      ];
      const service = await startTestService({
        files: { "docs/a.md": "# A\n" },
        faults: { rules },
      });
      await expectRun(service, "ingest docs --cc-pair-id 2", 10);
      await expectRun(service, "ingest docs --cc-pair-id 2 --tag late", 4);
      await expectRun(service, retry, 10);
      const [bodies] = service.sandbox.ledger.documents.values();
      expect(JSON.stringify(bodies)).toContain("late");
    });

    it("gives no file a second id where a failure is recorded without its options", async () => {
      const service = await startTestService({
        files: { "docs/a.md": "# A\n", "docs/b.md": "# B\n" },
      });
      const upload = "ingest docs --cc-pair-id 2 --id-prefix kb/";
      await expectRun(service, upload, 0);
      writeFiles(service.folder, { "docs/a.md": broken, "docs/new.md": broken });
      await expectRun(service, upload, 10);
      // As an earlier version of the state has it.
      const database = await openDatabase(join(service.folder, ".knowctl", "state.db"));
      database.exec("UPDATE failures SET options = NULL");
      database.close();
      const still = await expectRun(service, retry, 10, "2 documents failed");
      expect(still.stderr).not.toContain("would change");
      const again = await openDatabase(join(service.folder, ".knowctl", "state.db"));
      again.exec("UPDATE failures SET options = NULL");
      again.close();
      writeFiles(service.folder, { "docs/a.md": "# Mended\n", "docs/new.md": "# New\n" });
      await expectRun(
        service,
        retry,
        10,
        "its id would change from kb/docs/a.md to docs/a.md",
        "docs/new.md: not sent: cannot tell its id",
      );
      expect(sentIds(service)).toEqual(["kb/docs/a.md", "kb/docs/b.md"]);
      await expectRun(service, upload, 0);
    });

    it("is no success for a file that a pattern excludes now", async () => {
      const service = await startTestService({ files: { "docs/a.md": broken } });
      await expectRun(service, "ingest docs --cc-pair-id 2", 10);
      const config = JSON.stringify({ ingest: { exclude: ["docs/a.md"] } });
      writeFiles(service.folder, { "docs/a.md": "# A\n", ".cliconfig.json": config });
      await expectRun(service, retry, 10, "docs/a.md: not sent: a pattern excludes it");
      expect(await failedPaths(service)).toEqual(["docs/a.md"]);
    });

    it("does not take a file for deleted whose path holds the key", async () => {
      const name = `docs/${testKey}/x.md`;
      const service = await startTestService({ files: { [name]: broken } });
      await expectRun(service, "ingest docs --cc-pair-id 2", 10);
      writeFiles(service.folder, { [name]: "# X\n" });
      await expectRun(service, retry, 10, "the path docs/***/x.md is recorded without the key");
      expect(await failedPaths(service)).toEqual(["docs/***/x.md"]);
    });

    it("tells of files that are gone and forgets that they failed", async () => {
      const service = await startFailed();
      rmSync(join(service.folder, "docs/sub"), { recursive: true });
      await expectRun(service, retry, 0, "worse.md: the file is gone");
      expect(await failedPaths(service)).toEqual([]);
    });

    it("sends of a file of rows only those that are missing", async () => {
      const row = (id: string): string =>
        JSON.stringify({ id, semantic_identifier: id, sections: [{ text: id }], metadata: {} });
      const service = await startTestService({ files: { "rows.ndjson": `${row("a")}\n{"id":\n` } });
      await expectRun(service, "ingest rows.ndjson --cc-pair-id 2", 10, "1 created, 1 failed");
      writeFiles(service.folder, { "rows.ndjson": `${row("a")}\n${row("b")}\n` });
      await expectRun(service, retry, 0);
      expect(sentIds(service)).toEqual(["a", "b"]);
    });

    it("says that what came from stdin cannot be retried", async () => {
      const service = await startTestService({ files });
      const target = `${service.sandbox.url}#2`;
      const failure = {
        type: "failure",
        target,
        path: "",
        id: "x",
        reason: "down",
        retryable: true,
        failedAt: "2025-01-01T00:00:00Z",
      };
      const lines = [{ type: "knowctl-state", version: 4 }, failure, { type: "end", records: 1 }];
      const stdin = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
      expect(await runIn(service, "state import - --yes", { stdin })).toMatchObject({ code: 0 });
      await expectRun(service, retry, 10, "came from stdin");
    });

    it("names what ends the failure of a line without id, and takes no file in its place", async () => {
      const service = await startTestService({ files: { stdin: "# A file\n" } });
      const line = "ingest - --cc-pair-id 2";
      const bad = await runIn(service, `${line} --report run.json`, { stdin: '{"id":"x"\n' });
      expect(bad).toMatchObject({ code: 10 });
      await expectRun(service, "retry run.json --cc-pair-id 2", 10, "came from stdin");
      expect(sentIds(service)).toEqual([]);
      const good = { id: "x", semantic_identifier: "X", sections: [{ text: "x" }] };
      const stdin = `${JSON.stringify(good)}\n`;
      expect(await runIn(service, line, { stdin })).toMatchObject({ code: 0 });
      await expectRun(service, retry, 10, "`knowctl state forget --failed` forgets all failures");
      await expectRun(service, "state forget --failed", 0);
      await expectRun(service, retry, 0);
    });

    it("says by a merged report that it cannot know the failures that were left out", async () => {
      const service = await startTestService({ files: { "docs/a.md": "---\nid: []\n---\n" } });
      await runIn(service, "ingest docs --cc-pair-id 2 --report run.json");
      const path = join(service.folder, "run.json");
      const report = JSON.parse(readFileSync(path, "utf8")) as { counts: { failed: number } };
      const counts = { ...report.counts, failed: report.counts.failed + 2 };
      writeFileSync(path, JSON.stringify({ ...report, counts, failuresLeftOut: 2 }));
      writeFiles(service.folder, { "docs/a.md": "# A\n\ntext\n" });
      await expectRun(
        service,
        "retry run.json",
        10,
        "2 failed documents of the merged runs: the report does not list them",
        "retry the reports it was merged from, one by one",
      );
      expect(service.sandbox.ledger.requests.some(({ method }) => method === "POST")).toBe(true);
    });

    it("says by the report of a run that was stopped that it sent not everything", async () => {
      const rules = [{ when: { method: "POST" }, do: { status: 401, body: { detail: "no" } } }];
      const service = await startTestService({ files: { "docs/a.md": "A\n" }, faults: { rules } });
      const line = "ingest docs --cc-pair-id 2 --report run.json";
      await expectRun(service, line, 4);
      await expectRun(service, "retry run.json --cc-pair-id 2", 10, "that run stopped before");
    });

    it("is no success where the run was stopped, though what had failed is sent", async () => {
      const service = await startTestService({ files });
      await runIn(service, "ingest docs --cc-pair-id 2 --report run.json");
      const path = join(service.folder, "run.json");
      const report = JSON.parse(readFileSync(path, "utf8")) as object;
      writeFileSync(path, JSON.stringify({ ...report, status: "interrupted" }));
      writeFiles(service.folder, {
        "docs/bad.md": "# Mended\n",
        "docs/sub/worse.md": "# Mended\n",
      });
      await expectRun(
        service,
        "retry run.json --cc-pair-id 2",
        10,
        "2 created",
        "that run stopped before",
      );
    });

    it("says where nothing is kept, and makes no state there", async () => {
      const service = await startTestService({ files: { "docs/bad.md": broken } });
      await runIn(service, "ingest docs --cc-pair-id 2 --state docs/kept");
      await expectRun(service, retry, 9, "there is no state in ");
      expect(existsSync(join(service.folder, ".knowctl"))).toBe(false);
      await expectRun(service, `${retry} --state docs/kept`, 10);
    });
  });

  describe("failures in the state", () => {
    it("hold files that could not be looked at, until they can be", async () => {
      const service = await startTestService({ files: { "docs/a.md": "# A\n", "docs/b.md": "B" } });
      writeFiles(service.folder, { "docs/b.md": new Uint8Array([0xff, 0x00, 0xff]) });
      await expectRun(service, "ingest docs --cc-pair-id 2", 10);
      expect(await failedPaths(service)).toEqual(["docs/b.md"]);
      writeFiles(service.folder, { "docs/b.md": "# B\n" });
      // A run over something else settles nothing.
      await expectRun(service, "ingest docs/a.md --cc-pair-id 2", 0);
      expect(await failedPaths(service)).toEqual(["docs/b.md"]);
      await expectRun(service, "ingest docs --cc-pair-id 2", 0);
      expect(await failedPaths(service)).toEqual([]);
    });

    it("are settled by a file that is gone, but not by a shard", async () => {
      const service = await startTestService({ files });
      await expectRun(service, "ingest docs --cc-pair-id 2", 10);
      rmSync(join(service.folder, "docs/sub"), { recursive: true });
      writeFiles(service.folder, { "docs/bad.md": "---\ndraft: true\n---\n# Later\n" });
      for (const shard of ["1/2", "2/2"]) {
        await runIn(service, `ingest docs --cc-pair-id 2 --shard ${shard}`);
      }
      expect(await failedPaths(service)).toHaveLength(2);
      await expectRun(service, "ingest docs --cc-pair-id 2", 0);
      expect(await failedPaths(service)).toEqual([]);
    });
  });

  const undated = "---\nupdated: yesterday\n---\n# B\n\nTwo.\n";

  /** The bodies that the service has of each document. */
  const sent = (service: TestService): [string, unknown][] =>
    [...service.sandbox.ledger.documents.entries()]
      .map(([id, bodies]): [string, unknown] => [id, bodies.at(-1)])
      .toSorted(([a], [b]) => (a < b ? -1 : 1));

  describe("retry with what is recorded", () => {
    it("takes the pair of the failures where documents of several pairs are recorded", async () => {
      const service = await startTestService({ files });
      await expectRun(service, "ingest docs/a.md --cc-pair-id 7", 0);
      await expectRun(service, "ingest docs --cc-pair-id 2 --overwrite", 10);
      writeFiles(service.folder, {
        "docs/bad.md": "# Mended\n",
        "docs/sub/worse.md": "# Mended\n",
      });
      const { stderr } = await expectRun(service, "retry", 0, "2 created");
      expect(stderr).toContain("pair 2");
    });

    it("sends nothing to another service, of another target or from another folder", async () => {
      const service = await startFailed();
      for (const flags of ["--cc-pair-id 7", "--cc-pair-id 2 --base-url http://127.0.0.1:9"]) {
        const message = "run.json is a report of another target; nothing was sent";
        await expectRun(service, `retry run.json ${flags}`, 2, message);
      }
      expect(sentIds(service)).toEqual(["docs/a.md"]);
      const other = await startTestService();
      await expectRun(
        { folder: other.folder, env: service.env },
        ["retry", join(service.folder, "run.json")],
        2,
        "none of the failed files exists under",
        "--root DIR",
      );
      const elsewhere = {
        folder: service.folder,
        env: { ...service.env, KNOWCTL_BASE_URL: other.sandbox.url },
      };
      await expectRun(
        elsewhere,
        "retry",
        2,
        `nothing failed at ${other.sandbox.url}\n`,
        `there are failures of pair 2 at ${service.sandbox.url}`,
        `knowctl retry --base-url ${service.sandbox.url} --cc-pair-id 2`,
      );
    });

    it("sends nothing of a merged report of two pairs, and says what to retry", async () => {
      const service = await startTestService({ files: { "a.md": broken, "b.md": broken } });
      await runIn(service, "ingest a.md --cc-pair-id 2 --report p2.json");
      await runIn(service, "ingest b.md --cc-pair-id 7 --report p7.json");
      await expectRun(service, "report merge p2.json p7.json --report both.json", 10);
      writeFiles(service.folder, { "a.md": "# A\n", "b.md": "# B\n" });
      for (const flag of ["", " --cc-pair-id 2", " --cc-pair-id 7"]) {
        await expectRun(
          service,
          `retry both.json${flag}`,
          2,
          "both.json was merged from runs to several pairs",
          "retry the reports it was merged from, one by one",
        );
      }
      expect(sentIds(service)).toEqual([]);
      for (const each of ["p2.json", "p7.json"]) await expectRun(service, `retry ${each}`, 0);
      expect(sentIds(service)).toEqual(["a.md", "b.md"]);
    });

    it("says for which target something failed, where it is not the one given", async () => {
      const service = await startTestService({ files: { "docs/b.md": undated } });
      await runIn(service, "ingest docs --cc-pair-id 2");
      await expectRun(service, "retry --cc-pair-id 7", 2, "there are failures of pair 2");
      await runIn(service, "ingest docs --cc-pair-id 7");
      await expectRun(service, "retry", 2, "pair 7", "pair 2");
    });

    it.each([
      ["by the state", "retry"],
      ["by a report", "retry run.json"],
    ])("sends each with the options that it was planned with: %s", async (_name, line) => {
      const files = { "docs/a.md": "# A\n", "docs/b.md": undated, "more/c.md": undated };
      const service = await startTestService({ files });
      const flags = "--cc-pair-id 2 --id-prefix kb/ --tag t1 --link https://x.test/{path}";
      await runIn(service, `ingest docs more ${flags} --report run.json`);
      writeFiles(service.folder, { "docs/b.md": "# B\n", "more/c.md": "# C\n" });
      await expectRun(service, line, 0);
      const document = {
        metadata: { tags: ["t1"] },
        sections: [{ link: "https://x.test/docs/b.md" }],
      };
      expect(sent(service)).toMatchObject([
        ["kb/docs/a.md", { cc_pair_id: 2 }],
        ["kb/docs/b.md", { cc_pair_id: 2, document }],
        ["kb/more/c.md", {}],
      ]);
      await expectRun(service, `ingest docs more ${flags}`, 0, "3 unchanged");
      expect(sent(service)).toHaveLength(3);
    });

    it("reports failures of several options as one run, and one by one again by that report", async () => {
      const service = await startTestService({ files: { "a/1.md": undated, "b/2.md": undated } });
      await runIn(service, "ingest a --cc-pair-id 2 --id-prefix one/");
      await runIn(service, "ingest b --cc-pair-id 2 --id-prefix two/");
      const ran = await expectRun(service, "retry --report run.json --output json", 10);
      expect(JSON.parse(ran.stdout)).toMatchObject({ status: "partial", counts: { failed: 2 } });
      const dry = await runIn(service, "retry --dry-run --output json");
      expect(JSON.parse(dry.stdout)).toMatchObject({ counts: { failed: 2 } });
      writeFiles(service.folder, { "a/1.md": "# 1\n", "b/2.md": "# 2\n" });
      await expectRun(service, "retry run.json", 0);
      expect(sent(service).map(([id]) => id)).toEqual(["one/a/1.md", "two/b/2.md"]);
    });

    it("takes the target of the failure, and refuses flags that would make other documents", async () => {
      const service = await startTestService({ files: { "docs/b.md": undated } });
      await expectRun(service, "ingest docs --cc-pair-id 2", 10);
      for (const flag of ["--id-prefix kb/", "--no-ignore", "--tag x"]) {
        await expectRun(service, `retry ${flag}`, 2, "knowctl ingest PATH");
      }
      writeFiles(service.folder, { "docs/b.md": "# B\n" });
      await expectRun(service, "retry", 0);
      expect(sent(service)).toMatchObject([["docs/b.md", { cc_pair_id: 2 }]]);
      await expectRun(service, "retry", 0, "nothing to retry");
    });

    it("does not send a document whose id another configuration would change", async () => {
      const config = (idPrefix: string): string => JSON.stringify({ ingest: { idPrefix } });
      const files = { "docs/b.md": undated, "docs/c.md": undated, ".cliconfig.json": config("x/") };
      const service = await startTestService({ files });
      const env = { ...service.env, KNOWCTL_TRUST_PROJECT: "1" };
      await runIn({ ...service, env }, "ingest docs --cc-pair-id 2");
      writeFiles(service.folder, {
        ".cliconfig.json": config("y/"),
        "docs/b.md": "# B\n",
        "docs/c.md": "---\nid: c\n---\n# C\n",
      });
      await expectRun(
        { ...service, env },
        "retry",
        10,
        "its id would change from x/docs/b.md to y/docs/b.md",
      );
      expect(sent(service).map(([id]) => id)).toEqual(["c"]);
      expect(await failedPaths(service)).toEqual(["docs/b.md"]);
    });
  });
});

describe("stopped", () => {
  const files = Object.fromEntries(
    Array.from({ length: 6 }, (_, index) => [`docs/${index}.md`, `# ${index}\n\nText.\n`]),
  );
  const upload = "ingest docs --cc-pair-id 2";
  const prune = "prune docs --cc-pair-id 2 --yes";
  const reason = "the upload of docs stopped before it sent all documents";

  /** All sent; then one file is renamed, all change, and the upload is stopped by a refused key. */
  async function startStopped(words = upload): Promise<TestService> {
    const service = await startTestService({ files, dialect: "onyx" });
    await expectRun(service, upload, 0);
    writeFiles(
      service.folder,
      Object.fromEntries(Object.keys(files).map((name) => [name, "# New\n"])),
    );
    renameSync(join(service.folder, "docs/1.md"), join(service.folder, "docs/renamed.md"));
    const env = { ...service.env, KNOWCTL_API_KEY: "another" };
    await expectRun({ ...service, env }, words, 4);
    return service;
  }

  describe("after an upload that was stopped", () => {
    it("nothing is pruned and no retry is a success until all of it has been repeated", async () => {
      const service = await startStopped();
      const isRunning = `${reason}, or is still running; nothing was removed`;
      await expectRun(service, prune, 2, isRunning);
      await expectRun(service, "retry", 10, reason, "run the upload again");
      for (const part of ["ingest docs/2.md --cc-pair-id 2", `${upload} --shard 1/2`]) {
        await expectRun(service, part, 0);
        await expectRun(service, prune, 2, isRunning);
      }
      await expectRun(service, upload, 0);
      await expectRun(service, "retry", 0);
      await expectRun(service, prune, 0, "1 document deleted");
    });

    it("a retry without a target fails, although nothing is recorded of the target", async () => {
      const service = await startTestService({ files, dialect: "onyx" });
      const wrong = { ...service, env: { ...service.env, KNOWCTL_API_KEY: "another" } };
      await expectRun(wrong, upload, 4);
      await expectRun(service, "retry", 10, reason, "run the upload again");
      const other = "ingest docs/1.md --cc-pair-id 7";
      await expectRun(service, other, 0);
      await expectRun(service, "retry", 10, reason);
      await expectRun(wrong, `${other} --force`, 4);
      await expectRun(service, "retry", 2, "the stopped uploads have several targets");
      await expectRun(service, upload, 0);
      await expectRun(service, other, 0);
      await expectRun(service, "retry --cc-pair-id 2", 0);
    });

    it.each(["ingest . --cc-pair-id 2", "state forget --failed"])(
      "it can be pruned after %s",
      async (line) => {
        const service = await startStopped();
        await expectRun(service, line, 0);
        await expectRun(service, prune, 0);
      },
    );

    it("of which only a shard ran, that shard is repeated", async () => {
      const service = await startStopped(`${upload} --shard 1/2`);
      expect((await runIn(service, prune)).stderr).toContain(
        "the upload of docs (shard 1/2) stopped",
      );
      await expectRun(service, `${upload} --shard 2/2`, 0);
      await expectRun(service, prune, 2);
      await expectRun(service, `${upload} --shard 1/2`, 0);
      await expectRun(service, prune, 0);
    });
  });

  it("a retry sends no file with old options that a stopped upload found unchanged", async () => {
    const service = await startTestService({
      files: { "docs/a.md": "# A\n", "docs/b.md": "# B\n" },
    });
    await expectRun(service, upload, 0);
    const database = await openDatabase(join(service.folder, ".knowctl", "state.db"));
    database.exec(`INSERT INTO failures (target, path, part, id, reason, retryable, failed_at, options)
    SELECT target, path, part, 'kb/' || id, 'refused', 1, sent_at - 1, options FROM accepted`);
    database.close();
    writeFiles(service.folder, { "docs/b.md": "# New\n" });
    const wrong = { ...service, env: { ...service.env, KNOWCTL_API_KEY: "another" } };
    await expectRun(wrong, upload, 4);
    const { stdout } = await runIn(service, "state list --status failed --fields path -o tsv");
    expect(new Set(stdout.trim().split("\n"))).toEqual(new Set(["docs/b.md"]));
  });
});

describe("doubt", () => {
  const first = "# A\n\nFirst.\n";

  const texts = (service: TestService): (string | undefined)[] =>
    (service.sandbox.ledger.documents.get("docs/a.md") ?? []).map((body) => {
      const [section] = (body as { document: { sections: { text: string }[] } }).document.sections;
      return section?.text;
    });

  describe("a request whose answer is lost", () => {
    it("is not taken for one that never arrived, when the file is as before again", async () => {
      const nth = Array.from({ length: 12 }, (_, index) => index + 2);
      const rules = [{ when: { method: "POST", nth }, do: "reset-after-store" as const }];
      const service = await startTestService({ files: { "docs/a.md": first }, faults: { rules } });
      await runIn(service, "ingest docs --cc-pair-id 2");
      writeFiles(service.folder, { "docs/a.md": "# A\n\nSecond.\n" });
      expect((await runIn(service, "ingest docs --cc-pair-id 2")).code).not.toBe(0);
      expect(texts(service).at(-1)).toContain("Second");
      writeFiles(service.folder, { "docs/a.md": first });
      const dry = await runIn(service, "ingest docs --cc-pair-id 2 --dry-run");
      expect(dry.stdout).toContain("its last response was lost");
      let ran = await runIn(service, "ingest docs --cc-pair-id 2");
      for (let run = 0; run < 12 && ran.code !== 0; run++) {
        ran = await runIn(service, "ingest docs --cc-pair-id 2");
      }
      expect(ran.code).toBe(0);
      expect(texts(service).at(-1)).toContain("First");
    });
  });

  it.each(["standard", "onyx"] as const)(
    "knows that one id is one document: %s",
    async (dialect) => {
      const service = await startTestService({ files: { "docs/a.md": first }, dialect });
      await runIn(service, "ingest docs --cc-pair-id 2");
      await expectRun(service, "ingest docs --cc-pair-id 7 --tag t1", 0);
      await expectRun(service, "ingest docs --cc-pair-id 2", 0, "1 updated");
      // The same version under both pairs is no reason to send it again.
      await runIn(service, "ingest docs --cc-pair-id 7");
      await expectRun(service, "ingest docs --cc-pair-id 2", 0, "1 unchanged");
    },
  );

  it("keeps the failure of a table that a later run does not read", async () => {
    const rows = { "docs/r.csv": 'id,title,text\n1,One,one\n2,Two,""\n3,Three\n' };
    const service = await startTestService({ files: { "docs/a.md": first, ...rows } });
    expect((await runIn(service, "ingest docs docs/r.csv --cc-pair-id 2")).code).toBe(10);
    expect((await runIn(service, "ingest docs --cc-pair-id 2")).code).toBe(0);
    const { stdout } = await runIn(service, "state list --status failed --fields path -o tsv");
    expect(stdout).toContain("docs/r.csv");
    writeFiles(service.folder, { "docs/r.csv": "id,title,text\n1,One,one\n3,Three,three\n" });
    await expectRun(service, "retry", 0);
  });

  it("knows after a merge of states what another pair overtook", async () => {
    const service = await startTestService({ files: { "docs/a.md": first }, dialect: "onyx" });
    await runIn(service, "ingest docs --cc-pair-id 2");
    await runIn(service, "ingest docs --cc-pair-id 7 --tag t1 --state other --overwrite");
    await runIn(service, "state export other.ndjson --state other");
    await expectRun(service, "state import other.ndjson --yes", 0);
    await expectRun(service, "ingest docs --cc-pair-id 2", 0, "1 updated");
  });
});

describe("groups", () => {
  const target = "https://h#2";
  const optionsWith = (tag: string): RecordedOptions => ({
    byInclude: false,
    pairFromFlag: true,
    mapping: 5,
    settings: { flags: { tags: [tag] } },
  });

  it("retries a file that failed in several runs with the options of the last", async () => {
    const state = await openTestState();
    const [old, young] = ["old", "young"].map((tag) =>
      state.options.store(optionsJson(optionsWith(tag))),
    );
    const failure = { target, part: 0, reason: "x", retryable: true, status: undefined };
    state.save({
      failures: [
        { ...failure, path: "a.md", id: "a.md", options: young, failedAtMs: 2 },
        // Before it had an id; listed after what failed later.
        { ...failure, path: "b.md", id: "b.md", options: young, failedAtMs: 2 },
        { ...failure, path: "b.md", id: "~", options: old, failedAtMs: 1 },
        { ...failure, path: "c.md", id: "", options: old, failedAtMs: 1 },
      ],
    });
    expect(failedInState(state, target).groups).toMatchObject([
      { options: optionsWith("young"), paths: ["a.md", "b.md"] },
      { options: optionsWith("old"), paths: ["c.md"] },
    ]);
    state.close();
  });

  it("takes no options from a report that hides a secret in them", () => {
    const failures = ["a.md", "b.md"].map((path, options) => ({ path, options, reason: "x" }));
    const options = [optionsWith("plain"), optionsWith("team ***")];
    const report = { failures, paths: ["."], options } as unknown as RunReport;
    expect(failedInReport(report, "run.json").groups).toMatchObject([
      { options: optionsWith("plain"), paths: ["a.md"] },
      { options: undefined, paths: ["b.md"] },
    ]);
  });
});
