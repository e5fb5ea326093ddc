import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startTestService, type TestServiceOptions } from "../../service.ts";
import { runIn } from "../state/support.ts";

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
  const sent = await runIn(service, "ingest docs --cc-pair-id 2 --verify --wait 0 --output ndjson");
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
  for (const metadata of [{}, undefined, "x", { knowctl_version: "old" }, { knowctl_version: 7 }]) {
    const rules = ["/api/admin/search", "/api/search/send-search-message"].map((path) => ({
      when: { path },
      do: {
        body: {
          documents: ids.map((id) => hit(id, metadata)),
          search_docs: ids.map((id) => hit(id, metadata)),
        },
      },
    }));
    const service = await uploaded({ faults: { rules: [...rules, kept] } });
    writeFileSync(join(service.folder, "docs/a.md"), "alpha beta delta\n");
    expect((await runIn(service, "ingest docs --cc-pair-id 2")).code).toBe(0);
    await service.sandbox.idle();
    const { code, stdout } = await service.verify();
    expect(stdout).toMatch(/"id":"docs\/a\.md".*"result":"stale"/);
    expect(stdout).not.toContain("the metadata that were sent");
    expect(code).toBe(13);
  }
});
