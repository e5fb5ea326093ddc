import type { IngestOptions } from "../../../../src/commands/ingest/ingest-options.ts";
import { describe, expect, it } from "vitest";
import {
  explain as explainFile,
  type ExplainFlags,
} from "../../../../src/commands/explain/explain.ts";
import { CliError } from "../../../../src/errors.ts";
import { startTestService, type TestService } from "../../../service.ts";
import { keepContext } from "../../../ran.ts";
import { createTestContext } from "../../../support.ts";
import { acceptedIds, lastAccepted, runIngest } from "../support.ts";

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
    [["created=size"], "--map created: the standard interface has no doc_created_at"],
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
