import { afterEach, describe, expect, it, vi } from "vitest";
import type { FaultRule } from "../../../src/sandbox/http/faults.ts";
import { type TestServiceOptions, startTestService, testKey } from "../../service.ts";
import { runIn } from "../state/support.ts";
import { runHere } from "../../main.ts";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createGate } from "../../../src/api/retry/gate.ts";
import { findBySearch } from "../../../src/commands/verify/look/search.ts";
import { closeAll, openClient } from "../../api/support.ts";
import { someOf } from "../../property.ts";
import { readPages } from "../../checks/verify/pages.ts";
import { runIndexed } from "./support.ts";
import { foundProblems } from "../../../src/commands/ingest/upload/check-sent.ts";
import { statusOf } from "../../../src/commands/verify/outcome.ts";
import { emptyCounts } from "../../../src/output/report/from/verified.ts";

describe("lies", () => {
  const files = {
    "docs/a.md": "# A\n\nAlpha beta gamma delta.\n",
    "docs/b.md": `# B\n\n${"Long text of the second page, cut into chunks. ".repeat(120)}\n`,
  };

  type Rules = FaultRule[];
  const size = "/api/document/document-size-info";
  const chunk = "/api/document/chunk-info";
  const answers = (path: string, body: unknown): Rules[number] => ({
    when: { path },
    do: { body },
  });

  const lies: [what: string, rules: Rules][] = [
    [
      "the same chunk for every number",
      [
        answers(size, { num_chunks: 3, num_tokens: 9 }),
        answers(chunk, { content: "Alpha beta gamma delta.", num_tokens: 4 }),
      ],
    ],
    [
      "the text once more in each chunk",
      [
        answers(size, { num_chunks: 2, num_tokens: 9 }),
        answers(chunk, { content: "# A\n\nAlpha beta gamma delta.", num_tokens: 4 }),
      ],
    ],
    ["fewer chunks than there are", [answers(size, { num_chunks: 1, num_tokens: 9 })]],
    ["more chunks than there are", [answers(size, { num_chunks: 900, num_tokens: 9 })]],
    ["a negative count", [answers(size, { num_chunks: -1, num_tokens: 0 })]],
    ["an infinite count", [answers(size, '{"num_chunks": 1e999, "num_tokens": 0}')]],
    ["no count", [answers(size, { num_tokens: 0 })]],
    ["a count as text", [answers(size, { num_chunks: "1", num_tokens: 0 })]],
    ["a list", [answers(size, [])]],
    ["chunks without text", [answers(chunk, { num_tokens: 0 })]],
    ["chunks of a number", [answers(chunk, { content: 7, num_tokens: 0 })]],
    ["empty chunks", [answers(chunk, { content: "", num_tokens: 0 })]],
    [
      "half of the chunks",
      [
        {
          when: { path: chunk, after: 2 },
          do: { status: 404, body: { detail: "Chunk not found" } },
        },
      ],
    ],
  ];

  it("are never taken for a document that is current", async () => {
    const told: Rules = [];
    const service = await startTestService({ dialect: "onyx", files, faults: { rules: told } });
    expect((await runIn(service, "ingest docs --cc-pair-id 2")).code).toBe(0);
    for (const [what, rules] of lies) {
      told.splice(0, told.length, ...rules);
      const { code, stdout } = await runIn(service, "verify docs/b.md --json");
      expect([8, 10, 13], what).toContain(code);
      if (code !== 8)
        expect(JSON.parse(stdout), what).toMatchObject({ summary: { current: 0, documents: 1 } });
      if (what.startsWith("the same") || what.startsWith("the text")) {
        const first = await runIn(service, "verify docs/a.md");
        expect(first.stdout, what).not.toMatch(/^current/m);
        expect(first.code, what).not.toBe(0);
      }
    }
  });

  it("calls a document stale that another project overwrote", async () => {
    const service = await startTestService({ dialect: "onyx", files });
    expect((await runIn(service, "ingest docs --cc-pair-id 2")).code).toBe(0);
    const other = { "docs/a.md": "# A\n\nAlpha beta gamma epsilon.\n" };
    const theirs = await startTestService({ dialect: "onyx", files: other });
    const env = { ...theirs.env, KNOWCTL_BASE_URL: service.sandbox.url };
    const overwrite = "ingest docs --cc-pair-id 3 --overwrite --allow-pruned";
    expect((await runIn({ ...theirs, env }, overwrite)).code).toBe(0);
    await service.sandbox.idle();
    const { code, stdout } = await runIn(service, "verify");
    expect(stdout).toMatch(/^stale +docs\/a\.md/);
    expect(code).toBe(13);
  });
});

