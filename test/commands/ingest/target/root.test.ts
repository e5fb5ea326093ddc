import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { main } from "../../../main.ts";
import { type TestService, startTestService, writeFiles } from "../../../service.ts";
import { createTestContext } from "../../../support.ts";
import { acceptedIds } from "../support.ts";
import { expectRun, runIn } from "../../state/support.ts";
import { pathsFrom, problemAt, shownText } from "../../../../src/output/paths.ts";

describe("root", () => {
  /** Runs a command line; `cwd` is relative to the service's folder. */
  async function run(service: TestService, args: string, cwd = ".") {
    const env = { ...service.env, HOME: join(service.folder, "nowhere") };
    const context = createTestContext({ cwd: join(service.folder, cwd), env });
    const code = await main(args.split(" "), context);
    return { code, stdout: context.stdoutText(), stderr: context.stderrText() };
  }

  const files = {
    "notes/a.md": "# A\n",
    "notes/ops/b.md": "# B\n",
    "notes/ops/deep/c.md": "# C\n",
  };

  async function startPlain(more: Record<string, string> = {}): Promise<TestService> {
    const service = await startTestService({ files: { ...files, ...more } });
    rmSync(join(service.folder, ".git"), { recursive: true });
    return service;
  }

  const upload = (paths: string): string => `ingest ${paths} --cc-pair-id 2`;

  describe("one file has one id", () => {
    it("whichever folder or file is named, once a state marks the root", async () => {
      const service = await startPlain();
      expect(await run(service, upload("notes"))).toMatchObject({ code: 0 });
      const ids = ["notes/a.md", "notes/ops/b.md", "notes/ops/deep/c.md"];
      expect(acceptedIds(service)).toEqual(ids);
      for (const [paths, cwd] of [
        [".", "."],
        ["notes/ops", "."],
        ["notes/ops/deep/c.md", "."],
        ["b.md deep", "notes/ops"],
        [".", "notes/ops/deep"],
      ] as const) {
        const again = await run(service, upload(paths), cwd);
        expect(again).toMatchObject({ code: 0 });
        expect(again.stderr).toContain("unchanged");
        expect(again.stderr).not.toContain("project root:");
      }
      mkdirSync(join(service.folder, ".git"));
      expect((await run(service, upload("ops"), "notes")).stderr).toContain("2 unchanged");
      expect(acceptedIds(service)).toEqual(ids);
      expect(existsSync(join(service.folder, "notes/ops/.knowctl"))).toBe(false);
    });

    it("though a first run failed before it recorded anything elsewhere", async () => {
      const service = await startPlain();
      expect(await run(service, "ingest a.md --root ..", "notes")).toMatchObject({ code: 2 });
      expect(await run(service, upload("a.md"), "notes")).toMatchObject({ code: 0 });
      expect(acceptedIds(service)).toEqual(["a.md"]);
      expect((await run(service, upload("ops"), "notes")).code).toBe(0);
      expect(acceptedIds(service)).toEqual(["a.md", "ops/b.md", "ops/deep/c.md"]);
    });

    it("and a root that nothing marks is named, with the flag that keeps it", async () => {
      const service = await startPlain();
      for (const args of [upload("notes --no-state"), "convert notes", "explain notes/a.md"]) {
        const { code, stderr } = await run(service, args);
        expect(code).toBe(0);
        expect(stderr).toContain(
          `project root: ${service.folder}. No git repository or project file marks it`,
        );
        expect(stderr).toContain("--root");
      }
      const named = await run(service, upload("notes --no-state --root ."));
      expect(named.stderr).not.toContain("project root:");
    });

    it("and a mark in a folder that others can write to is not used, which is said", async () => {
      const service = await startPlain();
      expect(await run(service, upload("notes"))).toMatchObject({ code: 0 });
      chmodSync(service.folder, 0o777);
      const { stderr } = await run(service, upload(". --dry-run"), "notes/ops");
      expect(stderr).toContain(`project root: ${join(service.folder, "notes/ops")}.`);
      expect(stderr).toContain(`Other users can write to ${service.folder}`);
    });

    it("so a state below the root is refused, with the ways out", async () => {
      const service = await startPlain();
      expect(await run(service, upload("notes/ops --root notes/ops"))).toMatchObject({ code: 0 });
      const both = await run(service, upload("notes"));
      expect(both).toMatchObject({ code: 2 });
      expect(both.stderr).toContain("notes/ops is a project root of its own: it holds .knowctl");
      expect(both.stderr).toContain("--root 'notes/ops'");
      const within = await run(service, upload(`. --root ${service.folder}`), "notes/ops");
      expect(within.stderr).toContain(`${join(service.folder, "notes/ops")} is a project root`);
      expect(both.stderr).toContain("--exclude 'notes/ops/**'");
      expect(acceptedIds(service)).toEqual(["b.md", "deep/c.md"]);
      expect(await run(service, upload("notes --exclude notes/ops/**"))).toMatchObject({ code: 0 });
      expect(acceptedIds(service)).toEqual(["b.md", "deep/c.md", "notes/a.md"]);
      const apart = await run(service, upload("notes/a.md notes/ops"));
      expect(apart).toMatchObject({ code: 2 });
      expect(apart.stderr).toContain("different project roots");
    });

    it("so a first upload from a root below a state is a warning, with the way to keep the ids", async () => {
      const service = await startPlain();
      expect(await run(service, upload("notes"))).toMatchObject({ code: 0 });
      mkdirSync(join(service.folder, "notes/ops/.git"));
      const above = `--root ${service.folder}`;
      for (const [args, cwd] of [
        [". --dry-run", "notes/ops"],
        ["notes/ops/deep --root notes/ops/deep", "."],
      ] as const) {
        expect((await run(service, upload(args), cwd)).stderr).toContain(above);
      }
      const again = await run(service, upload("notes/ops/deep --root notes/ops/deep"));
      expect(again.stderr).not.toContain(above);
      rmSync(join(service.folder, "notes/ops/deep/.knowctl"), { recursive: true });
      const kept = await run(service, upload(`. ${above}`), "notes/ops");
      expect(kept.stderr).toContain("2 unchanged");
      expect(kept.stderr).not.toContain("stores them twice");
    });

    it("so --state makes no other folder a root", async () => {
      const service = await startPlain();
      for (const [state, cwd] of [
        ["notes/.knowctl", "."],
        ["../.knowctl", "notes"],
      ] as const) {
        const refused = await run(service, upload(`. --state ${state}`), cwd);
        expect(refused).toMatchObject({ code: 2 });
        expect(refused.stderr).toContain("a project root");
        expect(existsSync(join(service.folder, cwd, state))).toBe(false);
      }
      expect(await run(service, upload(". --state ../kept"), "notes")).toMatchObject({ code: 0 });
    });
  });

  describe("links", () => {
    it("out of the project are refused, and nothing is made at their end", async () => {
      const service = await startTestService({ files: { "a.md": "# A\n" } });
      const outside = join(dirname(service.folder), "outside");
      writeFiles(outside, { "sub/secret.md": "# Secret\n", ".git/HEAD": "" });
      symlinkSync(outside, join(service.folder, "docs"));
      for (const path of ["docs", "docs/sub", "docs/sub/secret.md", "docs/**/*.md"]) {
        const refused = await run(service, upload(path));
        expect(refused).toMatchObject({ code: 2 });
        expect(refused.stderr).toContain(`${path} lies outside the project root`);
      }
      expect(existsSync(join(outside, ".knowctl"))).toBe(false);
      expect(service.sandbox.ledger.requests).toEqual([]);
    });
  });

  describe("a state", () => {
    it("of which no file is there is a warning", async () => {
      const service = await startPlain();
      expect((await run(service, upload("notes"))).stderr).not.toContain("none of the files");
      expect((await run(service, upload("notes"))).stderr).not.toContain("none of the files");
      rmSync(join(service.folder, "notes/a.md"));
      expect((await run(service, upload("notes"))).stderr).not.toContain("none of the files");
      renameSync(join(service.folder, "notes"), join(service.folder, "pages"));
      const { stderr } = await run(service, upload("pages --dry-run"));
      expect(stderr).toContain(`recorded in ${join(service.folder, ".knowctl")} exists under `);
      expect(stderr).toContain("the first is notes/a.md");
      expect(stderr).toContain("moved");
      expect(stderr).toContain("another root");
    });

    it("that was imported is judged by its documents", async () => {
      const service = await startPlain();
      await run(service, upload("notes"));
      const { stdout } = await run(service, "state export");
      writeFiles(service.folder, { "other/x.md": "# X\n", "state.ndjson": stdout });
      await run(service, "state import ../state.ndjson --yes --root . --state kept", "other");
      const { stderr } = await run(service, upload("x.md --root . --state kept"), "other");
      expect(stderr).toContain("none of the files recorded");
    });
  });
});

