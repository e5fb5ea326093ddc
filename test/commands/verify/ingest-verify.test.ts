import {
  cpSync,
  existsSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SignalReceived } from "../../../src/context.ts";
import { main, runHere } from "../../main.ts";
import {
  type TestService,
  type TestServiceOptions,
  startTestService,
  testKey,
  writeFiles,
} from "../../service.ts";
import { cleanEnvironment, createTestContext, temporaryFolder } from "../../support.ts";
import { runIndexed } from "./support.ts";
import { remove, storedIn } from "../status/support.ts";

describe("ingest verify", () => {
  const files = Object.fromEntries(
    Array.from({ length: 6 }, (_, index) => [
      `docs/${index}.md`,
      `# Page ${index}\n\nThe rule number ${index * 7} says that code W${index}X${index * 13} applies.\n`,
    ]),
  );

  async function start(options: TestServiceOptions = {}) {
    const service = await startTestService({ dialect: "onyx", files, ...options });
    return { ...service, run: (line: string, stdin?: string) => runIndexed(service, line, stdin) };
  }

  const faulty = (index: Record<string, object>): TestServiceOptions => ({
    faults: {
      rules: Object.entries(index).map(([documentId, fault]) => ({
        when: { documentId },
        do: { index: fault },
      })),
    },
  });

  const upload = "ingest docs --cc-pair-id 2";
  const parse = (stdout: string) =>
    stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  describe("ingest --verify", () => {
    it("waits until the index holds what was sent", async () => {
      const { run } = await start({ faults: { index: { delayRequests: 2 } } });
      const { code, stderr } = await run(`${upload} --verify`);
      expect(stderr).toContain("checking 6 documents: at least 12 requests");
      expect(stderr).toMatch(/done: 6 created, 6 verified/);
      expect(code).toBe(0);
      // Nothing was sent, so there is nothing to check.
      expect((await run(`${upload} --verify`)).code).toBe(0);
    });

    it("does not end with 0 while a document is missing that an earlier run sent", async () => {
      const { run, folder } = await start(faulty({ "docs/1.md": { keeps: "nothing" } }));
      const line = `${upload} --verify --wait 1s --report r.json`;
      expect((await run(line)).code).toBe(13);
      // Its report is not taken for one with nothing to do.
      const retried = await run("retry r.json");
      expect(retried.stderr).toContain(
        "no file failed, but 1 document of that report was not found in the index",
      );
      expect(retried.code).toBe(10);
      const again = await run(line);
      expect(again.stderr).toContain(
        "1 document of an earlier run was not in the index when last checked",
      );
      expect(again.stderr).toContain("`knowctl retry --missing` sends them again");
      expect(again.code).toBe(13);
      const status = (): unknown =>
        (JSON.parse(readFileSync(join(folder, "r.json"), "utf8")) as { status: unknown }).status;
      expect(status()).toBe("partial");
      // A plain upload checks nothing and claims nothing.
      expect((await run(upload)).code).toBe(0);
      expect((await run("ingest - --cc-pair-id 2 --verify", "")).stderr).not.toContain(
        "not in the index",
      );
      rmSync(join(folder, "docs/1.md"));
      expect((await run(line)).code).toBe(0);
      expect(status()).toBe("ok");
    });

    it("does not end with 0 while a document is hidden that an earlier run sent", async () => {
      const { run } = await start(faulty({ "docs/1.md": { hidden: true } }));
      const line = `${upload} --verify --wait 1s`;
      expect((await run(line)).stderr).toContain("1 document not as uploaded: 1 hidden");
      const { code, stderr } = await run(line);
      expect(stderr).toContain("1 document of an earlier run was hidden when last checked");
      expect(stderr).not.toContain("retry --missing");
      expect(code).toBe(13);
    });

    it("ends with 0 where this run leaves out the document that is missing", async () => {
      const { run, folder } = await start(faulty({ "docs/1.md": { keeps: "nothing" } }));
      const line = `${upload} --verify --wait 1s`;
      expect((await run(line)).code).toBe(13);
      expect((await run(`${line} --exclude docs/1.md`)).code).toBe(0);
      const shards = [await run(`${line} --shard 1/2`), await run(`${line} --shard 2/2`)];
      expect(shards.map(({ code }) => code).toSorted((a, b) => a - b)).toEqual([0, 13]);
      writeFiles(folder, { "docs/1.md": "---\ndraft: true\n---\n# Page 1\n" });
      expect((await run(line)).code).toBe(0);
    });

    it("ends a repeated upload with 10 while a document is undecided", async () => {
      const { run } = await start({
        files: { "docs/1.txt": "Rules\n\nalpha beta gamma delta\n" },
        faults: { rules: [{ when: { path: "/api/document/chunk-info" }, do: { body: {} } }] },
      });
      expect((await run(`${upload} --verify --wait 1s`)).code).toBe(10);
      const again = await run(`${upload} --verify --wait 1s`);
      expect(again.stderr).toContain(
        "1 document of an earlier run was undecided when last checked",
      );
      expect(again.code).toBe(10);
    });

    it("ends a repeated upload with 10 after an interrupted check, until verify has found all", async () => {
      const { run, folder: cwd, env } = await start(faulty({ "docs/1.md": { keeps: "nothing" } }));
      const context = createTestContext({ cwd, env });
      // The check waits for the index, where it lacks a document.
      const sleep = (): Promise<void> => {
        context.abort(new SignalReceived("SIGINT", "interrupted"));
        return Promise.reject(new SignalReceived("SIGINT", "interrupted"));
      };
      const argv = [...upload.split(" "), "--verify"];
      expect(await main(argv, { ...context, sleep })).toBe(130);
      const again = await run(`${upload} --verify`);
      expect(again.stderr).toMatch(
        /documents? of (?:an )?earlier runs? (?:was|were) undecided when last checked/,
      );
      expect(again.code).toBe(10);
      expect((await run("verify")).code).toBe(13);
      expect((await run(`${upload} --verify`)).code).toBe(13);
    });

    it("checks in a repeated upload what a killed one sent", async () => {
      const { run, folder: cwd, env } = await start(faulty({ "docs/1.md": { keeps: "nothing" } }));
      const context = createTestContext({ cwd, env });
      const [state, killed] = [join(cwd, ".knowctl"), join(cwd, "killed")];
      // As a kill leaves it, while the check waits for the document that is missing.
      const sleep = (): Promise<void> => {
        const isChecking = context.stderrText().includes("checking 6 documents");
        if (isChecking && !existsSync(killed)) cpSync(state, killed, { recursive: true });
        return Promise.resolve();
      };
      await main([...upload.split(" "), "--verify", "--wait", "1s"], { ...context, sleep });
      rmSync(state, { recursive: true });
      renameSync(killed, state);
      const { code, stderr } = await run(`${upload} --verify --wait 1s`);
      expect(stderr).toMatch(/checking \d documents? that an earlier run sent and did not check/);
      expect(stderr).toContain("1 document not as uploaded: 1 missing");
      expect(code).toBe(13);
    });

    it("waits until the index lacks a paragraph that was removed", async () => {
      const text = "Rules\n\nalpha beta gamma delta\n";
      const body = { content: `${text}\nAnother paragraph, removed since.`, num_tokens: 9 };
      const { run } = await start({
        files: { "docs/1.txt": text },
        faults: { rules: [{ when: { path: "/api/document/chunk-info", first: 1 }, do: { body } }] },
      });
      const { code, stderr } = await run(`${upload} --verify`);
      expect(stderr).toContain("1 verified");
      expect(code).toBe(0);
    });

    it("never takes old versions of all documents for context that the service adds", async () => {
      const footer = "\nWritten by the people team, who answer every question.\n";
      const withFooter = Object.entries(files).map(([path, text]) => [path, text + footer]);
      const { run, folder } = await start({
        files: Object.fromEntries(withFooter) as Record<string, string>,
        faults: {
          rules: [
            {
              when: { path: "/api/onyx-api/ingestion", after: 6 },
              do: { index: { keeps: "old" } },
            },
          ],
        },
      });
      expect((await run(`${upload} --verify`)).code).toBe(0);
      writeFiles(folder, files);
      const { code, stderr } = await run(`${upload} --verify --wait 0`);
      expect(stderr).toContain("6 updated");
      expect(stderr).toContain("6 updated, 0 verified");
      expect(code).toBe(10);
      expect((await run("verify")).code).toBe(10);
    });

    it("names what is not in the index, and ends with 13", async () => {
      const { run } = await start(
        faulty({ "docs/1.md": { keeps: "nothing" }, "docs/2.md": { keeps: "row" } }),
      );
      const { code, stdout } = await run(`${upload} --verify --wait 2s --output ndjson`);
      const lines = parse(stdout);
      const verified = lines.filter(({ type }) => type === "verified");
      expect(verified).toHaveLength(6);
      expect(verified.find(({ id }) => id === "docs/1.md")).toMatchObject({
        version: 1,
        result: "missing",
        path: "docs/1.md",
      });
      expect(lines.at(-1)).toMatchObject({
        type: "result",
        status: "partial",
        counts: { verified: 4 },
      });
      expect(code).toBe(13);
      const state = await run("verify --since-last --json");
      expect(JSON.parse(state.stdout)).toMatchObject({ summary: { documents: 2 } });
    });

    it("repeats what an earlier check did not find, whatever else fails in this run", async () => {
      const { run, folder } = await start(
        faulty({ "docs/1.md": { keeps: "nothing" }, "docs/new.md": { keeps: "nothing" } }),
      );
      const line = `${upload} --verify --wait 1s`;
      expect((await run(line)).code).toBe(13);
      const repeated =
        "warning: 1 document of an earlier run was not in the index when last checked; `knowctl verify` checks them again; `knowctl retry --missing` sends them again\n";

      writeFiles(folder, { "docs/new.md": "# New\n\nThis page is new.\n" });
      const lost = await run(line);
      expect(lost.code).toBe(13);
      expect(lost.stderr).toContain(repeated);
      expect(lost.stderr).toContain("error: 1 document not as uploaded: 1 missing");

      writeFiles(folder, { "docs/bad.md": "---\nupdated: never\n---\n# Bad\n\nText.\n" });
      const failed = await run(line);
      expect(failed.code).toBe(10);
      expect(failed.stderr).toContain("warning: 2 documents of earlier runs were not in the index");
      expect(failed.stderr).toContain("error: 1 document failed; the others were sent");
      // This one is not unchanged: it is left as it was sent.
      writeFiles(folder, { "docs/1.md": "---\nupdated: never\n---\n# Page 1\n\nChanged.\n" });
      const changed = await run(line);
      expect(changed.stderr).toContain(
        "warning: 2 documents of earlier runs were not in the index",
      );
      expect(changed.stderr).not.toContain("unchanged document");
      // Without --verify, nothing is claimed of the index.
      expect((await run(upload)).stderr).not.toContain("when last checked");
    });

    it("sums up what this run's check did not find where documents failed", async () => {
      const { run } = await start({
        ...faulty({ "docs/1.md": { keeps: "nothing" } }),
        files: { ...files, "docs/bad.md": "---\nupdated: never\n---\n# Bad\n\nText.\n" },
      });
      const { code, stderr } = await run(`${upload} --verify --wait 1s`);
      expect(code).toBe(10);
      // The failure of the upload decides the exit code.
      expect(stderr).toMatch(/^ *missing +docs\/1\.md/m);
      expect(stderr).toContain("warning: 1 document not as uploaded: 1 missing; ");
      expect(stderr).toContain("`knowctl retry --missing`");
      expect(stderr).not.toContain("when last checked");
    });

    it("writes reports of a check, and annotates the files in a GitHub job", async () => {
      const { run, folder, env, sandbox } = await start(
        faulty({ "docs/1.md": { keeps: "nothing" } }),
      );
      const github = { ...env, GITHUB_ACTIONS: "true", GITHUB_WORKSPACE: folder };
      const inJob = (line: string) => runHere(line.split(" "), { cwd: folder, env: github });
      const annotation =
        /^::error file=docs\/1\.md,title=Not in the index as uploaded%3A missing::the service has/m;
      const uploaded = await inJob(`${upload} --verify --wait 0`);
      expect(uploaded.stderr).toMatch(annotation);
      await sandbox.idle();
      const checked = await inJob("verify --report r.xml --report r.html");
      expect(checked.stderr).toMatch(annotation);
      const xml = readFileSync(join(folder, "r.xml"), "utf8");
      expect(xml).toMatch(/<testsuites name="knowctl verify" tests="2" failures="1"/);
      expect(xml).toContain(
        'name="docs/1.md" file="docs/1.md" time="0.000"><failure message="the service has',
      );
      const html = readFileSync(join(folder, "r.html"), "utf8");
      expect(html).toContain('<i class="word bad">missing</i>the service has');
      expect((await run("verify --report r.txt")).code).toBe(2);
      symlinkSync("/dev/full", join(folder, "full.xml"));
      const failing = await inJob("verify --report full.xml --report after.html");
      expect(failing.stderr).toMatch(annotation);
      expect(failing.stderr).toContain("the disk is full");
      expect(existsSync(join(folder, "after.html"))).toBe(true);
    });

    it("records no key that is part of an id", async () => {
      const { run, folder } = await start({
        files: { [`docs/${testKey}.md`]: "# A\n\nText a.\n" },
      });
      expect((await run(`${upload} --allow-secrets --verify`)).stderr).toContain("1 verified");
      const state = readdirSync(join(folder, ".knowctl")).map((name) =>
        readFileSync(join(folder, ".knowctl", name), "latin1"),
      );
      expect(state.join("")).not.toContain(testKey);
    });

    it("checks documents from stdin", async () => {
      const { run } = await start(faulty({ b: { keeps: "nothing" } }));
      const line = (id: string) =>
        `${JSON.stringify({ id, sections: [{ text: `text of ${id}` }], source: "file", semantic_identifier: id, metadata: {} })}\n`;
      const { code, stderr } = await run(
        "ingest - --cc-pair-id 2 --verify --wait 1s",
        line("a") + line("b"),
      );
      expect(stderr).toMatch(/missing +b: /);
      expect(code).toBe(13);
      // The document is sent no more, and no file of it can be sent again.
      const again = await run("ingest - --cc-pair-id 2 --verify --wait 1s", line("a"));
      expect(again.stderr).toContain(
        "1 document of an earlier run was not in the index when last checked",
      );
      const forget = /`knowctl (state forget) ID`/.exec(again.stderr)?.[1];
      expect(again.code).toBe(13);
      expect((await run(`${forget} b`)).code).toBe(0);
      expect((await run("ingest - --cc-pair-id 2 --verify --wait 1s", line("a"))).code).toBe(0);
    });

    it.each<[string, TestServiceOptions, number]>([
      ["the dialect cannot tell", { dialect: "standard" }, 9],
      ["the endpoint is missing", { faults: { missing: ["/document/document-size-info"] } }, 9],
      ["the key may not ask", { faults: { denied: ["/document/document-size-info"] } }, 4],
    ])("sends nothing where %s", async (_, options, exit) => {
      const { run, sandbox } = await start(options);
      expect((await run(`${upload} --verify`)).code).toBe(exit);
      expect(sandbox.ledger.documents.size).toBe(0);
    });
  });
});