describe("chunk count", () => {
  it.each([-1, 1e9])("reads no chunks of a document with %d chunks", async (count) => {
    const path = "/api/document/document-size-info";
    const body = { num_chunks: count, num_tokens: 0 };
    const service = await startTestService({
      files: { "docs/a.md": "# A\n\nalpha beta gamma\n" },
      dialect: "onyx",
      faults: { rules: [{ when: { path }, do: { body } }] },
    });
    await runIn(service, "ingest docs --cc-pair-id 2");
    await service.sandbox.idle();
    const ran = await runIn(service, "verify");
    expect([ran.code, ran.stderr]).toEqual([8, expect.stringContaining("num_chunks")]);
    const paths = service.sandbox.ledger.requests.map((each) => each.path);
    expect(paths.filter((each) => each.includes("chunk-info"))).toEqual([]);
  });

  it("reads no chunks where the index counts more of them than the text has characters", async () => {
    const chunk = { content: "alpha beta gamma", num_tokens: 3 };
    const service = await startTestService({
      files: { "docs/a.md": "# A\n\nalpha beta gamma\n" },
      dialect: "onyx",
      faults: {
        rules: [
          {
            when: { path: "/api/document/document-size-info" },
            do: { body: { num_chunks: 10_000, num_tokens: 0 } },
          },
          { when: { path: "/api/document/chunk-info" }, do: { body: chunk } },
        ],
      },
    });
    await runIn(service, "ingest docs --cc-pair-id 2");
    await service.sandbox.idle();
    const ran = await runIn(service, "verify");
    expect(ran.stdout).toMatch(/^unknown +docs\/a\.md: the index counts more chunks than/);
    expect(ran.code).toBe(10);
    const asked = service.sandbox.ledger.requests.filter(({ path }) => path.includes("chunk-info"));
    expect(asked).toEqual([]);
  });
});

describe("slow chunks", () => {
  afterEach(() => void vi.restoreAllMocks());

  const files = { "docs/a.md": `# Page\n\n${"One more line of the page.\n\n".repeat(600)}` };

  it("gives up a document whose many chunks take more than five minutes", async () => {
    const service = await startTestService({ dialect: "onyx", files });
    const { folder: cwd, env, sandbox } = service;
    const run = (line: string) => runHere(line.split(" "), { cwd, env });
    expect((await run("ingest docs --cc-pair-id 2 --quiet")).code).toBe(0);
    await sandbox.idle();
    const begun = performance.now();
    const asked = () => sandbox.ledger.requests.filter(({ path }) => path.includes("chunk-info"));
    // Two minutes pass with each chunk.
    vi.spyOn(performance, "now").mockImplementation(() => begun + asked().length * 120_000);
    const { code, stdout } = await run("verify");
    vi.restoreAllMocks();
    expect(code).toBe(10);
    expect(stdout).toMatch(
      /^unknown +docs\/a\.md: .*the service did not return its chunks within 5 minutes/m,
    );
    expect(asked()).toHaveLength(3);
  });
});

