import { existsSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type TestService, startTestService, testKey, writeFiles } from "../../service.ts";
import { runHere } from "../../main.ts";
import { acceptedIds, ingest, runIngest } from "./support.ts";
import type { FaultRule } from "../../../src/sandbox/http/faults.ts";
import { expectRun, runIn } from "../state/support.ts";
import type { IngestOptions } from "../../../src/commands/ingest/ingest-options.ts";
import { parseReport } from "../../../src/output/report/stored/read.ts";
import { createTestContext } from "../../support.ts";

describe("ingest", () => {
  const handbook = {
    "docs/leave.md":
      "---\ntitle: Annual leave\ntags: [hr, leave]\nversion: 1.10\nowner: Ada Lovelace <ada@example.com>\nupdated: 2024-05-01\n---\n# Leave\n\nAsk your lead.\n",
    "docs/expenses.md": "# Expenses\n\nKeep receipts.\n",
    "docs/plain.txt": "Plain text.\n",
  };

  function run(
    service: TestService,
    args: string[],
    { cwd = service.folder, env = service.env } = {},
  ) {
    return runHere(args, { cwd, env });
  }

  function sentIds(service: TestService): string[] {
    return [...service.sandbox.ledger.documents.keys()].toSorted();
  }

  /** Bodies accepted for one id. */
  function bodies(service: TestService, id: string) {
    return service.sandbox.ledger.documents.get(id) ?? [];
  }

  const ingest = (...rest: string[]): string[] => ["ingest", "docs", "--cc-pair-id", "2", ...rest];

  describe("ingest", () => {
    it("uploads a folder with its front matter, and a second run sends nothing", async () => {
      const service = await startTestService({ files: handbook });
      const first = await run(service, ingest("--output", "json"));
      expect(first).toMatchObject({ code: 0 });
      expect(JSON.parse(first.stdout)).toMatchObject({
        version: 1,
        status: "ok",
        counts: { created: 3, updated: 0, unchanged: 0, failed: 0 },
      });
      expect(sentIds(service)).toEqual(["docs/expenses.md", "docs/leave.md", "docs/plain.txt"]);
      expect(bodies(service, "docs/leave.md")).toMatchObject([
        {
          cc_pair_id: 2,
          document: {
            semantic_identifier: "Annual leave",
            source: "file",
            metadata: { tags: ["hr", "leave"], version: "1.10" },
            doc_updated_at: "2024-05-01T00:00:00Z",
            primary_owners: [{ display_name: "Ada Lovelace", email: "ada@example.com" }],
          },
        },
      ]);
      const requests = service.sandbox.ledger.requestCount;
      const second = await run(service, ingest());
      expect(second).toMatchObject({ code: 0, stdout: "" });
      expect(second.stderr).toContain("3 unchanged");
      expect(service.sandbox.ledger.requestCount).toBe(requests);
    });

    it("sends only what changed, and again when the mapping changed", async () => {
      const service = await startTestService({ files: handbook });
      await run(service, ingest());
      writeFiles(service.folder, { "docs/expenses.md": "# Expenses\n\nKeep all receipts.\n" });
      const changed = await run(service, ingest());
      expect(changed.stderr).toContain("1 updated, 2 unchanged");
      expect(bodies(service, "docs/expenses.md")).toHaveLength(2);
      const mapped = await run(service, ingest("--metadata", "team=people"));
      expect(mapped.stderr).toContain("3 updated");
      expect(bodies(service, "docs/leave.md")[1]?.document.metadata).toMatchObject({
        team: "people",
      });
    });

    it("finds a changed text behind the same size and mtime", async () => {
      const service = await startTestService({ files: handbook });
      const path = join(service.folder, "docs/expenses.md");
      utimesSync(path, 1_700_000_000, 1_700_000_000);
      await run(service, ingest());
      writeFileSync(path, "# Expenses\n\nKeep RECEIPTS.\n");
      utimesSync(path, 1_700_000_000, 1_700_000_000);
      expect((await run(service, ingest())).stderr).toContain("1 updated");
      expect(statSync(path).mtimeMs).toBe(1_700_000_000_000);
    });

    it("has the same ids from every working directory", async () => {
      const service = await startTestService({ files: handbook });
      await run(service, ingest());
      const args = ["ingest", ".", "--cc-pair-id", "2"];
      const inside = await run(service, args, { cwd: join(service.folder, "docs") });
      expect(inside.stderr).toContain("3 unchanged");
      expect(sentIds(service)).toHaveLength(3);
    });

    it("sends the rest when one document is broken, and names file, line and remedy", async () => {
      const files = { ...handbook, "docs/broken.md": "---\ntitle: [unclosed\n---\ntext\n" };
      const service = await startTestService({ files });
      const result = await run(service, ingest());
      expect(result.code).toBe(10);
      expect(result.stderr).toMatch(/docs\/broken\.md:\d+:\d+: /);
      expect(result.stderr).toContain("3 created, 1 failed");
      expect(sentIds(service)).toHaveLength(3);
    });

    it("names the nearest sources for a document with an unknown one", async () => {
      const files = { ...handbook, "docs/bad.md": "---\nsource: conflunce\n---\nText.\n" };
      const service = await startTestService({ files, sandbox: { dialect: "onyx" } });
      const env = { ...service.env, KNOWCTL_DIALECT: "onyx" };
      const { code, stderr } = await run(service, ingest(), { env });
      expect(code).toBe(10);
      expect(stderr).toContain('document.source: "conflunce" is unknown; the nearest of');
      expect(stderr).toContain("valid names: confluence, ");
      expect(sentIds(service)).toHaveLength(3);
    });

    it("refuses two files with one id before anything is sent", async () => {
      const files = {
        "docs/a.md": "---\nid: same\n---\nA\n",
        "docs/b.md": "---\nid: same\n---\nB\n",
      };
      const service = await startTestService({ files });
      const result = await run(service, ingest());
      expect(result.code).toBe(2);
      expect(result.stderr).toContain("same: docs/a.md and docs/b.md");
      expect(service.sandbox.ledger.requestCount).toBe(0);
    });

    const refusals: [string, string[], number, RegExp][] = [
      [
        "no pair of prune",
        ["prune", "docs", "--tombstone", "--dry-run"],
        2,
        /where were the documents sent\?\n.*connectors list`\n.*ccPairId in the configuration\n$/,
      ],
      ["no pair", ["ingest", "docs"], 2, /no cc_pair_id.*\n.*knowctl connectors list/],
      ["a pair that does not exist", ["ingest", "docs", "--cc-pair-id", "999"], 9, /no pair 999/],
      ["a connector that does not exist", ["ingest", "docs", "--connector", "Nope"], 9, /Nope/],
      ["a folder that does not exist", ["ingest", "nowhere", "--cc-pair-id", "2"], 2, /nowhere/],
      [
        "an empty folder",
        ["ingest", "empty", "--cc-pair-id", "2"],
        2,
        /0 documents found in empty/,
      ],
      [
        "a path outside the root",
        ["ingest", "docs", "..", "--root", ".", "--cc-pair-id", "2"],
        2,
        /outside/,
      ],
      ["nothing to ingest", ["ingest"], 2, /nothing to ingest/],
      ["pair 0", ["ingest", "docs", "--cc-pair-id", "0"], 2, /whole number from 1/],
      ["stdin", ["ingest", "-", "--cc-pair-id", "2"], 2, /stdin/],
    ];
    it("says what to do", async () => {
      const service = await startTestService({ files: { ...handbook, "empty/image.png": "x" } });
      for (const [name, args, code, message] of refusals) {
        const result = await run(service, args);
        expect(result.stderr, name).toMatch(message);
        expect(result.code, name).toBe(code);
      }
      expect(sentIds(service)).toEqual([]);
    });

    it("takes the pair by connector name", async () => {
      const service = await startTestService({ files: handbook });
      const result = await run(service, ["ingest", "docs", "--connector", "Handbook uploads"]);
      expect(result.code).toBe(0);
      expect(bodies(service, "docs/leave.md")[0]?.cc_pair_id).toBe(2);
    });

    it("says how many warnings it does not show", async () => {
      const unclosed = "---\ntitle: A\n\ntext without an end of the front matter\n";
      const files = Object.fromEntries(
        Array.from({ length: 60 }, (_, n) => [`docs/${n}.md`, unclosed]),
      );
      const service = await startTestService({ files });
      const result = await run(service, ingest());
      expect(result.code).toBe(0);
      const warnings = result.stderr.split("\n").filter((line) => line.startsWith("warning: "));
      expect(warnings).toHaveLength(51);
      expect(warnings.at(-1)).toBe("warning: … and 10 more");
    });

    it("prints a line per document as ndjson, the result last", async () => {
      const service = await startTestService({
        files: { ...handbook, "docs/draft.md": "---\ndraft: true\n---\nx\n" },
      });
      const result = await run(service, ingest("--output", "ndjson"));
      const lines = result.stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      expect(
        lines
          .slice(0, -1)
          .map(({ status }) => String(status))
          .toSorted((a, b) => a.localeCompare(b)),
      ).toEqual(["created", "created", "created", "skipped"]);
      expect(lines.at(-1)).toMatchObject({
        type: "result",
        status: "ok",
        counts: { created: 3, skipped: 1 },
      });
    });

    it("leaves no key in output, state or logs", async () => {
      const service = await startTestService({ files: handbook });
      const result = await run(service, ingest("--debug"));
      expect(result.code).toBe(0);
      expect(result.stdout + result.stderr).not.toContain(testKey);
      const state = readFileSync(join(service.folder, ".knowctl", "state.db"));
      expect(state.includes(testKey)).toBe(false);
    });
  });

  describe("explain", () => {
    const config = {
      ingest: { ccPairId: 2, rules: [{ match: "docs/leave*", ccPairId: 7 }] },
    };
    const cases: [string, string[], unknown][] = [
      ["the configured pair", ["docs/expenses.md"], 2],
      ["the pair of a rule, which wins over the configured one", ["docs/leave.md"], 7],
      ["the pair of a flag, which wins over both", ["docs/leave.md", "--cc-pair-id", "4"], 4],
      [
        "the connector of a flag",
        ["docs/leave.md", "--connector", "Release notes"],
        "Release notes",
      ],
    ];
    it("names the target", async () => {
      const files = { ...handbook, ".cliconfig.json": JSON.stringify(config) };
      const service = await startTestService({ files });
      for (const [name, args, target] of cases) {
        const result = await run(service, ["explain", ...args]);
        expect(JSON.parse(result.stdout), name).toMatchObject({ target });
      }
    });
  });

  describe("ingest --dry-run", () => {
    it("shows the plan without key, connection or trace", async () => {
      const service = await startTestService({ files: handbook });
      const { KNOWCTL_API_KEY: _key, KNOWCTL_BASE_URL: _url, ...bare } = service.env;
      const result = await run(service, ingest("--dry-run"), { env: bare });
      expect(result.code).toBe(0);
      expect(result.stdout.trimEnd().split("\n")).toEqual([
        "create\tdocs/expenses.md\tdocs/expenses.md\t",
        "create\tdocs/leave.md\tdocs/leave.md\t",
        "create\tdocs/plain.txt\tdocs/plain.txt",
      ]);
      expect(existsSync(join(service.folder, ".knowctl"))).toBe(false);
      expect(service.sandbox.ledger.requestCount).toBe(0);
    });

    it("tells new, changed fields, unchanged and gone apart, and exits 12 when asked", async () => {
      const service = await startTestService({ files: handbook });
      await run(service, ingest());
      expect(await run(service, ingest("--dry-run", "--exit-code"))).toMatchObject({ code: 0 });
      writeFiles(service.folder, {
        "docs/new.md": "new\n",
        "docs/expenses.md": "---\nteam: x\n---\n# Expenses\n\nKeep receipts.\n",
      });
      rmSync(join(service.folder, "docs/plain.txt"));
      const result = await run(service, ingest("--dry-run", "--exit-code", "--output", "json"));
      expect(result.code).toBe(12);
      const plan = JSON.parse(result.stdout) as {
        documents: { action: string; path: string; detail: string }[];
      };
      expect(
        plan.documents.map(({ action, path, detail }) => [
          action,
          path,
          action === "changed" ? detail : "",
        ]),
      ).toEqual([
        ["changed", "docs/expenses.md", "metadata"],
        ["new", "docs/new.md", ""],
        ["unchanged", "docs/leave.md", ""],
        ["gone", "docs/plain.txt", ""],
      ]);
    });
  });

  describe("the id that the service returns", () => {
    const answering = (id: string): FaultRule => ({
      when: { method: "POST", path: "/api/svc-api/ingestion" },
      do: { status: 200, body: { document_id: id, already_existed: false } },
    });
    const files = { "a.md": "# A\n\nText.\n", "b.md": "# B\n\nText.\n", "c.md": "# C\n\nText.\n" };

    it("is a warning, once, if it is the same for several documents", async () => {
      const service = await startTestService({ files, faults: { rules: [answering("same")] } });
      const { stderr } = await expectRun(service, "ingest . --cc-pair-id 2 --concurrency 1", 0);
      expect(stderr.match(/^warning: the service returned .*$/gm)).toEqual([
        "warning: the service returned the same id for a.md and b.md: it may store only one of them",
      ]);
    });

    it("is refused if it is too long to store", async () => {
      const rules = [answering("x".repeat(900_000))];
      const service = await startTestService({ files, faults: { rules } });
      const { stderr, stdout } = await expectRun(service, "ingest . --cc-pair-id 2", 8);
      expect(stderr).toContain("document_id: an id of this length cannot be stored");
      expect((stderr + stdout).length).toBeLessThan(5000);
    });
  });

  describe("ingest under faults", () => {
    it("retries, and stores each document once when answers are lost", async () => {
      const files = Object.fromEntries(
        Array.from({ length: 30 }, (_, n) => [`docs/${n}.md`, `text ${n}\n`]),
      );
      const rules = [
        { when: { documentId: "docs/3.md", nth: 1 }, do: "reset-after-store" as const },
        { when: { documentId: "docs/4.md", nth: 1 }, do: { status: 503 } },
        { when: { documentId: "docs/5.md", nth: 1 }, do: "reset-before-store" as const },
      ];
      const service = await startTestService({ files, faults: { rules } });
      const result = await run(service, ingest());
      expect(result.code).toBe(0);
      expect(sentIds(service)).toHaveLength(30);
      expect(bodies(service, "docs/3.md").length).toBeLessThanOrEqual(2);
    });

    it("stops at the first 401 and keeps what was accepted", async () => {
      const files = Object.fromEntries(
        Array.from({ length: 60 }, (_, n) => [`docs/${n + 10}.md`, `text ${n}\n`]),
      );
      const when = { method: "POST", path: "/api/svc-api/ingestion", after: 20 };
      const service = await startTestService({
        files,
        faults: { rules: [{ when, do: { status: 401, body: { detail: "expired" } } }] },
      });
      const result = await run(service, ingest("--concurrency", "4"));
      expect(result.code).toBe(4);
      expect(sentIds(service)).toHaveLength(20);
      const posts = service.sandbox.ledger.requests.filter(({ method }) => method === "POST");
      expect(posts.length).toBeLessThanOrEqual(20 + 4);
      const plan = await run(service, ingest("--dry-run", "--output", "json"));
      expect(JSON.parse(plan.stdout)).toMatchObject({ counts: { unchanged: 20, new: 40 } });
    });

    it("takes a web page with status 200 for no success", async () => {
      const when = { method: "POST", path: "/api/svc-api/ingestion" };
      const service = await startTestService({
        files: handbook,
        faults: { rules: [{ when, do: "html" }] },
      });
      const result = await run(service, ingest());
      expect(result.code).toBe(8);
      expect(result.stderr).toContain("base URL");
      const plan = await run(service, ingest("--dry-run", "--output", "json"));
      expect(JSON.parse(plan.stdout)).toMatchObject({ counts: { new: 3 } });
    });

    it("says that nobody answers when the service is dead", async () => {
      const service = await startTestService({ files: handbook });
      await service.sandbox.close();
      const result = await run(service, ingest());
      expect(result.code).toBe(5);
      expect(result.stderr).toContain(service.sandbox.url);
    });
  });
});

describe("plain", () => {
  it("only formats with front matter take their id from it", async () => {
    const matter = "---\nid: own\n---\nText.\n";
    const service = await startTestService({
      files: {
        "docs/a.txt": matter.replace("own", "text"),
        "docs/b.rst": matter.replace("own", "rst"),
        "docs/c.html": '<title>T</title><meta name="id" content="html"><p>Text.</p>',
        "docs/d.html": "---\nid: none\n---\n<p>Text.</p>",
        "docs/e.htm": '<title>T</title><meta name="id" content="html2"><p>Text.</p>',
      },
    });
    const { stderr, error } = await runIngest(service, ["docs"]);
    expect(stderr).not.toContain("failed");
    expect(error).toBeUndefined();
    const ids = ["docs/a.txt", "docs/c.html", "docs/d.html", "docs/e.htm", "rst"];
    expect(acceptedIds(service)).toEqual(ids);
  });
});

describe("source type", () => {
  const files = {
    "docs/a.md": "# A\n\nText.\n",
    "docs/b.md": "# B\n\nText.\n",
    "docs/own.json":
      '{"id":"own","title":"Own","source":"nonsens","sections":[{"text":"Text."}],"metadata":{}}',
  };

  it("stops at a source type of --source that the service does not know: no document is at fault", async () => {
    const { folder: cwd, env } = await startTestService({ dialect: "onyx", files });
    const run = (...args: string[]) => runHere(args, { cwd, env });
    const wrong = await run("ingest", "docs", "--cc-pair-id", "2", "--source", "confluense");
    expect(wrong.stderr).toMatch(
      /error: --source: the service refuses it: "confluense" is unknown; the nearest of \d+ valid names: confluence,/,
    );
    expect(wrong.code).toBe(2);
    expect((await run("state", "list", "--status", "failed")).stdout).toBe("");
    expect(
      await run("ingest", "docs", "--cc-pair-id", "2", "--source", "confluence"),
    ).toMatchObject({
      code: 0,
    });
  });

  it("fails only the document that names such a source type itself", async () => {
    const { folder: cwd, env } = await startTestService({ dialect: "onyx", files });
    const paths = ["docs/a.md", "docs/own.json"];
    const { code, stderr } = await runHere(["ingest", ...paths, "--cc-pair-id", "2"], { cwd, env });
    expect(stderr).toContain("1 created, 1 failed");
    expect(stderr).toMatch(/failed docs\/own\.json:1: .*"nonsens" is unknown/);
    expect(code).toBe(10);
  });
});

describe("done line", () => {
  const files = { "docs/a.md": "# A\n\nText.\n", "docs/b.md": "# B\n\nText.\n" };
  const upload = "ingest docs --cc-pair-id 2";

  it("names the connector and the next command after an upload", async () => {
    const service = await startTestService({ files });
    const first = await runIn(service, upload);
    expect(first.stderr).toMatch(
      /^done: 2 created in \S+ · Handbook uploads \(pair 2\) at [\d.:]+, profile default$/m,
    );
    expect(first.stderr).toMatch(/^next: ask about the documents with `knowctl chat "…"`$/m);
    // Nothing was sent, so no listing was requested and there is nothing to ask about.
    const second = await runIn(service, upload);
    expect(second.stderr).toMatch(
      /^done: 2 unchanged in \S+ · pair 2 at [\d.:]+, profile default$/m,
    );
    expect(second.stderr).not.toContain("next:");
    const named = await runIn(service, ["ingest", "docs", "--connector", "handbook uploads"]);
    expect(named.stderr).toMatch(
      /^done: 2 unchanged in \S+ · Handbook uploads \(pair 2\) at [\d.:]+, profile default$/m,
    );
  });

  it("names each connector that rules choose", async () => {
    const service = await startTestService({ files });
    const config = { ingest: { ccPairId: 2, rules: [{ match: "docs/b.md", ccPairId: 7 }] } };
    writeFiles(service.folder, { ".cliconfig.json": JSON.stringify(config) });
    const env = { ...service.env, KNOWCTL_TRUST_PROJECT: "1" };
    const { stderr } = await runIn({ ...service, env }, "ingest docs");
    expect(stderr).toMatch(
      /^done: 2 created in \S+ · Handbook uploads \(pair 2\), .+ \(pair 7\) at [\d.:]+, profile default$/m,
    );
  });

  it("names no next command in CI, and the connector where the key may not list", async () => {
    const rules = [{ when: { method: "GET" }, do: { status: 403 } }];
    const service = await startTestService({ files, faults: { rules } });
    const { code, stderr } = await runIn({ ...service, env: { ...service.env, CI: "1" } }, upload);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^done: 2 created in \S+ · pair 2 at [\d.:]+, profile default$/m);
    expect(stderr).not.toContain("next:");
  });

  it("warns of each --exclude that matches nothing", async () => {
    const service = await startTestService({ files });
    for (const [flags, unused] of [
      ["--exclude typo/** --exclude b.md", ["typo/**"]],
      ["--exclude b.* --exclude docs/b.md", []],
      ["--exclude docs --allow-empty", []],
    ] as const) {
      const lines = unused.map(
        (each) =>
          `warning: --exclude ${each} leaves nothing out: it matches no file, or only some that are left out anyway`,
      );
      const commands = [`${upload} --dry-run`, upload, "lint docs"];
      for (const line of flags.includes("--allow-empty") ? commands.slice(0, 2) : commands) {
        const { stderr } = await runIn(service, `${line} ${flags}`);
        expect(stderr.match(/^warning: --exclude .*$/gm) ?? [], flags).toEqual(lines);
      }
    }
  });

  it("says what to do after a 501, which is permanent", async () => {
    const body = { detail: "Vector DB is disabled" };
    const rules = [{ when: { method: "POST" }, do: { status: 501, body } }];
    const service = await startTestService({ files, faults: { rules } });
    const { code, stderr } = await runIn(service, `${upload} --concurrency 1`);
    expect(code).toBe(8);
    expect(stderr).toContain("fix the error below, then run the same command");
    expect(stderr).toContain("501: Vector DB is disabled");
    expect(stderr).toContain("a retry does not help");
    expect(stderr).not.toMatch(/later|to continue/);
    const posts = service.sandbox.ledger.requests.filter(({ method }) => method === "POST");
    expect(posts).toHaveLength(1);
  });

  it("stdin has the same last lines", async () => {
    const service = await startTestService({ files });
    const { stdout } = await runIn(service, "convert docs");
    const { stderr } = await runIn(service, "ingest - --cc-pair-id 2", { stdin: stdout });
    expect(stderr).toMatch(
      /^done: 2 created in \S+ · Handbook uploads \(pair 2\) at [\d.:]+, profile default$/m,
    );
    expect(stderr).toContain("next: ask about the documents");
  });

  it("suggests --print-config on a terminal after a first upload with a target alone", async () => {
    const service = await startTestService({ files });
    const first = await runIn(service, upload, { answer: "" });
    expect(first.stderr).toContain(
      "next: the same command with --print-config prints a project file",
    );
    expect(first.stderr.match(/^next:/gm)).toHaveLength(1);
    writeFiles(service.folder, { "docs/a.md": "# A\n\nOther.\n" });
    const second = await runIn(service, "ingest docs", { answer: "" });
    expect(second.stderr).toContain("no target given: using pair 2");
    expect(second.stderr).not.toContain("--print-config");
  });

  it("has the same words in the plan as in the summary", async () => {
    const service = await startTestService({ files });
    await runIn(service, upload);
    writeFiles(service.folder, { "docs/a.md": "# A\n\nOther.\n", "docs/c.md": "# C\n" });
    const plan = await runIn(service, `${upload} --dry-run`);
    expect(plan.stdout).toMatch(
      /^update\tdocs\/a\.md\tdocs\/a\.md\ttext or link\ncreate\tdocs\/c\.md\t/m,
    );
    expect(plan.stderr).toContain("nothing was sent: 1 to create, 1 to update, 1 unchanged");
    const screen = await runIn(service, `${upload} --dry-run --no-color`, { answer: "" });
    expect(screen.stdout).toMatch(/update +docs\/a\.md[^]*create +docs\/c\.md/);
    const json = await runIn(service, `${upload} --dry-run --json`);
    expect(JSON.parse(json.stdout)).toMatchObject({ counts: { changed: 1, unchanged: 1, new: 1 } });
    expect((await runIn(service, upload)).stderr).toContain("1 created, 1 updated, 1 unchanged");
  });

  it.each([
    ["the connector", [], "Handbook uploads (pair 2)"],
    [
      "its id where the key may not list",
      [{ when: { method: "GET" }, do: { status: 403 } }],
      "pair 2",
    ],
  ] as const)("a question before a removal names %s", async (_name, rules, pair) => {
    const service = await startTestService({
      files,
      dialect: "onyx",
      faults: { rules: [...rules] },
    });
    await runIn(service, upload);
    rmSync(join(service.folder, "docs/b.md"));
    const orphans = "prune docs --cc-pair-id 2";
    const prune = await runIn(service, orphans, { answer: "n\n" });
    expect(prune.stderr).toContain(`Delete 1 document of ${pair}? [y/N] `);
    const tombstone = await runIn(service, `${orphans} --tombstone`, { answer: "n\n" });
    // A terminal of 80 columns breaks the question between words.
    const asked = tombstone.stderr.replaceAll("\n", " ");
    expect(asked).toContain(`Replace 1 document of ${pair} with a removal notice? [y/N] `);
    expect(tombstone.stderr).toContain("nothing was removed");
  });
});

describe("shard", () => {
  async function run(
    service: TestService,
    index: number,
    count: number,
    options: IngestOptions = {},
  ) {
    const context = createTestContext({ cwd: service.folder, env: service.env });
    const report = [`shard-${index}.json`];
    const all = { ccPairId: 2, shard: { index, count }, ...(options.dryRun ? {} : { report }) };
    const error = await ingest(context, ["docs"], { ...all, ...options }).then(
      () => undefined,
      (thrown: unknown) => thrown as { exit: string; details: string[] },
    );
    return { error, stderr: context.stderrText(), stdout: context.stdoutText() };
  }

  function countsOf(service: TestService, index: number) {
    const name = `shard-${index}.json`;
    return parseReport(readFileSync(join(service.folder, name), "utf8"), name).counts;
  }

  const pages = (count: number): Record<string, string> =>
    Object.fromEntries(
      Array.from({ length: count }, (_, number) => [`docs/${number}.md`, `# ${number}\n\nText.\n`]),
    );

  describe("--shard", () => {
    it("finds two files with one id in every shard, also when neither is its own", async () => {
      const same = "---\nid: same\n---\nText\n";
      const files = { ...pages(4), "docs/a.md": same, "docs/b.md": same };
      const service = await startTestService({ files });
      for (const index of [1, 2, 3]) {
        const { error } = await run(service, index, 3);
        expect(error).toMatchObject({ exit: "usage", details: ["same: docs/a.md and docs/b.md"] });
      }
      expect(service.sandbox.ledger.requestCount).toBe(0);
    });

    it("tells what gives no document in one shard only, and says what is left to the others", async () => {
      const broken = "---\nid: x\ntitle: [unclosed\n---\ntext\n";
      const files = { ...pages(12), "docs/broken.md": broken, "docs/empty.md": "" };
      const service = await startTestService({ files });
      const sum = { created: 0, updated: 0, unchanged: 0, skipped: 0, failed: 0, renamed: 0 };
      for (const index of [1, 2, 3, 4]) {
        const { stderr } = await run(service, index, 4);
        expect(stderr).toMatch(new RegExp(`shard ${index}/4: \\d+ documents left to the other`));
        const counts = countsOf(service, index);
        for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += counts[name];
      }
      expect(sum).toEqual({
        created: 12,
        updated: 0,
        unchanged: 0,
        skipped: 1,
        failed: 1,
        renamed: 0,
      });
      const again = await run(service, 1, 4);
      expect(again.stderr).toContain("unchanged");
      expect(countsOf(service, 1)).toMatchObject({ created: 0, updated: 0 });
    });

    it("that has nothing to do is no failure, as long as there are files", async () => {
      const service = await startTestService({ files: pages(1) });
      const results = [];
      for (const index of [1, 2, 3, 4, 5]) results.push(await run(service, index, 5));
      expect(results.map(({ error }) => error)).toEqual(Array(5).fill(undefined));
      expect(service.sandbox.ledger.documents.size).toBe(1);
      const none = await startTestService({ files: { "docs/x.bin": "" } });
      expect((await run(none, 1, 2)).error).toMatchObject({ exit: "usage" });
    });

    it("plans its own part in a dry run", async () => {
      const service = await startTestService({ files: pages(10) });
      const ids = [];
      for (const index of [1, 2, 3]) {
        const { stdout } = await run(service, index, 3, { dryRun: true, output: "json" });
        const plan = JSON.parse(stdout) as { documents: { id: string; action: string }[] };
        ids.push(...plan.documents.map(({ id, action }) => `${action} ${id}`));
      }
      expect(ids.toSorted()).toEqual(
        Object.keys(pages(10))
          .map((id) => `new ${id}`)
          .toSorted(),
      );
    });

    it("1/1 is everything", async () => {
      const service = await startTestService({ files: pages(3) });
      expect((await run(service, 1, 1)).stderr).toContain("3 created");
    });
  });
});
