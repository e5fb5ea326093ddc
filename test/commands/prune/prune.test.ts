import { mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type TestService, startTestService, writeFiles } from "../../service.ts";
import { expectRun, runIn } from "../state/support.ts";
import { listGone } from "./support.ts";
import { execFileSync } from "node:child_process";
import { temporaryFolder } from "../../support.ts";
import { refuseMany } from "../../../src/commands/prune/guards.ts";

describe("orphans", () => {
  const pages = (count: number): Record<string, string> =>
    Object.fromEntries(
      Array.from({ length: count }, (_, index) => `docs/${index + 10}.md`).map((name) => [
        name,
        `# ${name}\n\nText.\n`,
      ]),
    );
  const files = {
    ...pages(5),
    "docs/a b/c%.md": "# Odd\n\nName.\n",
    "other/x.md": "# X\n\nText.\n",
  };

  type Dialect = "standard" | "onyx";

  /** Six documents of `docs` and one of `other` sent, and `more`; then the files `gone` vanish. */
  async function startWithout(
    gone: string[],
    dialect: Dialect = "onyx",
    more: Record<string, string> = {},
  ): Promise<TestService> {
    const service = await startTestService({ files: { ...files, ...more }, dialect });
    await expectRun(service, "ingest docs other --cc-pair-id 2", 0);
    for (const path of gone) rmSync(join(service.folder, path), { recursive: true });
    return service;
  }

  const prune = "prune docs --cc-pair-id 2";

  const gone = (service: TestService): Promise<string[]> =>
    listGone(service, "docs --cc-pair-id 2");

  /** Ids that the service has. */
  async function stored(service: TestService): Promise<string[]> {
    const answer = await fetch(`${service.sandbox.url}/api/onyx-api/ingestion`, {
      headers: { authorization: `Bearer ${service.env["KNOWCTL_API_KEY"]}` },
    });
    return ((await answer.json()) as { document_id: string }[]).map((each) => each.document_id);
  }

  const recorded = async (service: TestService): Promise<string> =>
    (await runIn(service, "state list --status sent --fields path -o tsv")).stdout;

  describe("prune", () => {
    it.each(["standard", "onyx"] as const)("lists what is gone, in scope: %s", async (dialect) => {
      const service = await startWithout(["docs/10.md", "docs/a b", "other"], dialect);
      expect(await gone(service)).toEqual(["gone docs/10.md", "gone docs/a b/c%.md"]);
      const dry = `${prune} --tombstone --dry-run`;
      const csv = await runIn(service, `${dry} -o csv --fields status,path,stored_id`);
      const odd = dialect === "onyx" ? "docs%2Fa_b%2Fc%25.md" : "";
      expect(csv.stdout).toContain(`gone,docs/a b/c%.md,${odd}`);
      const one = await runIn(service, dry.replace("docs", "docs/11.md"));
      expect(one).toMatchObject({ code: 0, stdout: "", stderr: "nothing to remove\n" });
    });

    it("names the pair to which nothing was sent", async () => {
      const service = await startTestService({ files, dialect: "onyx" });
      const { code, stderr } = await runIn(service, "prune --cc-pair-id 2 --dry-run");
      const host = service.sandbox.url.replace("http://", "");
      expect([code, stderr]).toEqual([
        0,
        `no document was sent to pair 2 at ${host}, profile default from this project\n`,
      ]);
    });

    it("lists what its file gives no more, and what was renamed", async () => {
      const service = await startWithout([]);
      writeFiles(service.folder, { "docs/10.md": "---\nid: ten\n---\n# Ten\n" });
      renameSync(join(service.folder, "docs/11.md"), join(service.folder, "docs/eleven.md"));
      expect(await gone(service)).toEqual(["row-gone docs/10.md", "gone docs/11.md"]);
      const ran = await runIn(service, "ingest docs --cc-pair-id 2");
      expect(ran.stderr).toContain("1 renamed in ");
      // The documents that stay are reported once.
      expect(ran.stderr.match(/still in the service; see/g)).toHaveLength(1);
      expect(await gone(service)).toHaveLength(2);
    });

    it("lists what became a draft, but nothing of a file that has become unreadable", async () => {
      const service = await startWithout([]);
      const draft = "---\ndraft: true\n---\n# Later\n";
      writeFiles(service.folder, { "docs/10.md": draft, "docs/11.md": new Uint8Array([0xff, 0]) });
      expect(await gone(service)).toEqual(["opted-out docs/10.md"]);
      await expectRun(service, "status docs --cc-pair-id 2", 10, "docs/11.md");
    });

    it("does not take what is out of sight for gone", async () => {
      const rows = '{"id":"r","semantic_identifier":"r","sections":[{"text":"r"}],"metadata":{}}\n';
      const service = await startWithout([]);
      writeFiles(service.folder, { "docs/rows.ndjson": rows });
      await runIn(service, "ingest docs/rows.ndjson --cc-pair-id 2");
      writeFiles(service.folder, { ".knowctlignore": "10.md\n" });
      expect(await recorded(service)).toContain("docs/rows.ndjson");
      // Excluded, which is another class; rows that were named are none.
      expect(await gone(service)).toEqual(["excluded docs/10.md"]);
      expect(await runIn(service, `${prune} --yes`)).toMatchObject({ stdout: "" });
    });

    it("deletes ids encoded twice, and forgets the records", async () => {
      const service = await startWithout(["docs/10.md", "docs/a b", "other"]);
      const line = `${prune} --yes --max-delete 2`;
      const ran = await runIn(service, `${line} -o tsv`);
      expect(ran).toMatchObject({ code: 0, stderr: "2 documents deleted\n" });
      expect(ran.stdout).toMatch(/^deleted\tdocs\/10\.md/);
      const left = await stored(service);
      expect(left).toHaveLength(5);
      expect(left).toContain("other%2Fx.md");
      expect(left).not.toContain("docs%2Fa_b%2Fc%25.md");
      expect(await recorded(service)).not.toContain("docs/10.md");
      expect(await runIn(service, line)).toMatchObject({ code: 0, stdout: "" });
      writeFiles(service.folder, { "docs/10.md": files["docs/11.md" as keyof typeof files] });
      const again = await runIn(service, "ingest docs --cc-pair-id 2");
      expect(again.stderr).toContain("1 created, 4 unchanged");
      expect(again.stderr).not.toContain("renamed");
    });

    it("deletes nothing by an id that is not made of the document's own", async () => {
      const service = await startWithout(["docs/10.md", "docs/11.md"]);
      const { stdout } = await runIn(service, "state export");
      const stdin = stdout
        .split("\n")
        .map((line) => line.replace('"storedId":"docs%2F10.md"', '"storedId":"other%2Fx.md"'))
        .join("\n");
      expect(stdin).not.toBe(stdout);
      await runIn(service, "state forget --all --yes");
      await runIn(service, "state import - --yes", { stdin });
      const ran = await runIn(service, `${prune} --yes --max-delete 2 -o tsv`);
      expect(ran).toMatchObject({ code: 10, stdout: expect.stringContaining("another document") });
      const left = await stored(service);
      expect(left).toContain("other%2Fx.md");
      expect(left).toContain("docs%2F10.md");
      expect(left).not.toContain("docs%2F11.md");
    });

    it("takes for deleted what the service has no more, but not an address that is not there", async () => {
      const service = await startWithout(["docs/10.md"]);
      const line = `${prune} --yes --max-delete 1`;
      await expectRun(service, `${line} --base-url ${service.sandbox.url}/nowhere`, 2);
      const copy = await runIn(service, "state export");
      await expectRun(service, line, 0);
      await runIn(service, "state import - --yes", { stdin: copy.stdout });
      expect(await gone(service)).toEqual(["gone docs/10.md"]);
      await expectRun(service, line, 0);
      expect(await recorded(service)).not.toContain("docs/10.md");
    });

    const cannotAsk =
      "this service cannot be asked whether another pair has these documents: what is removed here is gone there, too";
    it.each(["standard", "onyx"] as const)(
      "replaces the text with --tombstone: %s",
      async (dialect) => {
        const service = await startWithout(["docs/10.md"], dialect);
        const line = `${prune} --tombstone --yes --max-delete 17%`;
        expect(await runIn(service, line)).toMatchObject({
          code: 0,
          stderr:
            `to "Handbook uploads" (pair 2, public: everybody who can sign in reads these documents) at ${service.sandbox.url.slice(7)}, profile default\n` +
            (dialect === "standard" ? `warning: ${cannotAsk}\n` : "") +
            "1 document replaced with a removal notice\n",
        });
        expect(service.sandbox.ledger.documents.get("docs/10.md")?.[1]).toMatchObject({
          cc_pair_id: 2,
          document: {
            semantic_identifier: "10.md (removed)",
            sections: [{ text: "This document has been removed." }],
            metadata: { status: "removed" },
          },
        });
        expect(await runIn(service, line)).toMatchObject({ code: 0, stdout: "" });
        expect(service.sandbox.ledger.documents.get("docs/10.md")).toHaveLength(2);
        writeFiles(service.folder, { "docs/10.md": "# docs/10.md\n\nText.\n" });
        const again = await runIn(service, "ingest docs --cc-pair-id 2");
        expect(again.stderr).toContain("1 updated, 5 unchanged");
        expect(await gone(service)).toEqual([]);
      },
    );

    it("never deletes what another file overwrites under the same stored id", async () => {
      const service = await startWithout([]);
      const at = (path: string): string => join(service.folder, path);
      renameSync(at("docs/a b"), at("docs/a_b"));
      expect(await gone(service)).toEqual([]);
    });
  });

  it("names the first documents of many before the question", async () => {
    const gone = Object.keys(pages(22));
    const service = await startWithout([...gone, "docs/a b/c%.md"], "onyx", {
      ...pages(22),
      "docs/left.md": "# Left\n\nText.\n",
    });
    const { code, stderr } = await runIn(service, `${prune} --max-delete 100%`);
    expect(code).toBe(2);
    expect(stderr.match(/^to be removed: docs\//gm)).toHaveLength(20);
    expect(stderr).toContain(
      "to be removed: 3 more, which the same command with --dry-run lists\n",
    );
  });

  describe("prune refuses", () => {
    const yes = `${prune} --yes`;
    const two = ["docs/10.md", "docs/11.md", "docs/12.md"];

    const refusals: [line: string, message: string][] = [
      [
        yes,
        "3 of 21 documents would be removed, but --max-delete allows 2 (default: 10 % of 21, at least 1 and at most 100)",
      ],
      [
        `${yes} --max-delete 2`,
        "3 of 21 documents would be removed, but --max-delete allows 2 (as given)",
      ],
      [`${yes} --max-delete 14%`, "--max-delete allows 2 (14 % of 21)"],
      [`${prune} --tombstone --yes`, "--max-delete allows 2"],
      [yes.replace("--yes", "--dry-run"), "--max-delete allows 2"],
      [`${prune} --max-delete 3`, "there is no terminal to ask on"],
      [
        yes.replace("--cc-pair-id 2", "--cc-pair-id 3"),
        "the state has no records for pair 3 at http://127.0.0.1:",
      ],
      [`${yes} --max-delete 101%`, "Expected a whole number, or a percentage"],
      [`${yes} --since HEAD`, "unknown option '--since'"],
      [`${yes} --shard 1/2`, "unknown option '--shard'"],
    ];
    it("what --max-delete does not allow, what nobody can confirm and what it does not know", async () => {
      const service = await startWithout(two, "onyx", pages(20));
      for (const [line, message] of refusals) await expectRun(service, line, 2, message);
      expect(await stored(service)).toHaveLength(22);
    });

    it("after a failure, in this look or the last upload, and on an empty input", async () => {
      const service = await startWithout(["docs/10.md"]);
      const line = `${yes} --max-delete 1`;
      writeFiles(service.folder, { "docs/bad.md": "---\ntitle: [unclosed\n---\n" });
      await expectRun(service, line, 2, "cannot be read");
      await expectRun(service, "ingest docs --cc-pair-id 2", 10);
      writeFiles(service.folder, { "docs/bad.md": "# Good\n" });
      const before = await runIn(service, line);
      expect(before.stderr).toContain("the last upload of docs/bad.md failed");
      // A failure elsewhere says nothing of these files.
      const elsewhere = "prune docs/1*.md --cc-pair-id 2 --max-delete 1";
      await expectRun(service, `${elsewhere} --dry-run`, 0);
      await expectRun(service, "retry --cc-pair-id 2", 0);
      for (const name of [...Object.keys(pages(5)).slice(1), "docs/bad.md", "docs/a b"]) {
        rmSync(join(service.folder, name), { recursive: true });
      }
      await expectRun(service, `${yes} --max-delete 100%`, 2, "no file was found");
      expect(await stored(service)).toHaveLength(8);
    });

    it("where the service cannot delete", async () => {
      const service = await startWithout(["docs/10.md"], "standard");
      await expectRun(service, `${yes} --max-delete 1`, 2, "use --tombstone", "use --dialect onyx");
    });

    it("to go on without a yes on a terminal", async () => {
      const service = await startWithout(["docs/10.md"]);
      for (const [answer, left] of [
        ["n\n", 7],
        ["y\n", 6],
      ] as const) {
        const ran = await runIn(service, prune, { answer });
        expect(ran.stderr).toMatch(/^to be removed: docs\/10\.md\n[^]*Delete 1 document of /m);
        expect(ran.code).toBe(0);
        expect(await stored(service)).toHaveLength(left);
      }
    });

    it("to go on after the first 403, and keeps the records", async () => {
      const service = await startWithout(two);
      const other = { ...service, env: { ...service.env, KNOWCTL_API_KEY: "wrong" } };
      await expectRun(other, `${yes} --max-delete 3 --concurrency 1`, 4);
      expect(await gone(service)).toHaveLength(3);
      expect(await stored(service)).toHaveLength(7);
    });

    it.each([
      ["the service refuses one", 400, 10, 1],
      ["the address is not there", 404, 9, 3],
      ["the token ends", 401, 4, 3],
    ])("to forget what was not deleted: %s", async (_name, status, code, left) => {
      const when = { method: "DELETE", path: "/api/onyx-api/ingestion/docs%252F10" };
      const rule = { when, do: { status, body: { detail: "Not Found" } } };
      const service = await startTestService({ files, dialect: "onyx", faults: { rules: [rule] } });
      await runIn(service, "ingest docs --cc-pair-id 2");
      for (const path of two) rmSync(join(service.folder, path));
      const ran = await expectRun(service, `${yes} --max-delete 3 --concurrency 1 -o tsv`, code);
      expect(ran.stdout).toMatch(/^failed\tdocs\/10\.md/);
      const orphaned = await gone(service);
      expect(orphaned[0]).toBe("gone docs/10.md");
      expect(orphaned).toHaveLength(left);
    });
  });
});

describe("removed folder", () => {
  const files = {
    "docs/a/one.md": "# One\n\nText.\n",
    "docs/b/two.md": "# Two\n\nText.\n",
    "docs/b/deep/three.md": "# Three\n\nText.\n",
    "docs/bc.md": "# Four\n\nText.\n",
  };

  async function startUploaded() {
    const service = await startTestService({ files, dialect: "onyx" });
    await expectRun(service, "ingest docs --cc-pair-id 2", 0);
    return service;
  }

  const paths = (stdout: string): string[] =>
    stdout.split("\n").flatMap((line) => line.split("\t")[1] ?? []);

  it("lists the documents of what was removed, and knows nothing of any other path", async () => {
    const service = await startUploaded();
    rmSync(join(service.folder, "docs/b"), { recursive: true });
    for (const [path, listed] of [
      ["docs/b", ["docs/b/deep/three.md", "docs/b/two.md"]],
      ["docs/b/two.md", ["docs/b/two.md"]],
      ["docs/b/deep", ["docs/b/deep/three.md"]],
    ] as const) {
      expect(await listGone(service, path)).toEqual(listed.map((each) => `gone ${each}`));
      const dry = await runIn(service, `prune ${path} --dry-run --max-delete 100%`);
      expect([dry.code, paths(dry.stdout)]).toEqual([0, listed]);
    }
    for (const path of ["docs/nosuch", "docs/b/tw", "docs/nosuch*"]) {
      const isGlob = path.includes("*");
      const none = `no such file or folder: ${path}`;
      await expectRun(service, `prune ${path} --dry-run`, 2, isGlob ? "no file was found" : none);
      const { stderr: listed } = await runIn(service, `status ${path}`);
      expect(listed).toContain(isGlob ? "nothing to compare" : none);
    }
    // An upload still refuses a path that does not exist.
    await expectRun(service, "ingest docs/b --cc-pair-id 2", 2, "no such file or folder: docs/b");
  });

  it("removes the documents of a removed folder, and then says that there is none", async () => {
    const service = await startUploaded();
    rmSync(join(service.folder, "docs/b"), { recursive: true });
    const prune = "prune docs/b --yes";
    await expectRun(service, prune, 2, "--max-delete allows 1");
    const { code, stdout } = await runIn(service, `${prune} --max-delete 2`);
    expect([code, paths(stdout)]).toEqual([0, ["docs/b/deep/three.md", "docs/b/two.md"]]);
    expect((await runIn(service, "prune")).stderr).toContain("nothing to remove");
    await expectRun(service, "prune docs/b", 2, "no such file or folder: docs/b");
  });

  it("refuses to remove where the folder above is empty: it may not be mounted", async () => {
    const service = await startUploaded();
    rmSync(join(service.folder, "docs"), { recursive: true });
    mkdirSync(join(service.folder, "docs"));
    const line = "prune docs/b --yes --max-delete 9";
    const { code, stderr } = await runIn(service, line);
    expect(code).toBe(2);
    expect(stderr).toMatch(/none of the recorded files exists|no file was found/);
  });
});

describe("complete checkout", () => {
  const git = (folder: string, ...args: string[]): string =>
    execFileSync(
      "git",
      ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "protocol.file.allow=always", ...args],
      { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] },
    );

  function commit(folder: string): void {
    git(folder, "add", "-A");
    git(folder, "commit", "-q", "-m", "x");
  }

  /** A committed project of which all documents were sent, with a submodule `sub`. */
  async function startSent(): Promise<TestService> {
    const service = await startTestService({ dialect: "onyx" });
    const { folder } = service;
    const inner = temporaryFolder();
    git(inner, "init", "-q", ".");
    writeFiles(inner, { "s.md": "# S\n\nText.\n", "deep/t.md": "# T\n\nText.\n" });
    commit(inner);
    git(folder, "init", "-q", ".");
    writeFiles(folder, { "docs/a.md": "# A\n\nText.\n", "old/b.md": "# B\n\nText.\n" });
    git(folder, "submodule", "add", "-q", inner, "sub");
    commit(folder);
    await expectRun(service, "ingest . --cc-pair-id 2", 0);
    return service;
  }

  const ids = ({ sandbox }: TestService): string[] =>
    [...sandbox.ledger.documents.keys()].toSorted();

  it("is needed for a removal, and a file that the user removed is no lack of it", async () => {
    const service = await startSent();
    const { folder } = service;
    const line = "prune --yes --max-delete 100% --cc-pair-id 2";
    const expectRefused = async (hint: string): Promise<void> => {
      const before = ids(service);
      await expectRun(service, line, 2, "complete checkout", hint);
      await expectRun(service, `${line} --tombstone`, 2, "complete checkout", hint);
      expect(ids(service)).toEqual(before);
    };
    for (const [at, ...patterns] of [
      [folder, "--skip-checks", "docs", "sub"],
      [join(folder, "sub"), "none"],
    ] as const) {
      git(at, "sparse-checkout", "set", ...patterns);
      await expectRefused("sparse-checkout disable");
      git(at, "sparse-checkout", "disable");
    }
    for (const bit of ["skip-worktree", "assume-unchanged"]) {
      git(folder, "update-index", `--${bit}`, "old/b.md");
      rmSync(join(folder, "old/b.md"));
      await expectRefused(`no-${bit} 'old/b.md'`);
      writeFiles(folder, { "old/b.md": "# B\n\nText.\n" });
      git(folder, "update-index", `--no-${bit}`, "old/b.md");
    }

    // Removed by the user, with and without a commit.
    git(folder, "update-index", "--skip-worktree", "docs/a.md");
    rmSync(join(folder, "old/b.md"));
    await expectRun(service, line, 0);
    writeFiles(folder, { "old/c.md": "# C\n\nText.\n" });
    await runIn(service, "ingest . --cc-pair-id 2");
    git(folder, "rm", "-q", "--cached", "-r", "old");
    rmSync(join(folder, "old"), { recursive: true });
    await expectRun(service, line, 0);
    expect((await runIn(service, "state list --json")).stdout).not.toContain("old/");

    // A submodule that was not fetched.
    git(folder, "submodule", "deinit", "-q", "-f", "sub");
    await expectRefused("submodule update --init");
  });
});

describe("the limit of a removal by default", () => {
  it.each([
    [1, 1],
    [1, 5],
    [2, 29],
    [100, 5000],
  ])("takes %i of %i", (count, total) => {
    expect(() => refuseMany(count, total)).not.toThrow();
  });

  it.each([
    [
      2,
      5,
      "2 of 5 documents would be removed, but --max-delete allows 1 (default: 10 % of 5, at least 1",
    ],
    [3, 29, "--max-delete allows 2 (default: 10 %"],
    [101, 5000, "--max-delete allows 100 (default: 10 %"],
  ])("refuses %i of %i, and names the flag", (count, total, message) => {
    expect(() => refuseMany(count, total)).toThrow(message);
  });
});