describe("hidden", () => {
  const text = "Every employee gets twenty-eight days of holiday, says the handbook.";

  /** Sixty pages of the same words; the search returns fifty chunks. */
  const alike = Object.fromEntries(
    Array.from({ length: 60 }, (_, index) => [
      `docs/${String(index).padStart(2, "0")}.md`,
      `# Page\n\n${text}\n`,
    ]),
  );

  async function uploaded(files: Record<string, string>, id: string, index: object) {
    const service = await startTestService({
      dialect: "onyx",
      files,
      faults: { rules: [{ when: { documentId: id }, do: { index } }] },
    });
    expect((await runIn(service, "ingest docs --cc-pair-id 2")).code).toBe(0);
    await service.sandbox.idle();
    return service;
  }

  it("calls a hidden document unknown that others resemble, and never sends it again", async () => {
    const own = (word: string): string => `# Page\n\n${text} Rule ${word} applies.\n`;
    const index: [id: string, fault: object][] = [
      ["docs/57.md", { hidden: true }],
      // Found by a word that only it has.
      ["docs/58.md", { hidden: true }],
      ["docs/59.md", { keeps: "row" }],
    ];
    const service = await startTestService({
      dialect: "onyx",
      files: { ...alike, "docs/58.md": own("QX77Z"), "docs/59.md": own("ZX88Q") },
      faults: {
        rules: index.map(([id, fault]) => ({ when: { documentId: id }, do: { index: fault } })),
      },
    });
    expect((await runIn(service, "ingest docs --cc-pair-id 2")).code).toBe(0);
    const { code, stdout } = await runIn(service, "verify");
    expect(stdout).toMatch(/^unknown +docs\/57\.md: not indexed, or hidden/m);
    expect(stdout).toMatch(/^hidden +docs\/58\.md/m);
    expect(stdout).toMatch(/^listed only +docs\/59\.md/m);
    expect(code).toBe(13);
    expect((await runIn(service, "verify docs/57.md")).code).toBe(10);
    service.sandbox.ledger.documents.clear();
    await runIn(service, "retry --missing");
    expect([...service.sandbox.ledger.documents.keys()]).toEqual(["docs/59.md"]);
  });

  it("does not count documents for the chunks that the search is cut by", async () => {
    // Each of two long documents has more chunks with these words than the search returns.
    const long = `${`${text} `.repeat(40)}\n\n`.repeat(80);
    const files = { "docs/a.md": long, "docs/b.md": long, "docs/c.md": `# Page\n\n${text}\n` };
    const service = await uploaded(files, "docs/c.md", { hidden: true });
    expect((await runIn(service, "verify")).stdout).not.toContain("listed only");
  });

  it("tells a lost document from a hidden one where few other documents have its words", async () => {
    const files = Object.fromEntries(Object.entries(alike).slice(0, 4));
    const hidden = await uploaded(files, "docs/03.md", { hidden: true });
    expect((await runIn(hidden, "verify")).stdout).toMatch(/^hidden +docs\/03\.md/);
    const lost = await uploaded(files, "docs/03.md", { keeps: "row" });
    const { stdout } = await runIn(lost, "verify --explain docs/03.md");
    expect(stdout).toMatch(/listed only/);
    expect(stdout).toContain("only other documents have this word");
  });
});