describe("carried", () => {
  const files = Object.fromEntries(
    ["a", "b", "c"].map((name) => [`docs/${name}.md`, `# ${name}\n\nThe code is W${name}X.\n`]),
  );
  const upload = "ingest docs --cc-pair-id 2 --verify --wait 1s";

  /** A service that loses the first upload of docs/a.md. */
  async function startLosing(): Promise<TestService> {
    const rules = [
      { when: { documentId: "docs/a.md", first: 1 }, do: { index: { keeps: "nothing" as const } } },
    ];
    return await startTestService({ dialect: "onyx", files, faults: { rules } });
  }

  /** Another checkout of the project, as the next job of a pipeline has it. */
  function nextJob({ env, sandbox }: TestService): Pick<TestService, "folder" | "env" | "sandbox"> {
    const home = temporaryFolder();
    const folder = join(home, "elsewhere");
    writeFiles(folder, { ".git/HEAD": "", ...files });
    const { KNOWCTL_BASE_URL = "", KNOWCTL_API_KEY = "", KNOWCTL_DIALECT = "" } = env;
    return {
      folder,
      sandbox,
      env: cleanEnvironment(home, { KNOWCTL_BASE_URL, KNOWCTL_API_KEY, KNOWCTL_DIALECT }),
    };
  }

  it("an exported state brings the checks: what was missing stays so on another machine", async () => {
    const service = await startLosing();
    expect((await runIndexed(service, upload)).code).toBe(13);
    const { stdout: missing } = await runIndexed(service, "state export");
    const job = nextJob(service);
    expect((await runIndexed(job, "state import - --yes", missing)).code).toBe(0);
    expect((await runIndexed(job, upload)).code).toBe(13);
    expect((await runIndexed(job, "retry --missing")).code).toBe(0);
    const { stdout: sent } = await runIndexed(job, "state export");
    const last = nextJob(service);
    expect((await runIndexed(last, "state import - --yes", sent)).code).toBe(0);
    await service.sandbox.idle();
    const checked = await runIndexed(last, upload);
    expect(checked.stderr).toContain("checking 1 document that an earlier run sent");
    expect(checked.code).toBe(0);
    expect((await runIndexed(last, "verify --since-last")).stderr).toContain(
      "3 documents found current",
    );
  });

  it("of two checks of a document the last one is kept, in any order", async () => {
    const service = await startLosing();
    expect((await runIndexed(service, `${upload} --shard 1/2`)).code).not.toBe(2);
    expect((await runIndexed(service, `${upload} --shard 2/2`)).code).not.toBe(2);
    const before = (await runIndexed(service, "state export")).stdout;
    await runIndexed(service, "retry --missing");
    await service.sandbox.idle();
    expect((await runIndexed(service, "verify")).code).toBe(0);
    const after = (await runIndexed(service, "state export")).stdout;
    for (const order of [
      [before, after],
      [after, before],
    ]) {
      const job = nextJob(service);
      writeFiles(job.folder, { "1.ndjson": order[0]!, "2.ndjson": order[1]! });
      expect((await runIndexed(job, "state import 1.ndjson --yes 2.ndjson")).code).toBe(0);
      expect((await runIndexed(job, upload)).code).toBe(0);
    }
    const old = nextJob(service);
    expect((await runIndexed(old, "state import - --yes", after)).code).toBe(0);
    expect((await runIndexed(old, "state import - --yes", before)).code).toBe(0);
    expect((await runIndexed(old, upload)).code).toBe(0);
  });
});

