import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { main } from "../main.ts";
import { writeFiles } from "../service.ts";
import { createTestContext, projectFolder, temporaryFolder } from "../support.ts";

const examples = JSON.parse(
  readFileSync(join(projectFolder, "scripts", "config-examples.json"), "utf8"),
) as Record<string, unknown>;

/** The examples of the table as one file: `profiles.NAME.x` in a profile, `rules[].x` in a rule. */
function fileOf(values: Record<string, unknown>): Record<string, unknown> {
  const content: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(values)) {
    const path = key.replace("[]", ".0").split(".");
    let target: Record<string, unknown> = content;
    for (const [index, name] of path.slice(0, -1).entries()) {
      target[name] ??= path[index + 1] === "0" ? [] : {};
      target = target[name] as Record<string, unknown>;
    }
    target[path.at(-1)!] = value;
  }
  return content;
}

async function validate(content: unknown): Promise<{ code: number; said: string }> {
  const cwd = temporaryFolder();
  // The user file: some keys may stand in no other.
  const path = "config/knowctl/config.json";
  writeFiles(cwd, { [path]: JSON.stringify(content) });
  chmodSync(join(cwd, path), 0o600);
  const context = createTestContext({ cwd });
  const code = await main(["config", "validate"], context);
  return { code, said: context.stderrText() };
}

it("the example of every configuration key is a valid one", async () => {
  // The profile that defaultProfile names is the one of the examples.
  const content = fileOf({ ...examples, defaultProfile: "NAME" });
  expect(Object.keys(content["profiles"] as object)).toEqual(["NAME"]);
  expect(await validate(content)).toMatchObject({
    code: 0,
    said: expect.not.stringContaining("error"),
  });
});

it("an example that is none would be noticed", async () => {
  const content = fileOf({ ...examples, defaultProfile: "NAME", "ingest.anchors": "wiki" });
  expect(await validate(content)).toMatchObject({ code: 3 });
});