describe("version tag", () => {
  const page = (team: string): string => `---\nteam: ${team}\n---\nalpha beta gamma\n`;

  async function uploaded(options: TestServiceOptions = {}) {
    const files = {
      "docs/a.md": page("one"),
      "docs/b.md": "delta\n",
      ".cliconfig.json": JSON.stringify({ ingest: { versionTag: true } }),
    };
    const service = await startTestService({ dialect: "onyx", files, ...options });
    expect(await runIn(service, "config trust")).toMatchObject({ code: 0 });
    const ran = await runIn(service, "ingest docs --cc-pair-id 2");
    expect([ran.code, ran.stderr]).toEqual([0, expect.any(String)]);
    await service.sandbox.idle();
    const verify = async () => {
      const from = service.sandbox.ledger.requests.length;
      const { code, stdout } = await runIn(service, "verify --json");
      const paths = service.sandbox.ledger.requests.slice(from).map(({ path }) => path);
      const looks = paths.filter((path) => /admin\/search|document\//.test(path));
      return { code, stdout, looks };
    };
    return { ...service, verify };
  }

  it("decides text and metadata with one request for each document", async () => {
    const service = await uploaded();
    const { code, stdout, looks } = await service.verify();
    expect(code).toBe(0);
    expect(stdout).toContain("the text and the metadata that were sent");
    expect(looks).toEqual(["/api/admin/search", "/api/admin/search"]);
  });

  it("sends a change of metadata alone, which the index then has", async () => {
    const service = await uploaded();
    writeFileSync(join(service.folder, "docs/a.md"), page("two"));
    expect((await runIn(service, "ingest docs --cc-pair-id 2")).code).toBe(0);
    await service.sandbox.idle();
    const { code, looks } = await service.verify();
    expect([code, looks.length]).toEqual([0, 2]);
  });

  it("searches by the words of the document when only administrators may search by keyword", async () => {
    const rule = { when: { path: "/api/admin/search" }, do: { status: 403 } };
    const service = await uploaded({ faults: { rules: [rule] } });
    const { code, stdout, looks } = await service.verify();
    expect(code).toBe(0);
    expect(stdout.match(/the text and the metadata that were sent/g)).toHaveLength(2);
    // No chunk is read.
    expect(new Set(looks)).toEqual(new Set(["/api/admin/search"]));
  });

  it("falls back on the other evidence when the key may not search", async () => {
    const rules = ["/api/admin/search", "/api/search/send-search-message"].map((path) => ({
      when: { path },
      do: { status: 403 },
    }));
    const service = await uploaded({ faults: { rules } });
    const { code, stdout, looks } = await service.verify();
    expect(code).toBe(0);
    expect(stdout).not.toContain("the metadata that were sent");
    expect(looks.filter((path) => path.includes("chunk-info"))).toHaveLength(2);
  });

  it("calls no document current of which the index has older metadata", async () => {
    const kept = {
      when: { documentId: "docs/a.md", nth: 2 },
      do: { index: { keeps: "old" as const } },
    };
    const service = await uploaded({ faults: { rules: [kept] } });
    writeFileSync(join(service.folder, "docs/a.md"), page("two"));
    const sent = await runIn(
      service,
      "ingest docs --cc-pair-id 2 --verify --wait 0 --output ndjson",
    );
    expect(sent.stdout).toMatch(/"id":"docs\/a.md".*"result":"unknown"/);
    expect(sent.code).toBe(10);
    const { code, stdout } = await service.verify();
    expect(JSON.parse(stdout)).toMatchObject({ summary: { current: 1, unknown: 1 } });
    expect(stdout).toContain("no document has its version as metadata");
    expect(code).toBe(10);
  });

  it("lets the chunks decide where the search ignores the filter", async () => {
    const hit = (id: string, metadata: unknown) => ({
      document_id: id,
      semantic_identifier: id,
      hidden: false,
      metadata,
    });
    const ids = ["docs%2Fa.md", "docs%2Fb.md"];
    const kept = {
      when: { documentId: "docs/a.md", nth: 2 },
      do: { index: { keeps: "old" as const } },
    };
    const rules: FaultRule[] = [kept];
    const service = await uploaded({ faults: { rules } });
    writeFileSync(join(service.folder, "docs/a.md"), "alpha beta delta\n");
    expect((await runIn(service, "ingest docs --cc-pair-id 2")).code).toBe(0);
    for (const metadata of [
      {},
      undefined,
      "x",
      { knowctl_version: "old" },
      { knowctl_version: 7 },
    ]) {
      const hits = ids.map((id) => hit(id, metadata));
      const body = { documents: hits, search_docs: hits };
      const paths = ["/api/admin/search", "/api/search/send-search-message"];
      rules.splice(0, rules.length, ...paths.map((path) => ({ when: { path }, do: { body } })));
      const { code, stdout } = await service.verify();
      expect(stdout).toMatch(/"id":"docs\/a\.md".*"result":"stale"/);
      expect(stdout).not.toContain("the metadata that were sent");
      expect(code).toBe(13);
    }
  });
});

describe("find by search", () => {
  afterEach(closeAll);

  it.each(["indexed", "keyword", "chat"] as const)("%s: requests pass the gate", async (way) => {
    const { sandbox } = await startTestService({ dialect: "onyx" });
    const keys = { accessToken: testKey, apiKey: testKey };
    const client = openClient(sandbox.url, { dialect: "onyx", ...keys });
    const { signal } = new AbortController();
    const gate = createGate({ ceiling: 1, clock: client.clock, signal });
    const document = { id: "a", storedId: "a" };
    const sent = { titles: ["Leave"], sections: ["Ask for leave in the portal."] };
    const look = await findBySearch({ client, gate }, document, sent, { way, depth: "exists" });
    expect(look.evidence).toMatchObject([{ status: 200 }]);
    expect(gate.state().requests).toBe(1);
  });
});

describe("alone", () => {
  const numbered = (write: (number: number) => string): string =>
    Array.from({ length: 150 }, (_, number) => write(number)).join("");

  /** Texts as people write them: dashes, curly quotes, arrows, emoji. */
  const typeset = `# L’été — « sauf » exception…

“Don’t ask – go,” says the lead. Mail → portal → done 😀. It’s 10–20 days — ❌ never more.

${numbered((number) => `Rule ${number} — see “Holidays” — gives ${number % 28} days… Ask first. ✅ Day ${number} is fine 👩‍💻. `)}

| day | may |
| --- | --- |
| Monday | ✅ |
| Sunday | ❌ |
`;

  const japanese = `# 休暇\n\n${numbered((number) => `病気休暇${number}は年間十日です。前日の${number * 7}時までに連絡してください。${number % 9 === 0 ? "\n\n" : ""}`)}\n`;

  it.each<[string, Record<string, string>]>([
    ["a page with dashes, quotes and emoji", { "docs/a.md": typeset }],
    ["a long page in Japanese", { "docs/a.md": japanese }],
    ["a tiny page", { "docs/a.md": "Ask first.\n" }],
    ["a page of one emoji", { "docs/a.md": "# Yes\n\n✅\n" }],
    ["two tiny pages", { "docs/a.md": "# A\n\nAsk first.\n", "docs/b.txt": "Then go – now.\n" }],
    ["a page of its title", { "docs/a.md": "# Leave\n\nLeave\n" }],
    [
      "real pages",
      Object.fromEntries(
        readPages().map((each, index) => [`docs/${index}.md`, each.sections.join("\n")]),
      ),
    ],
  ])("%s: current at once and later, with no other document", async (_, files) => {
    const service = await startTestService({ dialect: "onyx", files });
    const sent = await runIndexed(service, "ingest docs --cc-pair-id 2 --verify --wait 5s");
    expect(sent.stderr + sent.stdout).not.toMatch(/^unknown/m);
    expect(sent.code).toBe(0);
    const { code, stdout } = await runIndexed(service, "verify");
    expect(stdout).not.toMatch(/^(?:unknown|stale)/m);
    expect(code).toBe(0);
  });

  it("a page that is checked alone is current", async () => {
    // Alone, a page whose only cut is within a line is unknown: the space there may be new.
    const all = readPages().filter(({ title }) => title !== "Steps");
    const pages = all.map((each, index) => [`docs/${index}.md`, each.sections.join("\n")]);
    const service = await startTestService({ dialect: "onyx", files: Object.fromEntries(pages) });
    expect((await runIn(service, "ingest docs --cc-pair-id 2")).code).toBe(0);
    await service.sandbox.idle();
    for (const [path] of someOf(pages, 12)) {
      const { code, stdout } = await runIn(service, `verify ${path}`);
      expect([path, code, stdout]).toEqual([path, 0, ""]);
    }
  });
});

describe("outcome", () => {
  it.each([
    [{ current: 3, present: 1 }, false, 0, "passed"],
    [{ current: 3, stale: 1, unknown: 1 }, false, 0, "failed"],
    [{ current: 3, unknown: 1 }, false, 0, "partial"],
    [{ current: 3 }, false, 1, "partial"],
    [{ hidden: 2 }, false, 0, "failed"],
    [{ hidden: 2 }, true, 0, "passed"],
    [{ hidden: 2, current: 1 }, true, 0, "failed"],
  ] as const)("%j, leak test %s, %i unread: %s", (counts, expectsHidden, unread, expected) => {
    expect(statusOf({ ...emptyCounts(), ...counts }, expectsHidden, unread)).toBe(expected);
  });

  it.each([
    [{ current: 1 }, { missing: 0, hidden: 0, unknown: 0 }, []],
    [{ unknown: 1 }, { missing: 0, hidden: 0, unknown: 0 }, ["partial"]],
    [{ unknown: 1 }, { missing: 1, hidden: 0, unknown: 0 }, ["checks-failed", "partial"]],
    [
      { stale: 1, unknown: 1 },
      { missing: 0, hidden: 1, unknown: 1 },
      ["checks-failed", "checks-failed"],
    ],
    [{ current: 1 }, { missing: 0, hidden: 0, unknown: 1 }, ["partial"]],
  ] as const)("of an upload %j, found missing before %j: %s", (counts, unfound, exits) => {
    const verified = { ...emptyCounts(), ...counts };
    const problems = foundProblems(verified, unfound, false);
    expect(problems.map(({ exit }) => exit)).toEqual(exits);
  });

  it("names everything that an earlier check did not find", () => {
    const unfound = { missing: 2, hidden: 1, unknown: 3 };
    const [problem] = foundProblems(undefined, unfound, false);
    expect(problem?.message).toBe(
      "2 documents of earlier runs were not in the index, 1 hidden, 3 undecided when last checked",
    );
  });
});
