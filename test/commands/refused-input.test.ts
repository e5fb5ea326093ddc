import { describe, expect, it } from "vitest";
import { runHere } from "../main.ts";
import { startTestService } from "../service.ts";

const files = {
  "docs/a.md": "# A\n\nText of a.\n",
  "docs/b.md": "# B\n\nText of b.\n",
  "docs/c.md": "# C\n\nText of c.\n",
  "suite.json": JSON.stringify({
    version: 1,
    cases: [{ id: "one", question: "What?", must_retrieve: ["docs/a.md"] }],
  }),
};

async function start(path: string, status: number, documentId?: string) {
  const when = { path, ...(documentId === undefined ? {} : { documentId }) };
  const body = { error_code: "INVALID_INPUT", detail: "that is no such thing" };
  const service = await startTestService({
    dialect: "onyx",
    files,
    faults: { rules: [{ when, do: { status, body } }] },
  });
  const { folder: cwd, env, sandbox } = service;
  return { sandbox, run: (line: string) => runHere(line.split(" "), { cwd, env }) };
}

const ingestion = "/api/onyx-api/ingestion";

describe("a refusal of what was given", () => {
  it.each([400, 422])(
    "%i of one document is its own failure; the others are sent",
    async (status) => {
      const { run, sandbox } = await start(ingestion, status, "docs/b.md");
      const { code, stdout, stderr } = await run("ingest docs --cc-pair-id 2");
      expect(code, stderr).toBe(10);
      expect(stdout + stderr).toContain("that is no such thing");
      expect([...sandbox.ledger.documents.keys()].toSorted()).toEqual(["docs/a.md", "docs/c.md"]);
      const again = await run("ingest docs --cc-pair-id 2");
      expect(again.code).toBe(10);
    },
  );

  it.each<[string, string, number]>([
    ["search leave", "/api/search/send-search-message", 2],
    ["eval retrieval suite.json", "/api/search/send-search-message", 2],
    // An error of its case.
    ["eval answers suite.json --allow-tokens 1", "/api/chat/send-chat-message", 10],
  ])("%s ends with the service's words", async (line, path, exit) => {
    const { run } = await start(path, 400);
    const { code, stderr, stdout } = await run(line);
    expect(stderr + stdout).toContain("that is no such thing");
    expect(code).toBe(exit);
  });

  it("verify says unknown of a document whose look-up is refused so", async () => {
    const { run, sandbox } = await start("/api/document/document-size-info", 400);
    expect((await run("ingest docs --cc-pair-id 2 --quiet")).code).toBe(0);
    await sandbox.idle();
    const { code, stdout } = await run("verify");
    expect(stdout).toMatch(/^unknown +docs\/a\.md: .*that is no such thing/m);
    expect(code).toBe(10);
  });
});
