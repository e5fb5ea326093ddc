import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { main } from "../../../main.ts";
import { startTestService } from "../../../service.ts";
import { createTestContext } from "../../../support.ts";

const row = (id: string, source: string): string =>
  JSON.stringify({
    id,
    semantic_identifier: id,
    source,
    metadata: {},
    sections: [{ text: "Text." }],
  });

// A blank line: rows and lines count differently.
const rows = `${row("one", "file")}\n\n${row("two", "no-such-source")}\n${row("three", "file")}\n`;
const table = 'id,source,body\na1,file,"Two\nlines."\na2,no-such-source,Text.\n';
const files = { "data/rows.ndjson": rows, "data/table.csv": table };

it("a row that the service refuses is named by line, row and id", async () => {
  const service = await startTestService({ files, dialect: "onyx" });
  const env = { ...service.env, GITHUB_ACTIONS: "true", GITHUB_WORKSPACE: service.folder };
  const context = createTestContext({ cwd: service.folder, env });
  const args = ["ingest", "data", "--include", "**/*", "--cc-pair-id", "2"];
  const reports = ["--report", "r.json", "--report", "r.xml", "--output", "ndjson"];
  expect(await main([...args, ...reports], context)).toBe(10);
  const stderr = context.stderrText();
  expect(stderr).toMatch(/failed data\/rows\.ndjson:3: row 2, two: upload: /);
  expect(stderr).toMatch(/failed data\/table\.csv:4: row 2, a2: upload: /);
  expect(stderr).toMatch(/^::error file=data\/rows\.ndjson,line=3,[^:]*::row 2, two: /m);
  const lines = context
    .stdoutText()
    .split("\n")
    .filter((line) => line.includes('"status":"failed"'));
  expect(lines.map((line) => JSON.parse(line) as object)).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ path: "data/rows.ndjson", row: 2, line: 3, id: "two" }),
      expect.objectContaining({ path: "data/table.csv", row: 2, line: 4, id: "a2" }),
    ]),
  );
  const report = JSON.parse(readFileSync(join(service.folder, "r.json"), "utf8")) as {
    failures: object[];
  };
  expect(report.failures).toContainEqual(
    expect.objectContaining({ path: "data/rows.ndjson", row: 2, line: 3, id: "two" }),
  );
  expect(readFileSync(join(service.folder, "r.xml"), "utf8")).toContain('line="3"');
});