describe("wrong root", () => {
  const broken = "---\nupdated: yesterday\n---\n# B\n";
  const prune = "--cc-pair-id 2 --yes --max-delete 100%";

  /** The same service for a folder beside the one of `service`, which is a repository as well. */
  function beside(service: TestService, files: Record<string, string>): TestService {
    const folder = join(service.folder, "..", "other");
    mkdirSync(join(folder, ".git"), { recursive: true });
    writeFiles(folder, files);
    return { ...service, folder };
  }

  describe("with a state that belongs to another root", () => {
    it("prune removes nothing, though a file is found", async () => {
      const service = await startTestService({ files: { "only.md": "# X\n" }, dialect: "onyx" });
      const line = "ingest . --cc-pair-id 2 --state ../st";
      await expectRun(service, line, 0);
      const other = beside(service, { "o.md": "# O\n" });
      for (const removal of [prune, `${prune} --tombstone`]) {
        await expectRun(
          other,
          `prune . --state ../st ${removal}`,
          2,
          "none of the recorded files exists under this root",
          "--root DIR",
        );
      }
      await expectRun(service, line, 0, "1 unchanged");
    });

    it("prune does not call files gone that exist under the other root", async () => {
      const service = await startTestService({ files: { "only.md": "# X\n" }, dialect: "onyx" });
      const line = "ingest . --cc-pair-id 2 --state ../st";
      await expectRun(service, line, 0);
      const other = beside(service, { "o.md": "# O\n" });
      for (const line of ["prune . --dry-run", "prune . --class excluded --dry-run"]) {
        await expectRun(
          other,
          `${line} --state ../st`,
          2,
          "none of the recorded files exists under this root",
        );
      }
      const status = await runIn(other, "status . --state ../st");
      expect(status.stderr).toContain("none of the files recorded");
    });

    it("retry does not take failed files for deleted ones, and forgets no failure", async () => {
      const service = await startTestService({ files: { "docs/g.md": broken } });
      await expectRun(
        service,
        "ingest . --cc-pair-id 2 --state ../st",
        10,
        "run `knowctl retry --state ../st` or the same command",
      );
      writeFiles(service.folder, { "docs/g.md": "# Good\n" });
      await expectRun(
        beside(service, {}),
        "retry --state ../st",
        2,
        "none of the failed files exists under",
      );
      await expectRun(service, "retry --state ../st", 0);
      expect([...service.sandbox.ledger.documents.keys()]).toEqual(["docs/g.md"]);
    });
  });

  it("the advised retry names the root where that is another one", async () => {
    const service = await startTestService({ files: { "docs/g.md": broken } });
    const other = beside(service, {});
    await expectRun(
      other,
      "ingest ../work/docs --cc-pair-id 2",
      10,
      `run \`knowctl retry\` in ${service.folder} or`,
    );
  });

  describe("orphans of a folder", () => {
    it("keeps a document whose id another folder may have now", async () => {
      const files = {
        "docs/a.md": "---\nid: x\n---\n# A\n",
        "docs/b.md": "# B\n",
        "other/c.md": "# C\n",
      };
      const service = await startTestService({ files, dialect: "onyx" });
      await expectRun(service, "ingest . --cc-pair-id 2", 0);
      renameSync(join(service.folder, "docs/a.md"), join(service.folder, "other/a.md"));
      await expectRun(service, `prune docs ${prune}`, 2, "the id x is not made of its path");
      for (const line of [`prune . ${prune}`, `prune ${prune}`]) {
        expect(await runIn(service, line)).toMatchObject({
          code: 0,
          stderr: "nothing to remove\n",
        });
      }
      rmSync(join(service.folder, "other/a.md"));
      await expectRun(service, `prune ${prune}`, 0);
    });
  });
});

