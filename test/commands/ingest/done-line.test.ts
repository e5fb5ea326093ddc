import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startTestService, writeFiles } from "../../service.ts";
import { runIn } from "../state/support.ts";

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
  expect(second.stderr).toMatch(/^done: 2 unchanged in \S+ · pair 2 at [\d.:]+, profile default$/m);
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
  const service = await startTestService({ files, dialect: "onyx", faults: { rules: [...rules] } });
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
