import { expect, it, vi } from "vitest";
import { startTalk } from "./commands/chat/conversation/talking.ts";
import { createWorld } from "./commands/chat/support.ts";
import { runIngest } from "./commands/ingest/support.ts";
import { preparePlace, runShell } from "./e2e/shell.ts";
import { runStep } from "./e2e/runner.ts";
import { main } from "./main.ts";
import { printRuns } from "./ran.ts";
import { startTestService } from "./service.ts";
import { createTestContext, runCli } from "./support.ts";

/** What the failure of the running test would print now. */
function printed(): string {
  const error = vi.spyOn(console, "error").mockImplementation(() => {});
  printRuns({ task: { result: { state: "fail" } } });
  const text = error.mock.calls.flat().join("\n");
  error.mockRestore();
  return text;
}

const files = { "docs/a b.md": "# A\n" };

it("a failing test prints command, folder, files and both streams of what it ran", async () => {
  const service = await startTestService({ files });
  const { folder, env } = service;
  const args = ["ingest", "docs", "--cc-pair-id", "2", "--metadata", "a=it's", "-o", "json"];
  await main(args, createTestContext({ cwd: folder, env }));
  const text = printed();
  expect(text).toMatch(/^\$ knowctl ingest docs --cc-pair-id 2 --metadata 'a=it'\\''s' -o json\n/);
  expect(text).toContain(`\n  in ${folder}\n`);
  expect(text).toMatch(/ {2}files:\n[^]*^ {4}docs\/a b\.md \(4 bytes\)\n[^]* {2}stdout:\n/m);
  expect(text).toMatch(/ {2}stdout:\n {4}\{[^]* {2}stderr:\n[^]*1 created/);
  expect(printed()).toBe("");
});

it("also of a function, a process, a script, a step of the action and a conversation", async () => {
  const { folder, env, ...rest } = await startTestService({ files });
  await runIngest({ folder, env, ...rest }, ["docs"], { dryRun: true });
  expect(printed()).toMatch(/^\$ ingest\(.*"dryRun":true[^]*1 to create/);
  await runCli(["connectors", "list"], { cwd: folder, env });
  expect(printed()).toMatch(/^\$ knowctl connectors list\n[^]*a b\.md[^]*\tHandbook uploads\t/);
  const place = await preparePlace();
  await runShell("knowctl tools list >&2", place);
  expect(printed()).toMatch(/^\$ knowctl tools list >&2\n[^]* {2}stderr:\n[^]*search/);
  await runStep("Upload", { executable: "none.cjs" }, place);
  expect(printed()).toMatch(/^\$ [^]*ingest\.js[^]* {2}stderr:\n {4}\S/);
  const talk = await startTalk(await createWorld());
  await talk.enter("first?");
  expect(printed()).toMatch(/^\$ knowctl chat\n[^]* {2}stdout:\n[^]*Extractive answer/);
});