describe("shown paths", () => {
  const files = {
    "docs/a.md": "# A\n",
    "docs/bad.md": "---\nupdated: yesterday\n---\n# B\n",
    "docs/warned.md": "---\nlink: ../x\n---\n# C\n",
    "notes/n.md": "# N\n",
    "notes/utf.md": new Uint8Array([0xff, 0x00, 0xff]),
  };

  let service: TestService;

  beforeEach(async () => {
    service = await startTestService({ files, dialect: "onyx" });
  });

  /** Runs a command line in `docs`, whose root is the folder above. */
  async function run(args: string, more: { isTTY?: boolean; env?: Record<string, string> } = {}) {
    const { isTTY = false, env = {} } = more;
    const cwd = join(service.folder, "docs");
    const context = createTestContext({
      cwd,
      env: { ...service.env, ...env },
      isTTY,
      columns: 200,
    });
    const code = await main(args.split(" "), context);
    return { code, stdout: context.stdoutText(), stderr: context.stderrText() };
  }

  describe("text for people names files as a terminal opens them", () => {
    it("in what is said once for all documents", async () => {
      writeFiles(service.folder, { "docs/p.md": "---\nprivate: true\n---\n# P\n" });
      const { stderr } = await run("ingest p.md --dry-run --cc-pair-id 2");
      expect(stderr).toContain("(private; first: p.md)");
    });

    it("in the plan, which names them from the root as JSON", async () => {
      const plan = "ingest . ../notes --dry-run --cc-pair-id 2";
      const { stdout, stderr } = await run(plan);
      expect(stdout).toMatch(/^create\ta\.md\tdocs\/a\.md\t/m);
      expect(stdout).toMatch(/^failed\tbad\.md\t\t\d+:\d/m);
      expect(stdout).toMatch(/^create\t\.\.\/notes\/n\.md\tnotes\/n\.md\t/m);
      expect(stderr).toContain("warning: 1 document has no link (first: warned.md): ");
      const lines = (await run(`${plan} --output ndjson`)).stdout.trim().split("\n");
      const paths = lines.flatMap((line) => (JSON.parse(line) as { path?: string }).path ?? []);
      expect(paths).toEqual([
        "docs/a.md",
        "docs/warned.md",
        "notes/n.md",
        "docs/bad.md",
        "notes/utf.md",
      ]);
    });

    it("in the summary, warnings, retry and state list", async () => {
      const { stderr } = await run("ingest . ../notes --cc-pair-id 2 --report run.json");
      expect(stderr).toMatch(/^failed bad\.md:\d/m);
      expect(stderr).toMatch(/^failed \.\.\/notes\/utf\.md:/m);
      expect(stderr).toContain("warning: 1 document has no link (first: warned.md): ");
      const report = readFileSync(join(service.folder, "docs/run.json"), "utf8");
      expect(report).toContain('"docs/bad.md"');
      const list = await run("state list --status failed", { isTTY: true });
      expect(list.stdout).toMatch(/ bad\.md /);
      expect(list.stdout).toMatch(/ \.\.\/notes\/utf\.md /);
      const data = await run("state list --status failed");
      expect(data.stdout).toMatch(/\tdocs\/bad\.md\t/);
      rmSync(join(service.folder, "docs/bad.md"));
      expect((await run("retry --cc-pair-id 2")).stderr).toContain("bad.md: the file is gone");
    });

    it("in orphans, explain and documents", async () => {
      await run("ingest a.md ../notes/n.md --cc-pair-id 2");
      rmSync(join(service.folder, "docs/a.md"));
      rmSync(join(service.folder, "notes/n.md"));
      const orphans = "prune . ../notes --cc-pair-id 2 --tombstone --dry-run --max-delete 100%";
      const table = await run(orphans, { isTTY: true });
      expect(table.stdout).toMatch(/^gone +a\.md +docs\/a\.md/m);
      expect(table.stdout).toMatch(/^gone +\.\.\/notes\/n\.md +notes\/n\.md/m);
      expect((await run(orphans)).stdout).toMatch(/^gone\tdocs\/a\.md\t/m);
      expect((await run("explain warned.md", { isTTY: true })).stdout).toMatch(/^\S*warned\.md/m);
      const documents = await run("convert . ../notes");
      expect(documents.stderr).toMatch(/^error: \.\.\/notes\/utf\.md/m);
      expect(documents.stderr).toMatch(/^error: bad\.md:/m);
    });

    it("where two files give one id", async () => {
      const twin = "---\nid: x\n---\n# X\n";
      writeFiles(service.folder, { "docs/x.md": twin, "notes/y.md": twin });
      const { code, stderr } = await run("ingest x.md ../notes/y.md --cc-pair-id 2");
      expect(code).toBe(2);
      expect(stderr).toContain("x: x.md and ../notes/y.md");
    });
  });

  it("annotations name files from the git root, whatever the working directory", async () => {
    const env = { GITHUB_ACTIONS: "true", GITHUB_WORKSPACE: "/somewhere" };
    const { stderr } = await run("ingest bad.md --root . --cc-pair-id 2", { env });
    expect(stderr).toContain("::error file=docs/bad.md,");
    await run("ingest bad.md --root . --cc-pair-id 2 --gitlab-report quality.json");
    const quality = readFileSync(join(service.folder, "docs/quality.json"), "utf8");
    expect(quality).toContain('"path":"docs/bad.md"');
  });

  it("a path is turned, and a text only where it begins with it", () => {
    const shown = pathsFrom("/p/docs", "/p");
    expect([shown("docs/a.md"), shown("n/b.md"), shown("docs"), shown("")]).toEqual([
      "a.md",
      "../n/b.md",
      ".",
      "..",
    ]);
    expect(pathsFrom("/", "/p")("a.md")).toBe("p/a.md");
    expect(pathsFrom("/p", "/p")("a.md")).toBe("a.md");
    expect(shownText("docs/a.md", "docs/a.md:3:1: bad", shown)).toBe("a.md:3:1: bad");
    expect(shownText("docs/a.md", "bad docs/a.md", shown)).toBe("bad docs/a.md");
    expect(shownText("", "anything", shown)).toBe("anything");
    expect(problemAt("docs/a.md", "docs/a.md: bad", shown)).toBe("a.md: bad");
    expect(problemAt("docs/sub", "cannot be read", shown)).toBe("sub: cannot be read");
  });
});

