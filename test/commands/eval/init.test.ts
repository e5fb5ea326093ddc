import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseSuite } from "../../../src/commands/eval/load-suite.ts";
import type { FaultRule } from "../../../src/sandbox/http/faults.ts";
import { runHere } from "../../main.ts";
import { startTestService, type TestService } from "../../service.ts";

const text =
  "Ask your manager, who writes the days into the calendar and tells the others about it.";

const files = {
  "docs/people/leave.md": `# Leave\n\n## How do I request leave?\n\n${text}\n`,
  "docs/people/holidays.md": `---\ntitle: Holidays\n---\n## Cancel a holiday\n\n${text}\n`,
  "docs/travel/costs.md": `# Costs\n\n## Keeping receipts\n\n${text}\n`,
  "docs/travel/draft.md": "---\ndraft: true\n---\n# Draft\n\ntext\n",
  "docs/faq.csv": "id,title,text\nq1,One,first\n",
};

async function init({ folder, env }: TestService, line: string) {
  return await runHere(["eval", "init", ...line.split(" ")], { cwd: folder, env });
}

const casesOf = (text: string) => parseSuite(text, "s.yaml").cases;

describe("eval init from files", () => {
  it("drafts a case for each document, and sends nothing", async () => {
    const service = await startTestService({ files });
    const { code, stdout, stderr } = await init(service, "docs");
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: "3 cases drafted from 3 of 3 files; each waits for your review (`review: true`)\n",
    });
    const cases = casesOf(stdout);
    expect(cases.map(({ question, group }) => [group, question])).toEqual([
      ["docs/people", "How do I cancel a holiday?"],
      ["docs/people", "How do I request leave?"],
      ["docs/travel", "How do I keep receipts?"],
    ]);
    expect(cases[1]?.mustRetrieve[0]?.document).toEqual({ path: "docs/people/leave.md" });
    expect(cases.every(({ needsReview }) => needsReview)).toBe(true);
    expect(service.sandbox.ledger.requests).toEqual([]);
  });

  it("takes documents from each folder, always the same ones", async () => {
    const service = await startTestService({ files });
    const first = await init(service, "docs --limit 2");
    expect(casesOf(first.stdout).map(({ group }) => group)).toEqual(["docs/people", "docs/travel"]);
    expect((await init(service, "docs --limit 2")).stdout).toBe(first.stdout);
  });

  it("takes up to three questions of a page, the best of each page first, none twice", async () => {
    const section = (heading: string): string => `## ${heading}\n\n${text}\n\n`;
    const pages = {
      "a.md": `# A\n\n${["Add a pair", "Remove a pair", "Who may add pairs?", "Rename a pair"].map(section).join("")}`,
      "b.md": `# B\n\n${["Deleting pairs", "Share a pair"].map(section).join("")}`,
    };
    const service = await startTestService({ files: pages });
    const questions = async (line: string) =>
      casesOf((await init(service, line)).stdout).map(({ question }) => question);
    expect(await questions(".")).toEqual([
      "Who may add pairs?",
      "How do I add a pair?",
      "How do I rename a pair?",
      "How do I delete pairs?",
      "How do I share a pair?",
    ]);
    expect(await questions(". --limit 2")).toEqual([
      "Who may add pairs?",
      "How do I delete pairs?",
    ]);
  });

  it("says which words are no question, and counts pages without one", async () => {
    const german = "Die Leitung genehmigt den Antrag. Er ist im Portal. Die Firma zahlt die Reise.";
    const service = await startTestService({
      files: { "a.md": `# Reise\n\n## Belege\n\n${german}\n`, "b.md": `# Overview\n\n${text}\n` },
    });
    const { stdout, stderr } = await init(service, ".");
    expect(stdout).toContain("  # words to search for: write the question as people ask it\n");
    expect(casesOf(stdout).map(({ question }) => question)).toEqual(["Reise: Belege"]);
    expect(stderr).toContain(
      "1 file skipped: no heading gives a question\n1 case drafted from 1 of 2 files",
    );
  });

  it("writes a new file, and overwrites none", async () => {
    const service = await startTestService({ files });
    const { code, stdout } = await init(service, "docs --out eval/suite.yaml");
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    const path = join(service.folder, "eval", "suite.yaml");
    const text = readFileSync(path, "utf8");
    expect(casesOf(text)).toHaveLength(3);
    writeFileSync(path, "mine");
    const again = await init(service, "docs --out eval/suite.yaml");
    expect(again.code).toBe(2);
    expect(again.stderr).toContain("eval/suite.yaml exists");
    expect(readFileSync(path, "utf8")).toBe("mine");
  });

  it("counts what no case is drafted from: files of rows, and files that cannot be read", async () => {
    const service = await startTestService({
      files: {
        ...files,
        "docs/more.tsv": "id\ttext\nq1\tfirst\n",
        "docs/bad.md": "---\n- [\n---\n",
      },
    });
    const all = await init(service, "docs docs/faq.csv docs/more.tsv");
    expect({ code: all.code, stderr: all.stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(
        /^2 files of rows skipped, the first is docs\/faq\.csv: a case needs a file with one document\nwarning: 1 file skipped: docs\/bad\.md:.*\n3 cases drafted from 3 of 3 files;/,
      ),
    });
    const { code, stderr } = await init(service, "docs/faq.csv");
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^1 file of rows skipped: docs\/faq\.csv: .*\nerror: there is no document/,
    );
  });

  it("is an error without a document", async () => {
    const service = await startTestService({ files });
    const { code, stderr, stdout } = await init(service, "docs/travel/draft.md --out s.yaml");
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("there is no document to draft a question from");
    expect(existsSync(join(service.folder, "s.yaml"))).toBe(false);
  });
});