describe("two pairs", () => {
  const page = (name: string): string => `# Page ${name}\n\nThe code of ${name} is W${name}X.\n`;
  const files = Object.fromEntries(["a", "b", "d"].map((name) => [`docs/${name}.md`, page(name)]));
  const config = {
    ingest: { include: ["docs"], ccPairId: 2, rules: [{ match: "docs/d.md", ccPairId: 7 }] },
  };

  /** A project with documents in the pair of its configuration and in that of a rule. */
  async function startByRule(): Promise<TestService> {
    const service = await startTestService({ dialect: "onyx", files });
    writeFiles(service.folder, { ".cliconfig.json": JSON.stringify(config) });
    const trusted = { ...service, env: { ...service.env, KNOWCTL_TRUST_PROJECT: "1" } };
    expect((await runIndexed(trusted, "ingest")).code).toBe(0);
    await service.sandbox.idle();
    return trusted;
  }

  it("retry --missing sends each document to the pair that it was recorded for", async () => {
    const service = await startByRule();
    expect((await runIndexed(service, "ingest --cc-pair-id 4")).code).toBe(0);
    await service.sandbox.idle();
    for (const name of ["a", "d"]) await remove(service, `docs/${name}.md`);
    expect((await runIndexed(service, "verify")).code).toBe(13);
    const { code, stderr } = await runIndexed(service, "retry --missing");
    expect(stderr).toContain("2 files with documents that verify did not find\n");
    expect(code).toBe(0);
    expect(await storedIn(service, 2)).toEqual(["docs%2Fa.md", "docs%2Fb.md"]);
    expect(await storedIn(service, 7)).toEqual(["docs%2Fd.md"]);
    expect(await storedIn(service, 4)).toEqual(["docs%2Fa.md", "docs%2Fb.md", "docs%2Fd.md"]);
  });

  it("what a check does not find is missing for each pair with this version", async () => {
    const service = await startTestService({ dialect: "onyx", files });
    const upload = (pair: number) => `ingest docs --cc-pair-id ${pair} --verify --wait 1s`;
    expect((await runIndexed(service, upload(2))).code).toBe(0);
    expect((await runIndexed(service, upload(7))).code).toBe(0);
    await remove(service, "docs/a.md");
    expect((await runIndexed(service, "verify --cc-pair-id 7")).code).toBe(13);
    expect((await runIndexed(service, upload(2))).code).toBe(13);
    expect((await runIndexed(service, "retry --missing --cc-pair-id 2")).code).toBe(0);
    await service.sandbox.idle();
    expect((await runIndexed(service, upload(2))).code).toBe(0);
    // It is not in that pair yet.
    expect((await runIndexed(service, upload(7))).code).toBe(13);
    expect((await runIndexed(service, "retry --missing --cc-pair-id 7")).code).toBe(0);
    await service.sandbox.idle();
    expect((await runIndexed(service, upload(7))).code).toBe(0);
    expect(await storedIn(service, 7)).toContain("docs%2Fa.md");
  });

  it("a check of another version for another pair says nothing about a run", async () => {
    const service = await startByRule();
    expect((await runIndexed(service, "ingest docs/a.md --cc-pair-id 4")).code).toBe(0);
    writeFiles(service.folder, { "docs/a.md": page("other") });
    await service.sandbox.idle();
    expect((await runIndexed(service, "verify --cc-pair-id 4")).code).toBe(10);
    const { code, stderr } = await runIndexed(service, "ingest --verify --wait 1s");
    expect(stderr).toContain("1 updated");
    expect(code).toBe(0);
  });
});

