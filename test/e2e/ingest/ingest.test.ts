import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { acceptedIds } from "../../commands/ingest/support.ts";
import { startTestService, testKey } from "../../service.ts";
import { runCli } from "../../support.ts";

// What the command does in its many cases: test/commands/ingest/.

const ingest = (...rest: string[]): string[] => ["ingest", "docs", "--cc-pair-id", "2", ...rest];

it("uploads a folder as a process; a second one sends nothing, and no key is left", async () => {
  const files = {
    "docs/leave.md": "---\ntitle: Annual leave\n---\n# Leave\n",
    "docs/plain.txt": "Text.\n",
    "docs/broken.md": "---\ntitle: [unclosed\n---\ntext\n",
  };
  const service = await startTestService({ files });
  const options = { cwd: service.folder, env: service.env };
  const first = await runCli(ingest("--debug", "--output", "json"), options);
  expect(first).toMatchObject({ code: 10 });
  expect(JSON.parse(first.stdout)).toMatchObject({ counts: { created: 2, failed: 1 } });
  expect(acceptedIds(service)).toEqual(["docs/leave.md", "docs/plain.txt"]);
  expect(first.stdout + first.stderr).not.toContain(testKey);
  const state = readFileSync(join(service.folder, ".knowctl", "state.db"));
  expect(state.includes(testKey)).toBe(false);
  const second = await runCli(ingest("--exclude", "broken.md"), options);
  expect(second).toMatchObject({ code: 0, stdout: "" });
  expect(second.stderr).toContain("2 unchanged");
});

it("says that nobody answers when the service is dead", async () => {
  const service = await startTestService({ files: { "docs/a.md": "A\n" } });
  await service.sandbox.close();
  const result = await runCli(ingest(), { cwd: service.folder, env: service.env });
  expect(result.code).toBe(5);
  expect(result.stderr).toContain(service.sandbox.url);
});
