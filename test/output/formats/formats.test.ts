import { load } from "js-yaml";
import { describe, expect, it } from "vitest";
import { CliError } from "../../../src/errors.ts";
import {
  checkFormat,
  writeList,
  type Column,
  type FormatOptions,
} from "../../../src/output/formats/formats.ts";
import { createOutput } from "../../../src/output/terminal/output.ts";
import { createTestContext } from "../../support.ts";

interface Row {
  id: number;
  name: string | null;
  inner: { source: string };
  extra?: unknown;
}

const rows: Row[] = [
  { id: 2, name: 'quoted "x", and\nmore', inner: { source: "web" } },
  { id: 10, name: null, inner: { source: "\u001b[31m" }, extra: [1, 2] },
];

const columns: Column<Row>[] = [
  { name: "id", value: (row) => row.id, align: "right" },
  { name: "name", value: (row) => row.name },
  { name: "source", value: (row) => row.inner.source },
  { name: "hidden", value: (row) => row.id * 2, shown: false },
];

function open(isTTY = false) {
  const context = createTestContext({ cwd: "/", env: { NO_COLOR: "1" }, isTTY });
  return { context, output: createOutput(context) };
}

async function list(
  options: FormatOptions,
  isTTY = false,
  data: Iterable<Row> | AsyncIterable<Row> = rows,
) {
  const { context, output } = open(isTTY);
  const count = await writeList(output, options, columns, data);
  return { text: context.stdoutText(), count };
}

async function failure(act: () => unknown): Promise<CliError> {
  try {
    await act();
  } catch (error) {
    if (error instanceof CliError) return error;
    throw error;
  }
  throw new Error("nothing failed");
}

describe("writeList", () => {
  it("is a table on a terminal, tsv without a header off it", async () => {
    expect((await list({}, true)).text.split("\n")).toEqual([
      "id  name                  source",
      ' 2  quoted "x", and more  web',
      "10  —                     ^[[31m",
      "",
    ]);
    expect((await list({})).text).toBe('2\tquoted "x", and more\tweb\n10\t\t^[[31m\n');
  });

  it("csv has a header and quotes", async () => {
    expect((await list({ output: "csv" })).text).toBe(
      'id,name,source\n2,"quoted ""x"", and\nmore",web\n10,,^[[31m\n',
    );
  });

  it("json and ndjson hold the whole records", async () => {
    const { text, count } = await list({ json: true });
    expect(JSON.parse(text)).toEqual(rows);
    expect(text).toMatch(/^\[\n {2}\{\n {4}"id": 2,[\s\S]*\n {2}\}\n\]\n$/);
    expect(text).not.toContain("\u001b");
    expect(count).toBe(2);
    const lines = (await list({ output: "ndjson" })).text.split("\n");
    expect(lines.slice(0, -1).map((line) => JSON.parse(line) as unknown)).toEqual(rows);
    expect(lines.at(-1)).toBe("");
  });

  it("yaml reads back, its outside text inert", async () => {
    const { text } = await list({ output: "yaml" });
    expect(load(text)).toEqual(rows);
    // eslint-disable-next-line no-control-regex
    expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f]/);
  });

  it.each([
    ["table", ""],
    ["tsv", ""],
    ["csv", "id,name,source\n"],
    ["json", "[]\n"],
    ["ndjson", ""],
    ["yaml", "[]\n"],
  ])("%s of no rows", async (format, expected) => {
    expect(await list({ output: format }, false, [])).toEqual({ text: expected, count: 0 });
  });

  it.each(["json", "ndjson", "yaml", "csv", "tsv"])(
    "%s streams rows as they come, in pieces",
    async (format) => {
      const { context, output } = open();
      let seenBefore = 0;
      const many = async function* (): AsyncGenerator<Row> {
        for (let id = 0; id < 5000; id++) {
          if (id === 4999) seenBefore = context.stdoutText().length;
          yield { id, name: "n".repeat(100), inner: { source: "s" } };
        }
      };
      expect(await writeList(output, { output: format }, columns, many())).toBe(5000);
      expect(seenBefore).toBeGreaterThan(100_000);
      expect(context.stdoutText().match(/n{100}/g)).toHaveLength(5000);
    },
  );

  it("--fields picks and orders columns, hidden ones and members", async () => {
    expect((await list({ fields: "source,id,hidden,inner.source" })).text).toBe(
      "web\t2\t4\tweb\n^[[31m\t10\t20\t^[[31m\n",
    );
    expect((await list({ fields: "hidden,id", output: "csv" })).text).toBe(
      "hidden,id\n4,2\n20,10\n",
    );
    const picked = JSON.parse(
      (await list({ fields: "inner.source,hidden", json: true })).text,
    ) as unknown;
    expect(picked).toEqual([
      { inner: { source: "web" }, hidden: 4 },
      { inner: { source: "\u001b[31m" }, hidden: 20 },
    ]);
  });

  it("--fields takes a member that only some rows have", async () => {
    expect((await list({ fields: "id,extra" })).text).toBe("2\t\n10\t1,2\n");
  });

  it("refuses an unknown field before anything is written", async () => {
    const { context, output } = open();
    const error = await failure(() => writeList(output, { fields: "id,sorce" }, columns, rows));
    expect([error.exit, error.message]).toEqual(["usage", "unknown field sorce"]);
    expect(error.hints[0]).toContain("id, name, source, hidden");
    expect(context.stdoutText()).toBe("");
    const filter = await failure(() => list({ filter: ["zzz=1"] }));
    expect(filter.message).toBe("unknown field zzz");
  });

  it("--filter narrows every format", async () => {
    expect(await list({ filter: ["source=web"] })).toEqual({
      text: '2\tquoted "x", and more\tweb\n',
      count: 1,
    });
    expect((await list({ filter: ["name="], json: true })).count).toBe(1);
    expect((await list({ filter: ["id~*", "inner.source~nothing"] })).count).toBe(0);
  });
});

describe("checkFormat", () => {
  it.each<[FormatOptions, RegExp]>([
    [{ output: "xml" }, /--output xml/],
    [{ output: "text" }, /no such format/],
    [{ output: "constructor" }, /no such format/],
    [{ output: "" }, /no such format/],
    [{ json: true, output: "csv" }, /exclude each other/],
    [{ jq: ".", output: "csv" }, /exclude each other/],
    [{ fields: "a,,b" }, /--fields/],
    [{ filter: ["a"] }, /--filter/],
  ])("refuses %j", (options, message) => {
    expect(() => checkFormat(options)).toThrow(message);
  });

  it.each<FormatOptions>([
    {},
    { json: true, output: "json" },
    { json: true, output: "csv", flagSources: { json: "flag", output: "env" } },
    { json: true, output: "csv", flagSources: { json: "env", output: "flag" } },
    { jq: ".", output: "ndjson" },
  ])("accepts %j", (options) => {
    expect(() => checkFormat(options)).not.toThrow();
  });

  it("lets the flag win over the variable", async () => {
    const csv = await list({
      json: true,
      output: "csv",
      flagSources: { json: "env", output: "flag" },
    });
    expect(csv.text).toMatch(/^id,name/);
  });
});
