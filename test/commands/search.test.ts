import { describe, expect, it } from "vitest";
import { SearchResults } from "../../src/output/search/schema.ts";
import type { FaultRule, FaultSpec } from "../../src/sandbox/http/faults.ts";
import { main, runHere } from "../main.ts";
import { startTestService, type TestService } from "../service.ts";
import { createTestContext } from "../support.ts";
import { runIn } from "./state/support.ts";

const files = {
  "docs/leave.md":
    "---\nlink: https://docs.example.com/leave\nteam: people\n---\n# Leave\n\nStaff take leave.\n",
  "docs/bikes.md": "# Bikes\n\nLeave the key at the desk.\n",
};

interface Result {
  rank: number;
  id: string | null;
  title: string;
  path: string | null;
  via: string;
  snippet: string;
  score: number | null;
}

const searchPaths = ["/api/search", "/api/admin/search", "/api/chat/send-chat-message"];

/** The searches that arrived, by path. */
function sentOf({ sandbox }: TestService): string[] {
  return sandbox.ledger.requests
    .map(({ path }) => path)
    .filter((path) => searchPaths.some((each) => path.startsWith(each)));
}

async function startFilled(
  dialect: "standard" | "onyx" = "onyx",
  faults: FaultSpec = {},
): Promise<TestService> {
  const service = await startTestService({ dialect, files, faults });
  const context = createTestContext({ cwd: service.folder, env: service.env });
  expect(await main(["ingest", "docs", "--cc-pair-id", "2"], context)).toBe(0);
  await service.sandbox.idle();
  return service;
}

async function search({ folder, env }: TestService, line: string) {
  return await runHere(["search", ...line.split(" ")], { cwd: folder, env });
}

async function resultsOf(service: TestService, line: string): Promise<Result[]> {
  const { code, stdout, stderr } = await search(service, `${line} --json`);
  expect(code, stderr).toBe(0);
  const results = JSON.parse(stdout) as Result[];
  const schema = SearchResults;
  expect(schema.safeParse(results).error).toBe(undefined);
  return results;
}

const refusal = { status: 403, body: { error_code: "INSUFFICIENT_PERMISSIONS", detail: "no" } };
const indexed = "/search/send-search-message";
const keyword = "/admin/search";

describe("search in onyx", () => {
  it("takes the indexed search, and names the local files", async () => {
    const service = await startFilled();
    expect(await resultsOf(service, "leave")).toMatchObject([
      { rank: 1, id: "docs%2Fleave.md", path: "docs/leave.md", via: "indexed" },
      { rank: 2, id: "docs%2Fbikes.md", path: "docs/bikes.md", via: "indexed" },
    ]);
    expect(sentOf(service)).toEqual([`/api${indexed}`]);
    expect(service.sandbox.ledger.modelCalls).toBe(0);
  });

  it("takes another way with --via", async () => {
    const service = await startFilled();
    for (const [via, more, paths] of [
      ["keyword", "", ["docs/leave.md", "docs/bikes.md"]],
      ["assisted", " --allow-tokens 15", [null, null]],
      ["chat", " --allow-tokens 1", ["docs/leave.md", "docs/bikes.md"]],
    ] as const) {
      const before = sentOf(service).length;
      const results = await resultsOf(service, `leave --via ${via}${more}`);
      expect(results.map((each) => each.path)).toEqual(paths);
      expect(results.map((each) => each.via)).toEqual([via, via]);
      expect(sentOf(service).length - before).toBe(1);
    }
  });

  it("one document is one result, however many of its sections match", async () => {
    const service = await startFilled();
    const text = Array.from({ length: 60 }, (_, part) => `## Part ${part}\n\nwombat wombat\n`);
    const { folder, env } = service;
    const stdin = text.join("\n");
    const args = ["ingest", "-", "--format", "markdown", "--id", "w", "--cc-pair-id", "2"];
    expect((await runHere(args, { cwd: folder, env, stdin })).code).toBe(0);
    await service.sandbox.idle();
    const zoo = ["ingest", "-", "--format", "markdown", "--id", "zoo", "--cc-pair-id", "2"];
    const more = {
      cwd: folder,
      env,
      stdin: `# Zoo\n\nA wombat and ${"other animals ".repeat(50)}`,
    };
    expect((await runHere(zoo, more)).code).toBe(0);
    await service.sandbox.idle();
    // The first request brings sections of one document alone.
    expect(await resultsOf(service, "wombat")).toMatchObject([{ id: "w" }, { id: "zoo" }]);
    expect(sentOf(service)).toHaveLength(2);
  });

  it("without the indexed search takes keywords, and says so", async () => {
    const service = await startFilled("onyx", { missing: [indexed] });
    const { code, stdout, stderr } = await search(service, "leave");
    expect([code, stdout.split("\n").length]).toEqual([0, 3]);
    expect(stderr).toContain("searched by keyword; not possible: indexed (404)");
  });

  it("keywords find hidden documents, and name them", async () => {
    const rules = [{ when: { documentId: "docs/bikes.md" }, do: { index: { hidden: true } } }];
    const service = await startFilled("onyx", { rules });
    expect(await resultsOf(service, "leave")).toHaveLength(1);
    const { stdout, stderr } = await search(service, "leave --via keyword");
    expect(stdout.trimEnd().split("\n")).toHaveLength(2);
    expect(stderr).toContain("hidden, so that no other search finds it: Bikes\n");
  });

  it("nothing found is an empty list", async () => {
    const service = await startFilled();
    expect(await resultsOf(service, "zebra")).toEqual([]);
    const { code, stderr } = await search(service, "zebra");
    expect([code, stderr]).toEqual([0, expect.stringContaining("nothing found among")]);
  });
});