interface Turn {
  question: string;
  answer?: string;
  error?: string;
  cites?: string;
}

function sessionOf(id: string, { question, answer = "", error, cites }: Turn): object {
  const documents =
    cites === undefined ? [] : [{ document_id: cites, semantic_identifier: "Leave" }];
  return {
    chat_session_id: id,
    messages: [
      { message_id: 1, message_type: "system", message: "", latest_child_message: 2 },
      {
        message_id: 2,
        parent_message: 1,
        message_type: "user",
        message: question,
        latest_child_message: 3,
      },
      {
        message_id: 3,
        parent_message: 2,
        message_type: "assistant",
        message: answer,
        error,
        context_docs: documents,
        citations: cites === undefined ? {} : { 1: cites },
      },
    ],
  };
}

const idOf = (number: number): string => `00000000-0000-4000-8000-00000000000${number}`;

function stores(turns: readonly Turn[], gone: readonly number[] = []): FaultRule[] {
  const sessions = turns.map((_turn, index) => ({ id: idOf(index), name: "s" }));
  return [
    {
      when: { path: "/api/chat/get-user-chat-sessions" },
      do: { status: 200, body: { sessions, has_more: false } },
    },
    ...turns.map((turn, index): FaultRule => {
      const body = gone.includes(index) ? { detail: "not found" } : sessionOf(idOf(index), turn);
      const status = gone.includes(index) ? 404 : 200;
      return { when: { path: `/api/chat/get-chat-session/${idOf(index)}` }, do: { status, body } };
    }),
  ];
}

describe("eval init --from-sessions", () => {
  const turns: Turn[] = [
    {
      question: "How do I request leave?",
      answer: "Ask your manager [1].",
      cites: "docs%2Fleave.md",
    },
    { question: "Hello", answer: "Hello, how can I help?" },
    { question: "Where is the plan?", answer: "I could not find anything about that." },
    { question: "how do I  request leave?", answer: "Again [1].", cites: "docs%2Fleave.md" },
    { question: "Why {{x}}?", error: "model failed" },
    { question: "gone", answer: "gone" },
  ];

  it("has unanswered questions first, then uncited ones; citations are only proposed", async () => {
    const rules = stores(turns, [5]);
    const service = await startTestService({ dialect: "onyx", files, faults: { rules } });
    const { code, stdout, stderr } = await init(service, "--from-sessions");
    expect(code, stderr).toBe(0);
    const cases = casesOf(stdout);
    expect(cases.map(({ question }) => question)).toEqual([
      "Where is the plan?",
      "Why {{x}}?",
      "Hello",
      "How do I request leave?",
    ]);
    expect(stdout.match(/^ {2}# .*$/gm)).toEqual([
      "  # unanswered",
      "  # unanswered",
      "  # answered without a citation",
      "  # answered with citations",
    ]);
    expect(cases.every((each) => each.needsReview && each.mustRetrieve.length === 0)).toBe(true);
    expect(stdout).toContain('    #   - { id: "docs%2Fleave.md" } # Leave\n');
    expect(service.sandbox.ledger.modelCalls).toBe(0);
    const posts = service.sandbox.ledger.requests.filter(({ method }) => method !== "GET");
    expect(posts).toEqual([]);
  });

  it("names the local file of a cited document that the state knows", async () => {
    const rules = stores([
      { question: "How?", answer: "So [1].", cites: "docs%2Fpeople%2Fleave.md" },
    ]);
    const service = await startTestService({ dialect: "onyx", files, faults: { rules } });
    const { folder, env } = service;
    const sent = await runHere(["ingest", "docs", "--cc-pair-id", "2"], { cwd: folder, env });
    expect(sent.code, sent.stderr).toBe(0);
    const { stdout } = await init(service, "--from-sessions");
    expect(stdout).toContain("    #   - docs/people/leave.md # Leave\n");
  });

  it("is exit 9 without a question, and where the dialect lists no sessions", async () => {
    const empty = await startTestService({ dialect: "onyx", faults: { rules: stores([]) } });
    expect(await init(empty, "--from-sessions")).toMatchObject({ code: 9, stdout: "" });
    const standard = await startTestService({});
    expect(await init(standard, "--from-sessions")).toMatchObject({ code: 9, stdout: "" });
  });

  it("fails with the service: a suite of some sessions is no suite of all", async () => {
    const refusal: FaultRule = {
      when: { path: `/api/chat/get-chat-session/${idOf(1)}` },
      do: { status: 403, body: {} },
    };
    const rules = [...stores(turns), refusal];
    const service = await startTestService({ dialect: "onyx", faults: { rules } });
    expect(await init(service, "--from-sessions")).toMatchObject({ code: 4, stdout: "" });
  });
});
