import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { main } from "../../../main.ts";
import { createTestContext } from "../../../support.ts";
import { answer, rawTurn, replay, type World } from "../support.ts";

/** The lines of `> file 2>&1`. */
async function runIntoOneFile(world: World, args: string[]): Promise<string[]> {
  const context = createTestContext({ cwd: world.home, env: world.env });
  const parts: string[] = [];
  const write = async (part: string | Uint8Array): Promise<void> => {
    parts.push(Buffer.from(part).toString());
  };
  const stdout = { ...context.stdout, write };
  const stderr = { ...context.stderr, write };
  await main(["chat", ...args], { ...context, stdout, stderr });
  return parts.join("").split("\n");
}

describe("stdout and stderr in one file", () => {
  const damaged = [...rawTurn.slice(0, -1), '{"obj":', ...rawTurn.slice(-1)];
  const cut = rawTurn.slice(0, -1);

  it.each([
    ["damaged", damaged],
    ["cut", cut],
  ])("keep the note of --save and a %s answer on lines of their own", async (_name, lines) => {
    for (const flags of [[], ["--live"], ["--live", "--show", "none"]]) {
      const world = await replay(lines);
      const written = await runIntoOneFile(world, [...flags, "--save", "a.md", "hi"]);
      expect(written).toContain(answer);
      const at = written.findIndex((line) => line.startsWith("warning: the part of the answer"));
      expect(at).toBeGreaterThan(written.indexOf(answer));
      // No empty line stands where the break was missing before.
      expect(written[at + 1]).toMatch(/^error: /);
    }
  });

  it("keep the warning of a session that is not remembered on a line of its own", async () => {
    for (const flags of [[], ["--live"]]) {
      const world = await replay(rawTurn);
      mkdirSync(join(world.home, "state", "knowctl"), { recursive: true });
      writeFileSync(join(world.home, "state", "knowctl", "sessions"), "");
      const written = await runIntoOneFile(world, [...flags, "hi"]);
      expect(written).toContain(answer);
      expect(written.filter((line) => line.includes("not remembered"))).toEqual([
        expect.stringMatching(/^warning: /),
      ]);
    }
  });
});