describe("a search that is not possible", () => {
  it.each([
    ["both refused", { denied: [indexed, keyword] }],
    ["one missing, one refused", { missing: [indexed], denied: [keyword] }],
    ["one refused, one missing", { missing: [keyword], denied: [indexed] }],
  ])("%s: exit 4, and nothing that costs is sent", async (_, faults) => {
    const service = await startFilled("onyx", faults);
    const { code, stderr } = await search(service, "leave --allow-tokens 100");
    expect([code, stderr]).toEqual([4, expect.stringContaining("the key may not search")]);
    expect(sentOf(service)).toEqual([`/api${indexed}`, `/api${keyword}`]);
  });

  it("both missing: the cost is announced, and needs to be allowed", async () => {
    const service = await startFilled("onyx", { missing: [indexed, keyword] });
    const { code, stderr } = await search(service, "leave");
    expect([code, stderr]).toEqual([2, expect.stringContaining("up to 15 model calls")]);
    expect(stderr).toContain("indexed (404), keyword (404)");
    expect(sentOf(service)).toHaveLength(2);
    expect(await resultsOf(service, "leave --allow-tokens 15")).toMatchObject([
      { via: "assisted" },
      { via: "assisted" },
    ]);
    expect(service.sandbox.ledger.modelCalls).toBe(7);
    const quiet = await search(service, "leave --allow-tokens 15 --quiet");
    expect(quiet.stderr).toMatch(/^The search --via assisted costs model tokens/);
  });

  it("only chat is left: asked for after the assisted search is missing", async () => {
    const service = await startFilled("onyx", { missing: [indexed, keyword, "/search"] });
    const [first] = await resultsOf(service, "leave --allow-tokens 15");
    expect(first).toMatchObject({ via: "chat" });
    expect(sentOf(service)).toHaveLength(4);
  });

  it.each([
    ["--via indexed", { missing: [indexed] }, 9],
    ["--via keyword", { denied: [keyword] }, 4],
    ["--via assisted --allow-tokens 15", { missing: ["/search"] }, 9],
  ])("%s takes no other way", async (line, faults, expected) => {
    const service = await startFilled("onyx", faults);
    expect((await search(service, `leave ${line}`)).code).toBe(expected);
    expect(sentOf(service)).toHaveLength(1);
  });

  it("an error under 200 is exit 8", async () => {
    const rules: FaultRule[] = [];
    const service = await startFilled("onyx", { rules });
    for (const [via, path, error] of [
      ["indexed", indexed, "index timed out"],
      ["indexed", indexed, ""],
      ["keyword", keyword, "index timed out"],
      ["assisted --allow-tokens 15", "/search", "index timed out"],
    ] as const) {
      const body = { search_docs: [], documents: [], results: [], error };
      rules.splice(0, 1, { when: { path: `/api${path}` }, do: { body } });
      const before = sentOf(service).length;
      const { code, stderr } = await search(service, `leave --via ${via}`);
      expect([code, stderr]).toEqual([8, expect.stringContaining(error || "no reason given")]);
      expect(sentOf(service).length - before).toBe(1);
    }
  });

  it("an unknown document set is not hidden by the next way", async () => {
    const service = await startFilled();
    const { code, stderr } = await search(service, "leave --document-set none");
    expect([code, stderr]).toEqual([
      9,
      expect.stringMatching(
        /access to document sets: \['none'\][^]*knowctl api manage\/document-set/,
      ),
    ]);
    expect(sentOf(service)).toHaveLength(1);
  });

  it("a costly search whose connection breaks is not sent a second time", async () => {
    const rules = [
      { when: { path: "/api/search" }, do: "reset-after-store" },
    ] as const satisfies FaultSpec["rules"];
    const service = await startFilled("onyx", { rules });
    expect((await search(service, "leave --via assisted --allow-tokens 15")).code).toBe(11);
    expect(sentOf(service)).toHaveLength(1);
  });

  it("a refusal of one rule is told with its reason", async () => {
    const rules = [{ when: { path: "/api/search" }, do: refusal }];
    const service = await startFilled("onyx", { rules });
    const { code } = await search(service, "leave --via assisted --allow-tokens 15");
    expect([code, sentOf(service).length]).toEqual([4, 1]);
  });
});

