import { expect, it } from "vitest";
import { main } from "../../main.ts";
import { cleanEnvironment, createTestContext, temporaryFolder } from "../../support.ts";

async function fail(extra: Record<string, string>): Promise<{ code: number; err: string }> {
  const cwd = temporaryFolder();
  const context = createTestContext({ cwd, env: cleanEnvironment(cwd, extra) });
  return { code: await main(["connectors", "list"], context), err: context.stderrText() };
}

it("a failure of a run is an annotation in GitHub Actions, and nowhere else", async () => {
  const inActions = await fail({ GITHUB_ACTIONS: "true" });
  expect(inActions.code).toBe(3);
  expect(inActions.err).toMatch(/^error: .+\n(?: {2}.+\n)*::error title=knowctl::.+\n$/);
  expect((await fail({})).err).not.toContain("::error");
});
