import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { main } from "../../main.ts";
import { startTestService, writeFiles, type TestService } from "../../service.ts";
import { createTestContext } from "../../support.ts";

async function run({ folder, env }: TestService, args: string[], cwd = folder) {
  const context = createTestContext({ cwd, env });
  const code = await main(args, context);
  return { code, stdout: context.stdoutText(), stderr: context.stderrText() };
}

const path = "docs/my guide (ä).md";
const files = { [path]: "# Wombats\n\nWombats sleep in burrows during the day.\n" };
const question = ["chat", "Where", "do", "wombats", "sleep?"];

describe("the local file of a source", () => {
  it.each(["standard", "onyx"] as const)("is named (%s)", async (dialect) => {
    const service = await startTestService({ dialect, files });
    expect((await run(service, ["ingest", "docs", "--cc-pair-id", "2"])).code).toBe(0);
    await service.sandbox.idle();
    const { stderr, code } = await run(service, question);
    expect(code).toBe(0);
    expect(stderr).toMatch(/Sources\n {2}\[1\] Wombats .*docs\/my guide \(ä\)\.md\n/);
    const inside = await run(service, question, join(service.folder, "docs"));
    expect(inside.stderr).toMatch(/\[1\] Wombats {2}my guide \(ä\)\.md\n/);
    const json = JSON.parse((await run(service, [...question, "--json"])).stdout) as {
      citations: { file: string; documentId: string }[];
    };
    expect(json.citations).toMatchObject([{ file: path, mismatch: null }]);
    writeFiles(service.folder, { [path]: "changed" });
    rmSync(join(service.folder, path));
    expect((await run(service, question)).stderr).toContain("[1] Wombats\n");
  });

  it("is named by sessions show as well", async () => {
    const service = await startTestService({ dialect: "onyx", files });
    await run(service, ["ingest", "docs", "--cc-pair-id", "2"]);
    await service.sandbox.idle();
    await run(service, question);
    const shown = await run(service, ["sessions", "show", "last"]);
    expect(shown.stdout).toMatch(/\[1\] Wombats .*docs\/my guide \(ä\)\.md\n/);
    const json = JSON.parse(
      (await run(service, ["sessions", "show", "last", "--json"])).stdout,
    ) as {
      messages: { citations: object[] }[];
    };
    expect(json.messages.at(-1)!.citations).toMatchObject([{ number: 1, file: path }]);
  });

  it("is not looked for by making a state", async () => {
    const service = await startTestService({ files });
    await run(service, ["ingest", "docs", "--cc-pair-id", "2", "--no-state"]);
    await service.sandbox.idle();
    const { stderr, code } = await run(service, question);
    expect(code).toBe(0);
    expect(stderr).toContain("[1] Wombats\n");
    expect(existsSync(join(service.folder, ".knowctl"))).toBe(false);
  });
});
