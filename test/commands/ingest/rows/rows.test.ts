import type { IngestOptions } from "../../../../src/commands/ingest/ingest-options.ts";
import { describe, expect, it } from "vitest";
import {
  type ExplainFlags,
  explain as explainFile,
} from "../../../../src/commands/convert/explain.ts";
import { CliError } from "../../../../src/errors.ts";
import { type TestService, startTestService } from "../../../service.ts";
import { keepContext } from "../../../ran.ts";
import { createTestContext } from "../../../support.ts";
import { acceptedIds, lastAccepted, runIngest } from "../support.ts";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { main } from "../../../main.ts";
import type { FaultRule } from "../../../../src/sandbox/http/faults.ts";

describe("rows", () => {
  const files = {
    "data/items.csv": "sku,name,body,size\n1,Chair,Four legs.,40\n2,Table,One top.,80\n",
    "data/items.dat": "sku\tname\tbody\n7\tLamp\tGives light.\n",
    "data/notes": "# A note\n\nText.\n",
    "data/given.ndjson": `${JSON.stringify({ id: "g1", semantic_identifier: "G", source: "file", metadata: {}, sections: [{ text: "Given." }] })}\n`,
  };

  const map = ["id=sku,title=name", "text=body"];

  describe("--map", () => {
    it("names the columns of rows", async () => {
      const service = await startTestService({ files });
      const { error } = await runIngest(service, ["data/items.csv"], { map });
      expect(error).toBeUndefined();
      expect(acceptedIds(service)).toEqual(["1", "2"]);
      expect(lastAccepted(service, "2")).toMatchObject({
        title: "Table",
        sections: [{ text: "One top." }],
        metadata: { size: "80" },
      });
      const again = await runIngest(service, ["data/items.csv"], { map: ["id=sku,text=body"] });
      expect(again.stderr).toContain("2 updated");
    });

    it("names the creation where the service stores it", async () => {
      const rows = { "made.csv": "text,born\nOne.,2023-05-01\n" };
      const service = await startTestService({ dialect: "onyx", files: rows });
      const { error } = await runIngest(service, ["made.csv"], { map: ["doc_created_at=born"] });
      expect(error).toBeUndefined();
      expect(lastAccepted(service, "made.csv#1")).toMatchObject({
        doc_created_at: "2023-05-01T00:00:00Z",
        metadata: {},
      });
    });

    it.each([
      [["title"], "--map title: not FIELD=COLUMN"],
      [["name=x"], "--map name: no field of this name"],
      [["title=a", "title=b"], "--map title: given twice"],
      [["created=size"], "--map created: the standard dialect has no doc_created_at"],
    ])("refuses %j", async (wrong, message) => {
      const service = await startTestService({ files });
      const { error } = await runIngest(service, ["data/items.csv"], { map: wrong });
      expect(error).toMatchObject({ exit: "usage", message });
    });
  });

  describe("--format", () => {
    it.each<[string, IngestOptions["format"], string]>([
      ["data/items.dat", "tsv", "7"],
      ["data/notes", "markdown", "data/notes"],
      ["data/no*", "text", "data/notes"],
    ])("reads %s as %s", async (path, format, id) => {
      const service = await startTestService({ files });
      const { error } = await runIngest(service, [path], { format: format!, map });
      expect(error).toBeUndefined();
      expect(acceptedIds(service)).toEqual([id]);
    });

    it("another format of the same file is another document", async () => {
      const service = await startTestService({ files });
      await runIngest(service, ["data/notes"], { format: "text" });
      const { stderr } = await runIngest(service, ["data/notes"], { format: "markdown" });
      expect(stderr).toContain("1 updated");
      expect(lastAccepted(service, "data/notes")?.title).toBe("A note");
    });

    it.each([[["data"]], [[]]])("is refused without named files: %j", async (paths) => {
      const service = await startTestService({
        files: { ...files, ".cliconfig.json": '{"ingest":{"include":["data/*"]}}' },
      });
      const { error } = await runIngest(service, paths, { format: "text" });
      expect(error).toMatchObject({ exit: "usage" });
      expect(error?.message).toContain("--format");
    });
  });

  interface Explained {
    path: string;
    row?: number;
    state: string;
    target?: number;
    fields: { name: string; value: string; origin: string }[];
  }

  async function explain(
    service: TestService,
    path: string,
    flags: ExplainFlags = {},
  ): Promise<Explained> {
    const context = createTestContext({ cwd: service.folder, env: service.env });
    await explainFile(keepContext(context, "explain"), [path], { json: true, map, ...flags });
    return JSON.parse(context.stdoutText()) as Explained;
  }

  describe("explain", () => {
    it("shows the first row, or the one that is asked for, with its state", async () => {
      const service = await startTestService({ files });
      const first = await explain(service, "data/items.csv");
      expect(first).toMatchObject({ path: "data/items.csv", row: 1 });
      expect(first.fields).toContainEqual({ name: "title", value: "Chair", origin: "column name" });
      expect(first.state).toContain("not recorded");
      await runIngest(service, ["data/items.csv"], { map });
      const second = await explain(service, "data/items.csv", { row: 2 });
      expect(second.fields).toContainEqual(expect.objectContaining({ name: "id", value: "2" }));
      expect(second.state).toContain("accepted by");
      expect(second.state).toContain("unchanged since it was last read");
    });

    it("says of a given document that it is passed on", async () => {
      const service = await startTestService({ files });
      const { fields } = await explain(service, "data/given.ndjson");
      expect(fields).toContainEqual({ name: "id", value: "g1", origin: "as given" });
    });

    it.each<[string, ExplainFlags, string]>([
      ["data/items.csv", { row: 3 }, "data/items.csv: has no row 3"],
      ["data/notes", { row: 1, format: "text" }, "data/notes: contains one document"],
    ])("%s with %j: %s", async (path, flags, message) => {
      const service = await startTestService({ files });
      const failure = await explain(service, path, flags).catch((error: unknown) => error);
      if (!(failure instanceof CliError)) throw failure;
      expect(failure).toMatchObject({ exit: "usage" });
      expect(failure.message).toContain(message);
    });
  });
});

describe("refused rows", () => {
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
});

describe("large rows", () => {
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
    const service = await startTestService({
      files,
      dialect: "onyx",
      faults: { rules: [refused] },
    });
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
    writeFileSync(
      join(service.folder, "rows.json"),
      list("e", "d").replace("Text of e.", "Text\n"),
    );
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
});
