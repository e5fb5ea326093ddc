import { cpSync, existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { repositoryOf } from "../../repository.ts";
import { type TestService, startTestService, writeFiles } from "../../service.ts";
import { expectRun, runIn } from "./support.ts";
import { denyWritingIn } from "../../file-system.ts";
import { endUse } from "../../sync/open-state.ts";
import { execFileSync } from "node:child_process";

describe("list", () => {
  const files = {
    "docs/a.md": "# A\n\nOne.\n",
    "docs/b.md": "# B\n\nTwo.\n",
    "docs/sub/c.md": "# C\n\nThree.\n",
    "docs/sub-d.md": "# D\n\nFour.\n",
  };

  /** Four documents sent to pair 2, one of them to pair 1 as well, and one refused. */
  async function startUploaded(): Promise<TestService> {
    const service = await startTestService({ files });
    await expectRun(service, "ingest docs --cc-pair-id 2", 0);
    await expectRun(service, "ingest docs/a.md --cc-pair-id 7", 0);
    writeFiles(service.folder, { "docs/bad.md": "---\ntitle: [unclosed\n---\ntext\n" });
    await expectRun(service, "ingest docs --cc-pair-id 2", 10);
    return service;
  }

  describe("state list", () => {
    it("lists what was sent and what failed", async () => {
      const service = await startUploaded();
      const { code, stdout } = await runIn(service, "state list --json");
      expect(code).toBe(0);
      const rows = JSON.parse(stdout) as Record<string, unknown>[];
      expect(rows.map(({ status, path, ccPairId }) => [status, path, ccPairId])).toEqual([
        ["failed", "docs/bad.md", 2],
        ["sent", "docs/a.md", 2],
        ["sent", "docs/b.md", 2],
        ["sent", "docs/sub-d.md", 2],
        ["sent", "docs/sub/c.md", 2],
        ["sent", "docs/a.md", 7],
      ]);
      expect(rows[0]).toMatchObject({
        reason: expect.stringContaining("docs/bad.md:3:1"),
        id: null,
      });
      expect(rows[1]).toMatchObject({ id: "docs/a.md", time: expect.stringMatching(/Z$/) });
      for (const [flags, lines] of [
        ["--status failed -o ndjson", 1],
        ["--status sent -o ndjson", 5],
        ["--cc-pair-id 7 -o ndjson", 1],
        ["--limit 2 -o ndjson", 2],
        ["--filter path~docs/sub* --limit 1 -o tsv", 1],
        ["--filter cc_pair_id=7 -o csv", 2],
        ["--cc-pair-id 33 -o ndjson", 0],
      ] as const) {
        const listed = await runIn(service, `state list ${flags}`);
        expect(listed.code, flags).toBe(0);
        expect(listed.stdout.split("\n").filter(Boolean), flags).toHaveLength(lines);
      }
      // The path of a failure stands once in its row.
      const failed = await runIn(service, "state list --status failed -o tsv");
      expect(failed.stdout.split("docs/bad.md")).toHaveLength(2);
      expect(failed.stdout).toContain("\t3:1: ");
      const none = await runIn(service, "state list --cc-pair-id 33");
      expect(none).toMatchObject({ code: 0, stderr: "no records match\n" });
    });

    it("tells a document whose text a removal notice replaced from one that was sent", async () => {
      const service = await startTestService({ files });
      await expectRun(service, "ingest docs --cc-pair-id 2", 0);
      rmSync(join(service.folder, "docs/b.md"));
      const notice = "prune --cc-pair-id 2 --tombstone --yes --max-delete 50%";
      await expectRun(service, notice, 0);
      expect(await paths(service, "removed")).toEqual(["docs/b.md#2"]);
      expect(await paths(service, "sent")).not.toContain("docs/b.md#2");
    });

    it("says that nothing was uploaded when the state has no records", async () => {
      const service = await startTestService();
      // It opens the state before it reads the file.
      await expectRun(service, "state import none.ndjson", 2);
      const where = join(service.folder, ".knowctl");
      const text = `nothing has been uploaded from here yet: the state in ${where} has no records\n`;
      for (const flags of ["", " --status failed"]) {
        expect(await runIn(service, `state list${flags}`)).toMatchObject({ code: 0, stderr: text });
      }
    });

    it("says where it looked when there is no state", async () => {
      const service = await startTestService();
      await expectRun(service, "state list", 9, ".knowctl");
    });
  });

  const paths = async (service: TestService, status = "sent"): Promise<string[]> => {
    const line = `state list --status ${status} -o ndjson`;
    const { stdout } = await runIn(service, line);
    return stdout
      .split("\n")
      .filter(Boolean)
      .map((text) => JSON.parse(text) as { path: string; ccPairId: number })
      .map(({ path, ccPairId }) => `${path}#${ccPairId}`);
  };

  describe("state forget", () => {
    it("forgets a file, and it is sent again", async () => {
      const service = await startUploaded();
      expect(await runIn(service, "state forget docs/b.md")).toMatchObject({
        code: 0,
        stderr: "forgot 1 document\n",
      });
      const again = await runIn(service, "ingest docs --cc-pair-id 2 --exclude bad.md");
      expect(again.stderr).toContain("1 updated, 3 unchanged");
      expect(service.sandbox.ledger.documents.get("docs/b.md")).toHaveLength(2);
    });

    it("forgets what is named, asks where it is much, and refuses the rest", async () => {
      const service = await startUploaded();
      const [state, kept] = [".knowctl", "kept"].map((name) => join(service.folder, name));
      cpSync(state!, kept!, { recursive: true });
      const restore = (): void => {
        rmSync(state!, { recursive: true });
        cpSync(kept!, state!, { recursive: true });
      };
      for (const [flags, stay, said] of [
        ["docs/a.md", ["docs/b.md#2", "docs/sub-d.md#2", "docs/sub/c.md#2"], "2 documents"],
        ["docs/a.md --cc-pair-id 7", ["docs/a.md#2"], "1 document"],
        ["docs/sub", ["docs/a.md#2", "docs/sub-d.md#2"], "1 document"],
        ["docs/sub docs/sub/c.md docs/sub", ["docs/a.md#2", "docs/sub-d.md#2"], "1 document"],
        ["docs/sub/", ["docs/sub-d.md#2"], "1 document"],
        ["docs --yes", [], "5 documents and 1 failure"],
        ["--failed", ["docs/a.md#7"], "1 failure"],
        ["--all --yes", [], "5 documents and 1 failure"],
        ["--all --yes --cc-pair-id 7", ["docs/a.md#2"], "1 document"],
      ] as const) {
        const ran = await runIn(service, `state forget ${flags}`);
        expect(ran, flags).toMatchObject({ code: 0, stderr: `forgot ${said}\n` });
        const left = await paths(service);
        expect(left, flags).toEqual(expect.arrayContaining([...stay]));
        const sent = 5 - (said === "1 failure" ? 0 : Number(said[0]));
        expect(left, flags).toHaveLength(sent);
        restore();
      }
      for (const [flags, code, message] of [
        ["", 2, "no record to forget is named"],
        ["--all", 2, "this would forget 5 documents and 1 failure"],
        ["--all docs", 2, "exclude each other"],
        ["docs/a.md docs/nothing.md", 9, "no record matches docs/nothing.md"],
        // Nobody is asked about nothing.
        ["--all --cc-pair-id 77", 0, "nothing is recorded for pair 77\n"],
      ] as const) {
        await expectRun(service, `state forget ${flags}`.trim(), code, message);
      }
      const line = "state forget --all --cc-pair-id 7";
      const named = await runIn(service, line, { answer: "n\n" });
      expect(named.stderr).toContain("Forget 1 document of pair 7?");
      expect(await paths(service)).toHaveLength(5);
      const inside = { folder: `${service.folder}/docs/sub`, env: service.env };
      await expectRun(inside, "state forget c.md", 0);
      expect(await paths(service)).not.toContain("docs/sub/c.md#2");
      restore();
      for (const [answer, left] of [
        ["n\n", 5],
        ["y\n", 0],
      ] as const) {
        const { code, stderr } = await runIn(service, "state forget --all", { answer });
        expect(code).toBe(0);
        expect(stderr).toContain("Forget 5 documents and 1 failure?");
        expect(await paths(service)).toHaveLength(left);
      }
    });
  });
});

describe("move", () => {
  const files = { "docs/a.md": "# A\n\nOne.\n", "docs/b.md": "# B\n\nTwo.\n" };

  describe("a service with another address", () => {
    it("is named with the command that moves its records, which then are of that address", async () => {
      const service = await startTestService({ files, dialect: "onyx" });
      await runIn(service, "ingest docs --cc-pair-id 2");
      const url = service.sandbox.url;
      const local = url.replace("127.0.0.1", "localhost");
      const at = `--cc-pair-id 2 --base-url ${local}`;
      for (const line of [`status docs ${at}`, `ingest docs --dry-run ${at}`, `verify ${at}`]) {
        const { stderr } = await runIn(service, line);
        expect(stderr).toContain(`knowctl state move ${url} ${local}`);
      }
      const move = `state move ${url} ${local}`;
      await expectRun(service, move, 2, "2 documents");
      await expectRun(service, `${move} --yes`, 0);
      const again = await runIn(service, `ingest docs --dry-run ${at}`);
      expect(again.stderr).not.toContain("state move");
      expect(again.stderr + again.stdout).toContain("2 unchanged");
      await expectRun(service, `${move} --yes`, 9);
      await expectRun(
        service,
        `state move localhost:1 ${url}`,
        2,
        "write it as http://localhost:1",
      );
    });

    it("is not merged where both addresses have records of a document", async () => {
      const service = await startTestService({ files });
      const url = service.sandbox.url;
      const local = url.replace("127.0.0.1", "localhost");
      await runIn(service, "ingest docs --cc-pair-id 2");
      await runIn(service, `ingest docs/a.md --cc-pair-id 2 --base-url ${local}`);
      const before = (await runIn(service, "state export")).stdout;
      await expectRun(service, `state move ${url} ${local} --yes`, 2, "docs/a.md");
      expect((await runIn(service, "state export")).stdout).toBe(before);
    });
  });
});

describe("read only", () => {
  /** Two sent documents in a checkout that cannot be written. */
  async function startReadOnly(): Promise<TestService> {
    const files = { "docs/a.md": "# A\n\nOne.\n", "docs/b.md": "# B\n\nTwo.\n" };
    const service = await startTestService({ dialect: "onyx", files });
    await expectRun(service, "ingest docs --cc-pair-id 2", 0);
    await service.sandbox.idle();
    await endUse(join(service.folder, ".knowctl"));
    denyWritingIn(service.folder);
    return service;
  }

  // SQLite opens a journal beside a database that it reads: only the folder's time shows it afterwards.
  const stateOf = ({ folder }: TestService) => [
    statSync(join(folder, ".knowctl")).mtimeMs,
    readFileSync(join(folder, ".knowctl/state.db"), "latin1"),
  ];

  it("a state that cannot be written is read", async () => {
    const service = await startReadOnly();
    const before = stateOf(service);
    for (const [line, expected] of [
      ["state list --fields path", "docs/a.md\ndocs/b.md\n"],
      ["state export", '"type":"end"'],
      ["explain docs/a.md", "unchanged since it was last read; accepted by"],
      ["ingest docs --dry-run", "2 unchanged"],
      ["retry --dry-run", "nothing to retry"],
      ["prune docs --tombstone --dry-run", "nothing to remove"],
      ["status --remote", "no difference"],
      ["verify", "the state is read-only: the results are not recorded\n2 current"],
    ] as const) {
      const { code, stdout, stderr } = await runIn(service, line);
      expect(stdout + stderr).toContain(expected);
      expect(code, line).toBe(0);
      expect(stateOf(service), line).toEqual(before);
    }
  });
});

describe("tracked", () => {
  const git = (folder: string, ...args: string[]): string =>
    execFileSync("git", args, { cwd: folder, encoding: "utf8" });

  /** A project whose state was committed with `git add -f`. */
  async function withTrackedState(): Promise<TestService> {
    const service = await startTestService({ dialect: "onyx" });
    const { folder } = service;
    writeFiles(folder, {
      "docs/a.md": "# A\n\nHolidays are 28 days.\n",
      "docs/b.md": "# B\n\nTwo.\n",
    });
    await expectRun(service, "ingest docs --cc-pair-id 2", 0);
    // What was committed is older than the file, as where a watch goes on: git asks for -f.
    writeFiles(folder, repositoryOf({ ".knowctl/state.db": "older" }));
    return service;
  }

  describe("a state that git tracks", () => {
    it("is refused by every command, or not read", async () => {
      const service = await withTrackedState();
      const before = service.sandbox.ledger.documents.size;
      for (const line of [
        "ingest docs --cc-pair-id 2",
        "ingest docs --cc-pair-id 2 --dry-run",
        "status docs --cc-pair-id 2",
        "prune --dry-run --cc-pair-id 2",
        "retry --cc-pair-id 2",
        "prune --yes --cc-pair-id 2",
        "verify --cc-pair-id 2",
        "explain docs/a.md",
        "state list",
        "state export",
        "state forget --all --yes",
        "ingest docs --cc-pair-id 2 --state .knowctl",
      ]) {
        for (const env of [{}, { KNOWCTL_TRUST_PROJECT: "1" }]) {
          await expectRun(
            { ...service, env: { ...service.env, ...env } },
            line,
            14,
            "git tracks the state",
            "git rm --cached -f -r .knowctl",
          );
        }
      }
      expect(service.sandbox.ledger.documents.size).toBe(before);
      // No local files are given, which one line says.
      for (const line of ["chat --no-input holidays", "search holidays"]) {
        const { stderr } = await expectRun(service, line, 0);
        expect(stderr.match(/git tracks the state/g), line).toHaveLength(1);
      }
    });

    it("is refused by --state in a folder of the repository, and read again once it is untracked", async () => {
      const service = await withTrackedState();
      const { folder } = service;
      git(folder, "rm", "-q", "--cached", "-f", "-r", ".knowctl");
      await expectRun(service, "status docs --cc-pair-id 2", 0);
      writeFiles(folder, { "ci/state.db": "" });
      git(folder, "add", "-f", "ci/state.db");
      await expectRun(
        service,
        "ingest docs --cc-pair-id 2 --state ci",
        14,
        "git rm --cached -f ci/state.db",
      );
    });

    it("is not made where git would track it", async () => {
      const service = await withTrackedState();
      rmSync(join(service.folder, ".knowctl"), { recursive: true, force: true });
      await expectRun(service, "ingest docs --cc-pair-id 2", 14);
      expect(existsSync(join(service.folder, ".knowctl"))).toBe(false);
    });
  });
});
