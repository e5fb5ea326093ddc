import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { FaultAction, FaultRule, FaultSpec } from "../../../../src/sandbox/http/faults.ts";
import {
  startTestService,
  writeFiles,
  type TestService,
  type TestServiceOptions,
} from "../../../service.ts";
import { expectRun, runIn } from "../../state/support.ts";
import { storedIn } from "../../status/support.ts";

const ids = ["1", "2", "3"].map((each) => `docs/${each}.md`);
const filesOf = (text: string): Record<string, string> =>
  Object.fromEntries(ids.map((id) => [id, `# ${text}\n\nText of ${text}.\n`]));

const forget = ({ folder }: TestService): void =>
  rmSync(join(folder, ".knowctl"), { recursive: true });

const sent = ({ sandbox }: TestService, id = "docs/1.md"): number =>
  sandbox.ledger.documents.get(id)?.length ?? 0;

/** A service that another project filled under the same ids, by `pair`; nothing is recorded here. */
async function startSecond(pair: number, options: TestServiceOptions = {}): Promise<TestService> {
  const service = await startTestService({
    dialect: "onyx",
    files: filesOf("first"),
    ...options,
  });
  await expectRun(service, `ingest docs --cc-pair-id ${pair}`, 0);
  forget(service);
  writeFiles(service.folder, { ...filesOf("second"), "docs/own.md": "# Own\n" });
  return service;
}

const warnings = (text: string): string[] =>
  text.split("\n").filter((each) => each.startsWith("warning"));

/** The list of all documents, from the second time on. */
const listing = (action: FaultAction): FaultSpec => ({
  rules: [{ when: { method: "GET", path: "/api/onyx-api/ingestion", after: 0 }, do: action }],
});
const pairListing = (action: FaultAction): FaultSpec => ({
  rules: [{ when: { method: "GET", path: "/api/onyx-api/connector-docs/2" }, do: action }],
});

