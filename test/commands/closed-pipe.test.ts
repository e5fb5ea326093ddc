import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ClosedPipeError } from "../../src/errors.ts";
import { main } from "../main.ts";
import { startTestService, writeFiles } from "../service.ts";
import { cleanEnvironment, createTestContext, temporaryFolder } from "../support.ts";
import { runIn } from "./state/support.ts";

it.each([
  ["verify --output ndjson", 13],
  ["verify --output json", 13],
  ["verify", 13],
  ["eval retrieval suite.yaml", 13],
  ["eval retrieval suite.yaml --json", 13],
  ["eval retrieval suite.yaml --output ndjson", 13],
  ["status --remote --exit-code --output json", 12],
])("a reader that has gone does not make a check succeed: %s", async (line, expected) => {
  const files = { "docs/a.md": "alpha beta\n", "docs/b.md": "gamma delta\n" };
  const lost = { when: { documentId: "docs/a.md" }, do: { index: { keeps: "nothing" as const } } };
  const service = await startTestService({ dialect: "onyx", files, faults: { rules: [lost] } });
  expect(await runIn(service, "ingest docs --cc-pair-id 2")).toMatchObject({ code: 0 });
  await service.sandbox.idle();
  if (line.startsWith("status")) writeFileSync(join(service.folder, "docs/c.md"), "epsilon\n");
  const lostCase = "{ id: a, question: alpha, must_retrieve: [docs/a.md] }";
  writeFileSync(join(service.folder, "suite.yaml"), `version: 1\ncases: [${lostCase}]\n`);
  const context = createTestContext({ cwd: service.folder, env: service.env });
  const stdout = { ...context.stdout, write: () => Promise.reject(new ClosedPipeError()) };
  expect(await main(line.split(" "), { ...context, stdout })).toBe(expected);
});

it("a reader that has gone does not make lint succeed", async () => {
  const folder = temporaryFolder();
  writeFiles(folder, { "a.md": "# A\n\n[b](b.md)\n" });
  writeFiles(folder, { ".cliconfig.json": '{ "lint": { "rules": { "dead-link": "error" } } }' });
  const context = createTestContext({ cwd: folder, env: cleanEnvironment(temporaryFolder()) });
  const stdout = { ...context.stdout, write: () => Promise.reject(new ClosedPipeError()) };
  // Only a trusted file makes a warning an error.
  const line = ["lint", "--config", ".cliconfig.json"];
  expect(await main(line, { ...context, stdout })).toBe(13);
});
