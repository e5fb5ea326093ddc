import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { FaultRule } from "../../../../src/sandbox/http/faults.ts";
import { main } from "../../../main.ts";
import { startTestService, type TestService } from "../../../service.ts";
import { createTestContext } from "../../../support.ts";
import { acceptedIds } from "../support.ts";

const mebibyte = 1024 * 1024;
// Blank lines make the file larger than the limit of 64 MiB, and cost little.
const padding = `${" ".repeat(mebibyte)}\n`.repeat(65);
const lastLine = 2 + padding.split("\n").length;
const row = (id: string): string => JSON.stringify({ id, text: `Text of ${id}.` });
const head = `[${row("a")},\n${padding}${row("b")},\n`;
const list = (...ids: string[]): string => `${head}${ids.map(row).join(",\n")}]\n`;

async function run(service: TestService, ...args: string[]) {
  const context = createTestContext({ cwd: service.folder, env: service.env });
  const code = await main(args, context);
  return { code, stdout: context.stdoutText(), stderr: context.stderrText() };
}

const refused: FaultRule = {
  when: { documentId: "c", first: 1 },
  do: { status: 422, body: { detail: "no" } },
};

it("a row file above 64 MiB is uploaded, retried, recognised, explained and pruned by row", async () => {
  const files = { "rows.json": list("c", "d") };
  const service = await startTestService({ files, dialect: "onyx", faults: { rules: [refused] } });
  const upload = ["ingest", "rows.json", "--cc-pair-id", "2"];

  const first = await run(service, ...upload);
  expect(first.stderr).toContain(`rows.json:${lastLine}: row 3, c: `);
  expect(first.code).toBe(10);
  const retried = await run(service, "retry");
  expect(retried.stderr).toContain("1 created");
  expect(acceptedIds(service)).toEqual(["a", "b", "c", "d"]);
  expect((await run(service, ...upload)).stderr).toContain("4 unchanged");

  const explained = await run(service, "explain", "rows.json", "--row", "4", "--json");
  expect(JSON.parse(explained.stdout)).toMatchObject({
    row: 4,
    document: { id: "d" },
    state: expect.stringContaining("unchanged since it was last read") as string,
  });

  writeFileSync(join(service.folder, "rows.json"), list("d"));
  expect((await run(service, ...upload)).stderr).toContain("3 unchanged");
  const prune = ["prune", "rows.json", "--cc-pair-id", "2"];
  expect((await run(service, ...prune, "--dry-run")).stdout).toMatch(
    /^gone\trows\.json\tc\trow-gone\t/,
  );
  const pruned = await run(service, ...prune, "--yes");
  expect(pruned).toMatchObject({ code: 0 });

  // A quote that is not closed far behind: the rows before are sent, the others are not orphans.
  writeFileSync(join(service.folder, "rows.json"), list("e", "d").replace("Text of e.", "Text\n"));
  const broken = await run(service, ...upload);
  expect(broken.stderr).toContain(`rows.json:${lastLine}:18: JSON is broken at "\\""`);
  expect(broken.code).toBe(10);
  expect((await run(service, ...upload)).code).toBe(10);
  expect((await run(service, ...prune, "--dry-run")).stdout).toBe("");

  // Once it is whole again, it is read once more, and then recognised without being read.
  writeFileSync(join(service.folder, "rows.json"), list("e", "d"));
  expect((await run(service, ...upload)).stderr).toContain("1 created, 3 unchanged");
  const again = await run(service, "explain", "rows.json", "--row", "1", "--json");
  expect(again.stdout).toContain("unchanged since it was last read");
});