describe("trust", () => {
  async function run(service: TestService, args: string, env: Record<string, string> = {}) {
    const context = createTestContext({ cwd: service.folder, env: { ...service.env, ...env } });
    const code = await main(args.split(" "), context);
    return { code, stdout: context.stdoutText(), stderr: context.stderrText() };
  }

  const prefixed = JSON.stringify({ ingest: { idPrefix: "kb/" } });
  const files = { ".cliconfig.json": prefixed, "docs/a.md": "# A\n" };
  const upload = "ingest docs --cc-pair-id 2";

  describe("an untrusted project file that shapes ids", () => {
    it("stops an upload before anything is sent", async () => {
      const service = await startTestService({ files });
      const stopped = await run(service, upload);
      expect(stopped.code).toBe(3);
      expect(stopped.stderr).toContain(".cliconfig.json is not trusted");
      expect(stopped.stderr).toContain('ingest.idPrefix: "kb/"');
      expect(acceptedIds(service)).toEqual([]);
      expect(service.sandbox.ledger.requests).toEqual([]);
      expect(existsSync(join(service.folder, ".knowctl"))).toBe(false);
      expect(await run(service, upload, { KNOWCTL_TRUST_PROJECT: "1" })).toMatchObject({ code: 0 });
      expect(acceptedIds(service)).toEqual(["kb/docs/a.md"]);
    });

    it("stops no upload where flags or variables give the same things", async () => {
      const own = { idPrefix: "evil/", ccPairId: 7 };
      const profiles = { p: { baseUrl: "https://evil.example", dialect: "onyx" } };
      const aimed = JSON.stringify({ profiles, ingest: own });
      const service = await startTestService({ files: { ...files, ".cliconfig.json": aimed } });
      const stopped = await run(service, "ingest docs");
      expect(stopped).toMatchObject({ code: 3, stderr: expect.stringContaining("trust-project") });
      const env = { KNOWCTL_DIALECT: "standard" };
      const line = "ingest docs --cc-pair-id 2 --id-prefix kb/";
      expect(await run(service, line, env)).toMatchObject({ code: 0 });
      expect(acceptedIds(service)).toEqual(["kb/docs/a.md"]);
      expect(await run(service, "ingest docs --cc-pair-id 2", env)).toMatchObject({ code: 3 });
    });

    it("stops retry, prune and stdin as well", async () => {
      const service = await startTestService({ files, dialect: "onyx" });
      expect(await run(service, upload, { KNOWCTL_TRUST_PROJECT: "1" })).toMatchObject({ code: 0 });
      rmSync(join(service.folder, "docs/a.md"));
      writeFiles(service.folder, { "docs/b.md": "# B\n" });
      for (const args of ["retry", "prune . --yes", "ingest -"]) {
        expect(await run(service, `${args} --cc-pair-id 2`)).toMatchObject({ code: 3 });
      }
      expect(acceptedIds(service)).toEqual(["kb/docs/a.md"]);
    });

    it.each([
      "verify",
      "status --remote",
      "prune --extra --yes",
      "prune --yes",
      "ingest docs --map doc_created_at=born",
    ])("is named by %s, not the dialect that applies without it", async (args) => {
      const onyx = { profiles: { p: { dialect: "onyx" } }, defaultProfile: "p" };
      const aimed = JSON.stringify({ ...onyx, ingest: { idPrefix: "kb/", include: ["docs"] } });
      const service = await startTestService({ files: { ...files, ".cliconfig.json": aimed } });
      const ran = await run(service, args);
      expect(ran.stderr).toContain(".cliconfig.json is not trusted");
      expect(ran.code).toBe(3);
    });

    it("is used as it is by what sends nothing, and nothing is contacted", async () => {
      const aimed = {
        profiles: { p: { baseUrl: "http://127.0.0.1:1", apiKey: { env: "UNSET" } } },
        defaultProfile: "p",
        ingest: { idPrefix: "kb/", connector: "Handbook uploads" },
      };
      const service = await startTestService({
        files: { ...files, ".cliconfig.json": JSON.stringify(aimed) },
      });
      for (const args of ["ingest docs --dry-run", "convert docs", "explain docs/a.md"]) {
        const ran = await run(service, args);
        expect(ran).toMatchObject({ code: 0 });
        expect(ran.stdout).toContain("kb/docs/a.md");
      }
      const planned = await run(service, "ingest docs --dry-run");
      expect(planned.stderr).toContain("connector Handbook uploads is not looked up");
    });
  });
});
