import { afterEach, expect, it, vi } from "vitest";
import { runHere } from "../../main.ts";
import { startTestService } from "../../service.ts";

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
  expect(stdout).toMatch(/^unknown +docs\/a\.md: .*its chunks did not come within 5 minutes/m);
  expect(asked()).toHaveLength(3);
});