describe("search in standard", () => {
  it("has only chat, which needs to be allowed", async () => {
    const service = await startFilled("standard");
    const { code, stderr } = await search(service, "leave");
    expect([code, stderr]).toEqual([2, expect.stringContaining("--allow-tokens 1")]);
    expect(sentOf(service)).toEqual([]);
    const results = await resultsOf(service, "leave --allow-tokens 1");
    expect(results.map(({ path, via }) => [path, via])).toEqual([
      ["docs/leave.md", "chat"],
      ["docs/bikes.md", "chat"],
    ]);
    expect(service.sandbox.ledger.chats).toHaveLength(1);
  });

  it("refuses the other ways before anything is sent", async () => {
    const service = await startFilled("standard");
    const { code, stderr } = await search(service, "leave --via keyword");
    expect([code, stderr]).toEqual([9, expect.stringContaining("it has: chat")]);
    expect(sentOf(service)).toEqual([]);
  });
});

describe("bad input is refused before anything is sent", () => {
  it("of flags, and an empty query", async () => {
    const service = await startFilled();
    for (const line of [
      "leave --fields nope",
      "leave --filter nope=1",
      "leave --jq [",
      "leave --output text",
      "leave --via magic",
      "leave --limit 0",
      "leave --allow-tokens 0 --via chat",
      "leave --filter-tag team",
      "leave --since soon",
    ]) {
      expect((await search(service, line)).code, line).toBe(2);
    }
    const { folder: cwd, env } = service;
    const { code, stderr } = await runHere(["search", " "], { cwd, env });
    expect([code, stderr]).toEqual([2, expect.stringContaining("the query is empty")]);
    expect(sentOf(service)).toEqual([]);
  });
});

describe("on a terminal", () => {
  it("asks before a search that costs, unless --no-input says not to", async () => {
    const service = await startFilled();
    for (const [answer, code, sent] of [
      ["n", 2, 0],
      ["", 2, 0],
      ["y", 0, 1],
    ] as const) {
      const line = "search leave --via assisted";
      const ran = await runIn(service, line, { answer: `${answer}\n` });
      expect([ran.code, sentOf(service).length], answer).toEqual([code, sent]);
      const asked = ran.stderr.replaceAll("\n", " ");
      expect(asked).toContain("costs model tokens: up to 15 model calls. Search? [y/N]");
    }
    const line = "search leave --via chat --no-input";
    expect((await runIn(service, line, { answer: "y\n" })).code).toBe(2);
    expect(sentOf(service)).toHaveLength(1);
  });

  it("marks the hits, links the title, and shows files from the working directory", async () => {
    const { folder, env } = await startFilled();
    const colours = { ...env, FORCE_COLOR: "1", FORCE_HYPERLINK: "1" };
    const context = createTestContext({ cwd: `${folder}/docs`, env: colours, isTTY: true });
    expect(await main(["search", "leave"], context)).toBe(0);
    const text = context.stdoutText();
    expect(text).toContain("\u001b]8;;https://docs.example.com/leave\u001b\\");
    expect(text).toMatch(/Staff take \u001b\[1m\u001b\[35mleave/);
    expect(text).toMatch(/^ {3}leave\.md$/m);
  });

  it("neutralises what the service sends", async () => {
    const body = {
      search_docs: [
        {
          document_id: "a\u001b[31m",
          semantic_identifier: "T\u001b]0;x\u0007\n2",
          blurb: "b\u202e\u001b[2J",
          link: "https://a/\u001b[31m",
          source_type: "web\u001b",
        },
      ],
    };
    const rules = [{ when: { path: `/api${indexed}` }, do: { body } }];
    const { folder, env } = await startFilled("onyx", { rules });
    for (const isTTY of [true, false]) {
      const context = createTestContext({ cwd: folder, env, isTTY });
      expect(await main(["search", "leave", "--no-color"], context)).toBe(0);
      expect(context.stdoutText()).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/);
    }
  });

  it("a table with chosen columns is a table", async () => {
    const { folder, env } = await startFilled();
    const context = createTestContext({ cwd: folder, env, isTTY: true });
    await main(["search", "leave", "--fields", "rank,path"], context);
    expect(context.stdoutText()).toMatch(/rank +path\S*\n +1 +docs\/leave\.md/);
  });

  it("advises nothing against 429 that a search cannot do", async () => {
    const faults = { rules: [{ when: { path: "/api/search" }, do: { status: 429 } }] };
    const { code, stderr } = await search(await startFilled("onyx", faults), "leave");
    expect(code).toBe(6);
    expect(stderr).toMatch(
      /→ try again later; a command that sends many requests takes --concurrency\n$/,
    );
  });
});
