import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { describeProgram } from "../../src/cli/program.ts";
import { unknownVariables } from "../../src/cli/environment.ts";
import { runHere } from "../main.ts";
import { cleanEnvironment, temporaryFolder } from "../support.ts";

async function plan(
  variables: Record<string, string>,
  { args = [], config }: { args?: string[]; config?: unknown } = {},
): Promise<{ code: number; warnings: string[]; stderr: string }> {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "docs"));
  writeFileSync(join(folder, "docs", "a.md"), "# A\n\nText.\n");
  if (config !== undefined) writeFileSync(join(folder, "c.json"), JSON.stringify(config));
  const { code, stderr } = await runHere(
    ["ingest", "docs", "--cc-pair-id", "2", "--dry-run", ...args],
    { cwd: folder, env: cleanEnvironment(folder, variables) },
  );
  const warnings = stderr.split("\n").filter((line) => line.includes("has no effect"));
  return { code, warnings, stderr };
}

it("a misspelt variable is a warning that names the nearest known one, also with --quiet", async () => {
  const variables = {
    KNOWCTL_BASEURL: "hidden-value",
    KNOWCTL_FORCE: "hidden-value",
    KNOWCTL_ZEBRA: "hidden-value",
  };
  for (const args of [[], ["--quiet"]]) {
    const { code, warnings, stderr } = await plan(variables, { args });
    expect(code).toBe(0);
    expect(warnings).toEqual([
      "warning: the variable KNOWCTL_BASEURL has no effect: knowctl does not know it; did you mean KNOWCTL_BASE_URL?",
      "warning: the variable KNOWCTL_FORCE has no effect: knowctl does not know it; --force counts only as a flag",
      "warning: the variable KNOWCTL_ZEBRA has no effect: knowctl does not know it; see `knowctl help environment`",
    ]);
    expect(stderr).not.toContain("hidden-value");
  }
});

it("variables of other commands, named variables and empty ones are no warning", async () => {
  const { code, warnings } = await plan({
    KNOWCTL_STATE: "kept",
    KNOWCTL_QUIET: "1",
    KNOWCTL_SANDBOX_KEY: "key",
    KNOWCTL_ACCESS_TOKEN: "key",
    KNOWCTL_CLIENT_KEY_PASSPHRASE: "word",
    KNOWCTL_TRUST_PROJECT: "1",
    KNOWCTL_BASEURL: " ",
  });
  expect({ code, warnings }).toEqual({ code: 0, warnings: [] });
});

it("a variable that a profile names for a key is no warning", async () => {
  const config = { profiles: { team: { apiKey: { env: "KNOWCTL_TEAM_KEY" } } } };
  const variables = { KNOWCTL_TEAM_KEY: "key", KNOWCTL_CONFIG: "c.json" };
  const { code, warnings } = await plan(variables, { config });
  expect({ code, warnings }).toEqual({ code: 0, warnings: [] });
});

it("the whole program is described only for a variable that the command does not know", () => {
  const ingest = describeProgram().commands.find((each) => each.name() === "ingest");
  if (!ingest) throw new Error("there is no ingest");
  const describe = (): never => {
    throw new Error("described");
  };
  const env = { KNOWCTL_API_KEY: "key", KNOWCTL_STATE: "1", KNOWCTL_NOTHING: "" };
  expect(unknownVariables(env, ingest, describe).size).toBe(0);
});
