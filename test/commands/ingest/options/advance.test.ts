import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { openDatabase } from "../../../../src/database.ts";
import { startTestService, writeFiles, type TestService } from "../../../service.ts";
import { runIngest } from "../support.ts";

/** What the sandbox holds, not what it was sent: it leaves out what has not advanced. */
async function stored(service: TestService): Promise<unknown> {
  const database = await openDatabase(join(dirname(service.folder), "sandbox", "sandbox.sqlite"));
  const row = database.prepare("SELECT metadata FROM documents").get();
  database.close();
  return JSON.parse(String(row?.["metadata"]));
}

const page = (team: number, date: string | undefined): string =>
  `---\nteam: ${team}\n${date === undefined ? "" : `date: ${date}\n`}---\n# A\n\nThe same text.\n`;

const [past, future] = ["2024-01-01", "2040-01-01"];

describe("metadata alone, where the service wants a later date", () => {
  it.each<[string, (string | undefined)[]]>([
    ["the same date again and again", [past, past, past, past]],
    ["never a date", [undefined, undefined, undefined]],
    ["a date, then none", [past, undefined, undefined]],
    ["none, then a past date", [undefined, past, past]],
    ["a future date, then a past one", [future, past, past]],
    ["a future date, then none", [future, undefined, undefined]],
  ])("arrives: %s", async (_, dates) => {
    const service = await startTestService({ dialect: "onyx" });
    for (const [team, date] of dates.entries()) {
      writeFiles(service.folder, { "docs/a.md": page(team, date) });
      expect((await runIngest(service, ["docs"])).error).toBeUndefined();
      expect(await stored(service)).toEqual({ team: String(team) });
    }
  });

  it("arrives under another pair, and under the first one again", async () => {
    const service = await startTestService({ dialect: "onyx" });
    for (const [team, ccPairId] of [2, 7, 7, 2].entries()) {
      writeFiles(service.folder, { "docs/a.md": page(team, past) });
      expect((await runIngest(service, ["docs"], { ccPairId })).error).toBeUndefined();
      expect(await stored(service)).toEqual({ team: String(team) });
    }
  });

  describe("after the state was lost", () => {
    const lose = (service: TestService): void =>
      rmSync(join(service.folder, ".knowctl"), { recursive: true });

    /** A service that has a document whose date was moved on before. */
    async function startLost(): Promise<TestService> {
      const service = await startTestService({ dialect: "onyx" });
      for (const team of [0, 1, 2]) {
        writeFiles(service.folder, { "docs/a.md": page(team, past) });
        expect((await runIngest(service, ["docs"])).stderr).not.toContain("warning");
      }
      lose(service);
      writeFiles(service.folder, { "docs/a.md": page(3, past) });
      return service;
    }

    it("is said to be in doubt, and the next change arrives", async () => {
      const service = await startLost();
      const { stderr } = await runIngest(service, ["docs"]);
      expect(stderr).toContain("may have ignored changes");
      expect(stderr).toContain("--force");
      expect(await stored(service)).toEqual({ team: "2" });
      writeFiles(service.folder, { "docs/a.md": page(4, past) });
      expect((await runIngest(service, ["docs"])).stderr).not.toContain("may have ignored changes");
      expect(await stored(service)).toEqual({ team: "4" });
    });

    it.each<[string, Parameters<typeof runIngest>[2], number[]]>([
      ["with a state, again and again", {}, [3, 4]],
      ["without one", { state: false }, [3]],
    ])("arrives with force: %s", async (_, options, teams) => {
      const service = await startLost();
      for (const team of teams) {
        writeFiles(service.folder, { "docs/a.md": page(team, past) });
        const { stderr } = await runIngest(service, ["docs"], { ...options, force: true });
        expect(stderr).not.toContain("may have ignored changes");
        expect(await stored(service)).toEqual({ team: String(team) });
      }
    });
  });
});
