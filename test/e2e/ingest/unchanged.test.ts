import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { filesInThisThread } from "../../../src/documents/inspect/open-inspector.ts";
import { startTestService } from "../../service.ts";
import { projectFolder, runCli } from "../../support.ts";

const preload = join(projectFolder, "test", "fixtures", "threads", "count-opens.cjs");
// Enough for the threads that look at files to be started.
const many = filesInThisThread + 50;

/** A service, and a run that gives how many documents it has opened. */
async function start(count: number) {
  const names = Array.from({ length: count }, (_, index) => `docs/d${index % 25}/${index}.md`);
  const files = Object.fromEntries(names.map((name) => [name, `# ${name}\n`]));
  const service = await startTestService({ files });
  const list = join(service.folder, "opened.txt");
  const env = { ...service.env, NODE_OPTIONS: `--require ${preload}`, OPENED_LIST: list };
  const run = async (...flags: string[]): Promise<number> => {
    const before = existsSync(list) ? readFileSync(list, "utf8").length : 0;
    const args = ["ingest", "docs", "--cc-pair-id", "2", ...flags];
    const result = await runCli(args, { cwd: service.folder, env });
    expect(result, result.stderr).toMatchObject({ code: 0 });
    const text = existsSync(list) ? readFileSync(list, "utf8").slice(before) : "";
    return text.split("\n").length - 1;
  };
  return { service, run };
}

it("opens each new document twice, none when nothing changed; --checksum opens each once", async () => {
  const { service, run } = await start(many);
  expect(await run("--concurrency", "32")).toBe(2 * many);
  const requests = service.sandbox.ledger.requestCount;
  expect(await run()).toBe(0);
  expect(await run("--checksum")).toBe(many);
  expect(service.sandbox.ledger.requestCount).toBe(requests);
});
