import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { openDatabase } from "../../../src/database.ts";
import { startTestService, writeFiles, type TestService } from "../../service.ts";
import { runIngest } from "./support.ts";

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
});