describe("stopped", () => {
  const files = Object.fromEntries(
    Array.from({ length: 6 }, (_, index) => [
      `docs/${index}.md`,
      `# Page ${index}\n\nRule ${index}.\n`,
    ]),
  );

  /** A service that refuses the key after some look-ups. */
  async function startRefusing(after: number) {
    const path = "/api/document/document-size-info";
    const service = await startTestService({
      dialect: "onyx",
      files,
      faults: {
        rules: [{ when: { path, after }, do: { status: 401 } }],
      },
    });
    const { folder: cwd, env, sandbox } = service;
    const run = (line: string) => runHere(line.split(" "), { cwd, env });
    expect((await run("ingest docs --cc-pair-id 2 --quiet")).code).toBe(0);
    await sandbox.idle();
    return { run, read: (name: string): string => readFileSync(join(cwd, name), "utf8") };
  }

  it("a stopped check shows and reports what it has found, and what it has not checked", async () => {
    const { run, read } = await startRefusing(4);
    const reports = "--report v.json --report v.xml --report v.html";
    const { code, stderr } = await run(`verify --depth exists --concurrency 1 ${reports}`);
    expect(code).toBe(4);
    expect(stderr).toMatch(/\n\d present, \d not checked\nerror: .*: 401/);
    const { status, summary } = JSON.parse(read("v.json")) as {
      status: string;
      summary: { documents: number };
    };
    expect(status).toBe("partial");
    const left = `${6 - summary.documents} documents not checked`;
    expect(stderr).toContain(`${6 - summary.documents} not checked`);
    expect(read("v.xml")).toContain(`<error message="${left}"`);
    expect(read("v.html")).toContain(left);
  });

  it("a check that found nothing before it was stopped writes no report", async () => {
    const { run, read } = await startRefusing(0);
    const { code, stdout } = await run("verify --json --report v.json");
    expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
    expect(() => read("v.json")).toThrow("ENOENT");
  });
});