describe("a document of another pair", () => {
  it("is not sent, and named with its pair", async () => {
    const service = await startSecond(7);
    for (const flags of ["", " --shard 1/1", " --no-state", " --force"]) {
      await expectRun(
        service,
        `ingest docs --cc-pair-id 2${flags}`,
        10,
        "docs/1.md: pair 7 (",
        "3 documents failed",
      );
      expect(sent(service)).toBe(1);
      expect(await storedIn(service, 2)).toEqual(["docs%2Fown.md"]);
    }
  });

  it("is sent with --overwrite, also by retry, and then is recorded", async () => {
    const service = await startSecond(7);
    await runIn(service, "ingest docs --cc-pair-id 2");
    await expectRun(service, "retry --cc-pair-id 2", 10);
    expect(sent(service)).toBe(1);
    await expectRun(service, "retry --cc-pair-id 2 --overwrite", 0);
    expect(sent(service)).toBe(2);
    writeFiles(service.folder, filesOf("third"));
    expect((await runIn(service, "ingest docs --cc-pair-id 2")).code).toBe(0);
    expect(sent(service)).toBe(3);
  });

  it("is named by a dry run, which counts it as one that would fail", async () => {
    const service = await startSecond(7);
    const report = join(service.folder, "plan.json");
    const ran = await runIn(service, `ingest docs --cc-pair-id 2 --dry-run --report ${report}`);
    expect(ran.stdout).toMatch(/^create\tdocs\/own\.md\t/);
    expect(ran.stdout).toMatch(/^failed\tdocs\/1\.md\tdocs\/1\.md\tpair 7 \(/m);
    expect(ran.stderr).toContain("dry run, nothing was sent: 1 to create, 3 failed");
    expect(ran.code).toBe(10);
    expect(JSON.parse(readFileSync(report, "utf8"))).toMatchObject({
      counts: { created: 1, failed: 3 },
    });
    await expectRun(service, "ingest docs --cc-pair-id 7 --dry-run", 0, "4 to create");
    await expectRun(service, "ingest docs --cc-pair-id 2 --dry-run --overwrite", 0, "4 to create");
    expect([sent(service), sent(service, "docs/own.md")]).toEqual([1, 0]);
  });

  it("is not known to a dry run where the list is refused or fails", async () => {
    const rules: FaultRule[] = [];
    const service = await startSecond(7, { faults: { rules } });
    for (const [status, text] of [
      [403, "warning: the service does not let this key list its documents"],
      [500, "cannot tell whether other pairs have these documents: "],
    ] as const) {
      rules.splice(0, 1, ...(listing({ status }).rules ?? []));
      await expectRun(service, "ingest docs --cc-pair-id 2 --dry-run", 0, text, "4 to create");
    }
  });

  it("fails as a line of stdin; the others are sent", async () => {
    const service = await startSecond(7);
    const lines = ["docs/1.md", "new"].map((id) =>
      JSON.stringify({ id, semantic_identifier: id, sections: [{ text: "x" }] }),
    );
    const stdin = lines.join("\n");
    const ran = await runIn(service, "ingest - --cc-pair-id 2", { stdin });
    expect(ran.stderr).toContain("stdin:1:1: pair 7 (");
    expect(ran.stderr).toContain("1 created, 1 failed");
    expect(ran.code).toBe(10);
    const again = await runIn(service, "ingest - --cc-pair-id 2 --overwrite", { stdin });
    expect(again.stderr).toContain("1 updated, 1 unchanged");
  });

  it("is known under the form in which the service stores its id", async () => {
    const files = { "docs/a b.md": "# A\n" };
    const service = await startTestService({ dialect: "onyx", files });
    await runIn(service, "ingest docs --cc-pair-id 7");
    forget(service);
    rmSync(join(service.folder, "docs/a b.md"));
    writeFiles(service.folder, { "docs/a_b.md": "# A\n" });
    await expectRun(service, "ingest docs --cc-pair-id 2", 10, "has docs/a_b.md");
  });

  it("is told from documents whose ids or prefixes only look alike", async () => {
    const service = await startTestService({
      dialect: "onyx",
      files: { "docs/a.md": "# A\n", "docs-old/a.md": "# Old\n" },
    });
    await expectRun(service, "ingest docs-old --cc-pair-id 7", 0);
    forget(service);
    await expectRun(service, "ingest docs --cc-pair-id 2", 0);
    forget(service);
    for (const prefix of ["docs", "docs/", "docs-"]) {
      await expectRun(service, `ingest docs --cc-pair-id 2 --id-prefix ${prefix}`, 0);
      forget(service);
    }
  });

  it("counts as own where both pairs have it", async () => {
    const service = await startSecond(7);
    await expectRun(service, "ingest docs --cc-pair-id 2 --overwrite", 0);
    forget(service);
    writeFiles(service.folder, filesOf("third"));
    await expectRun(
      service,
      "ingest docs --cc-pair-id 2",
      0,
      "the pair already had 4 documents without a record here",
    );
  });

  it("is no document of another service that has a name alike", async () => {
    const service = await startSecond(7);
    const other = await startTestService({ dialect: "onyx" });
    const env = { ...other.env, KNOWCTL_BASE_URL: other.sandbox.url };
    const there = { folder: service.folder, env };
    await expectRun(there, "ingest docs --cc-pair-id 2", 0);
    await expectRun(service, "ingest docs --cc-pair-id 2", 10);
  });
});

describe("a lost state", () => {
  it("is adopted in one line, and the next run has nothing to say", async () => {
    const service = await startSecond(2);
    const ran = await expectRun(
      service,
      "ingest docs --cc-pair-id 2",
      0,
      "the pair already had 3 documents without a record here (docs/1.md, docs/2.md, docs/3.md): adopted, as after a lost state\n",
    );
    expect(ran.stderr).not.toContain("service already had docs");
    expect(sent(service)).toBe(2);
    const requests = service.sandbox.ledger.requestCount;
    const again = await runIn(service, "ingest docs --cc-pair-id 2");
    expect(again.stderr).not.toContain("adopted");
    expect(service.sandbox.ledger.requestCount).toBe(requests);
    // For good.
    const origins = async (): Promise<string[]> => {
      const { stdout } = await runIn(service, "state export");
      return stdout
        .split("\n")
        .filter((line) => line.includes('"type":"accepted"'))
        .map((line) => (JSON.parse(line) as { id: string; origin: string }).origin)
        .toSorted();
    };
    const expected = ["adopted", "adopted", "adopted", "path"];
    expect(await origins()).toEqual(expected);
    writeFiles(service.folder, filesOf("third"));
    await runIn(service, "ingest docs --cc-pair-id 2");
    expect(await origins()).toEqual(expected);
  });

  it("is not named without a state", async () => {
    const service = await startSecond(2);
    const ran = await expectRun(service, "ingest docs --cc-pair-id 2 --no-state", 0);
    expect(ran.stderr).not.toContain("already had");
  });
});

describe("the service's lists", () => {
  it("are not read where nothing is new", async () => {
    const service = await startTestService({ dialect: "onyx", files: filesOf("first") });
    await runIn(service, "ingest docs --cc-pair-id 2");
    writeFiles(service.folder, filesOf("second"));
    const before = service.sandbox.ledger.requestCount;
    const ran = await runIn(service, "ingest docs --cc-pair-id 2");
    expect(ran.stderr).toContain("3 updated");
    // The list of connectors, and three documents.
    expect(service.sandbox.ledger.requestCount - before).toBe(4);
  });

  it.each([401, 403])("refused with %d: one warning, and everything is sent", async (status) => {
    const service = await startTestService({
      dialect: "onyx",
      files: filesOf("first"),
      faults: listing({ status, body: { detail: "no" } }),
    });
    const ran = await expectRun(service, "ingest docs --cc-pair-id 2", 0);
    expect(warnings(ran.stderr)).toEqual([
      expect.stringContaining("does not let this key list its documents"),
    ]);
    expect(sent(service)).toBe(1);
  });

  const damages: [string, FaultAction][] = [
    ["fails", { status: 500 }],
    ["is cut", { body: '[{"document_id":"docs%2F1.md"},{"docu', cutAfterBytes: 30 }],
    ["ends in the middle", { status: 200, body: '[{"document_id":"docs%2F1.md"},{"docu' }],
    ["is a web page", "html"],
    ["is an object", { status: 200, body: { items: [], total_items: 0 } }],
    ["has ids of a wrong type", { status: 200, body: [{ document_id: 7 }] }],
    ["is a part", { status: 206, body: [] }],
  ];
  it("send nothing where the list of all documents is damaged", async () => {
    const rules: FaultRule[] = [];
    const service = await startTestService({
      dialect: "onyx",
      files: filesOf("first"),
      faults: { rules },
    });
    const stdin = '{"id":"a","title":"A","sections":[{"text":"x"}]}';
    for (const [damage, action] of damages) {
      rules.splice(0, 1, ...(listing(action).rules ?? []));
      for (const line of ["ingest docs --cc-pair-id 2", "ingest - --cc-pair-id 2"]) {
        const ran = await runIn(service, line, line.includes(" - ") ? { stdin } : {});
        expect(ran.stderr, damage).toContain("--overwrite sends without asking");
        expect(ran.code, damage).toBe(8);
      }
      expect(service.sandbox.ledger.documents.size, damage).toBe(0);
    }
    await expectRun(service, "ingest docs --cc-pair-id 2 --overwrite", 0);
  });

  it("send nothing where the list of the pair is damaged", async () => {
    const rules: FaultRule[] = [];
    const service = await startSecond(2, { faults: { rules } });
    for (const [damage, action] of damages) {
      rules.splice(0, 1, ...(pairListing(action).rules ?? []));
      expect((await runIn(service, "ingest docs --cc-pair-id 2")).code, damage).toBe(8);
      expect([sent(service), sent(service, "docs/own.md")], damage).toEqual([1, 0]);
    }
  });

  it("prove nothing where the service ignores the pair", async () => {
    const everything = {
      status: 200,
      body: ids.map((id) => ({ document_id: id.replace("/", "%2F") })),
    };
    const path = "/api/onyx-api/connector-docs/";
    const service = await startSecond(7, {
      faults: { rules: [{ when: { method: "GET", path }, do: everything }] },
    });
    await expectRun(service, "ingest docs --cc-pair-id 2", 8, "does not tell pairs apart");
    expect(sent(service)).toBe(1);
  });

  it("name another pair where the list of connectors names none", async () => {
    const when = { path: "/api/manage/admin/connector/status" };
    const odd = [{ cc_pair_id: 2 }, { cc_pair_id: "7" }, { cc_pair_id: 4711 }];
    const service = await startSecond(7, {
      faults: { rules: [{ when: { ...when, after: 1 }, do: { status: 200, body: odd } }] },
    });
    await expectRun(
      service,
      "ingest docs --cc-pair-id 2",
      10,
      "docs/1.md: another pair has docs/1.md",
    );
    expect(sent(service)).toBe(1);
  });

  it("that change between two requests refuse, and the next run sends", async () => {
    // The pair's own list lacks the document that the list of all had just before.
    const service = await startSecond(2, {
      faults: {
        rules: [
          {
            when: { method: "GET", path: "/api/onyx-api/connector-docs/2", first: 1 },
            do: { status: 200, body: [] },
          },
        ],
      },
    });
    expect((await runIn(service, "ingest docs --cc-pair-id 2")).code).toBe(10);
    expect(sent(service)).toBe(1);
    expect((await runIn(service, "ingest docs --cc-pair-id 2")).code).toBe(0);
    expect(sent(service)).toBe(2);
  });
});

describe("an interface that cannot list", () => {
  const standard = { dialect: "standard" } as const;
  it("warns, with a state, at the first document that the service had, before the next one is sent", async () => {
    const service = await startSecond(7, standard);
    const unrecorded = await runIn(service, "ingest docs --cc-pair-id 2 --no-state");
    expect(warnings(unrecorded.stderr)).toEqual([]);
    const ran = await expectRun(
      service,
      "ingest docs --cc-pair-id 2 --concurrency 1 --output ndjson",
      0,
    );
    expect(warnings(ran.stderr)).toEqual([
      "warning: the service already had docs/1.md, which has no record here: another project sends the same ids (use --id-prefix), or the state was lost (keep .knowctl, in a pipeline in its cache), or the service did not index it (`knowctl verify` shows it)",
    ]);
    writeFiles(service.folder, filesOf("third"));
    expect(warnings((await runIn(service, "ingest docs --cc-pair-id 2")).stderr)).toEqual([]);
  });

  it.each(["standard", "onyx"] as const)(
    "does not take its own retries for foreign: %s",
    async (dialect) => {
      const files = Object.fromEntries(
        Array.from({ length: 8 }, (_, index) => [
          `docs/${index}.md`,
          "---\nupdated: 2026-01-01\n---\n# A\n\nText.\n",
        ]),
      );
      const path = dialect === "onyx" ? "/api/onyx-api/ingestion" : "/api/svc-api/ingestion";
      const when = { method: "POST", path, first: 4 };
      const service = await startTestService({
        dialect,
        files,
        faults: { rules: [{ when, do: "reset-after-store" }] },
      });
      const ran = await expectRun(service, "ingest docs --cc-pair-id 2", 0);
      expect(warnings(ran.stderr)).toEqual([]);
      expect((await runIn(service, "state export")).stdout).not.toContain("adopted");
    },
  );

  it.each(["standard", "onyx"] as const)(
    "does not take what an earlier run sent without an answer for foreign: %s",
    async (dialect) => {
      const rules: FaultRule[] = [];
      const service = await startTestService({
        dialect,
        files: filesOf("first"),
        faults: { rules },
      });
      rules.push({ when: { method: "POST", documentId: "docs/1.md" }, do: "reset-after-store" });
      await expectRun(service, "ingest docs --cc-pair-id 2", 10);
      rules.length = 0;
      const ran = await expectRun(service, "ingest docs --cc-pair-id 2", 0);
      expect(warnings(ran.stderr)).toEqual([]);
      expect(ran.stderr).not.toContain("already had");
      expect((await runIn(service, "state export")).stdout).not.toContain("adopted");
    },
  );

  it("does not take what a parallel run on one state sent for foreign", async () => {
    // The slow document keeps the first run from recording the others before the second sends them.
    const slow = { when: { documentId: "docs/3.md", nth: 1 }, do: { delayMs: 200 } };
    const faults = { rules: [slow] };
    const service = await startTestService({ ...standard, files: filesOf("first"), faults });
    const line = "ingest docs --cc-pair-id 2";
    const both = await Promise.all([runIn(service, line), runIn(service, line)]);
    expect(both.map(({ code, stderr }) => [code, warnings(stderr)])).toEqual([
      [0, []],
      [0, []],
    ]);
  });
});

describe("a retry of several groups of options", () => {
  const shared = ["docs/1.md", "docs/2.md"];
  /** Two uploads with options of their own, each of a document that fails. */
  async function startFailed(dialect: "standard" | "onyx"): Promise<[TestService, FaultRule[]]> {
    const rules: FaultRule[] = [];
    const service = await startTestService({ dialect, files: filesOf("first"), faults: { rules } });
    if (dialect === "standard") {
      expect((await runIn(service, "ingest docs --cc-pair-id 2")).code).toBe(0);
      forget(service);
      writeFiles(service.folder, filesOf("second"));
    }
    for (const [index, file] of shared.entries()) {
      const refused = { status: 400, body: { detail: "refused" } };
      rules.push({ when: { method: "POST", documentId: file }, do: refused });
      const line = `ingest ${file} --cc-pair-id 2 --tag t${index}`;
      expect((await runIn(service, line)).code).toBe(10);
    }
    rules.length = 0;
    return [service, rules];
  }

  it("reads the service's lists once, and warns once where they are refused", async () => {
    const [service, rules] = await startFailed("onyx");
    rules.push(...(listing({ status: 403 }).rules ?? []));
    const from = service.sandbox.ledger.requests.length;
    const ran = await expectRun(service, "retry --cc-pair-id 2", 0, "2 created");
    expect(warnings(ran.stderr)).toHaveLength(1);
    expect(ran.stderr.match(/^to "/gm)).toHaveLength(1);
    const asked = service.sandbox.ledger.requests
      .slice(from)
      .filter((each) => each.method === "GET");
    expect(asked.map(({ path }) => path).toSorted()).toEqual([
      "/api/manage/admin/connector/status",
      "/api/onyx-api/ingestion",
    ]);
  });

  it("warns once of documents that the service had", async () => {
    const [service] = await startFailed("standard");
    const ran = await expectRun(service, "retry --cc-pair-id 2", 0, "2 updated");
    expect(warnings(ran.stderr)).toEqual([
      expect.stringContaining("the service already had docs/"),
    ]);
  });
});
