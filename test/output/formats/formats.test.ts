import { load } from "js-yaml";
import { describe, expect, it } from "vitest";
import { CliError } from "../../../src/errors.ts";
import {
  checkFormat,
  writeList,
  writeRecord,
  type FormatOptions,
} from "../../../src/output/formats/formats.ts";
import { runJq } from "../../../src/output/formats/jq.ts";
import { cellText, type Column } from "../../../src/output/formats/select.ts";
import { csvLine, tsvLine } from "../../../src/output/formats/writers.ts";
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
  { name: "id", align: "right" },
  { name: "name" },
  { name: "source", value: "inner.source" },
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

async function record(options: FormatOptions, data: object, isTTY = false): Promise<string> {
  const { context, output } = open(isTTY);
  await writeRecord(output, options, data);
  return context.stdoutText();
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

it.each<[FormatOptions, string, number]>([
  [{ limit: 1 }, "2\n", 1],
  [{ limit: 5 }, "2\n10\n", 2],
  [{ limit: 1, filter: ["name="] }, "10\n", 1],
  [{ limit: 1, filter: ["inner.source!=web"] }, "10\n", 1],
])("%j counts the rows that pass, and reads no more", async (options, text, count) => {
  expect(await list({ ...options, fields: "id" })).toEqual({ text, count });
});

it.each<FormatOptions>([{}, { jq: ".[0].name[0:30]" }, { jq: ".[0].inner.source[7:]" }])(
  "a secret that %j cuts shows no part of itself",
  async (options) => {
    const context = createTestContext({ cwd: "/", env: {}, isTTY: true, columns: 40 });
    const output = createOutput(context);
    output.secrets.add("CANARY-0123456789-abcdefghijklmnopqrstuvwxyz");
    const secret = "CANARY-0123456789-abcdefghijklmnopqrstuvwxyz";
    await writeList(output, options, columns, [{ id: 1, name: secret, inner: { source: secret } }]);
    expect(context.stdoutText()).not.toMatch(/CANARY|0123|abcd/);
    expect(context.stdoutText()).not.toBe("");
  },
);

describe("checkFormat", () => {
  it.each<[FormatOptions, RegExp]>([
    [{ jq: ".", output: "csv" }, /exclude each other/],
    [{ fields: "a,,b" }, /--fields/],
    [{ filter: ["a"] }, /--filter/],
  ])("refuses %j", (options, message) => {
    expect(() => checkFormat(options)).toThrow(message);
  });

  it.each<FormatOptions>([{}, { json: true, output: "json" }, { jq: ".", output: "ndjson" }])(
    "accepts %j",
    (options) => {
      expect(() => checkFormat(options)).not.toThrow();
    },
  );
});

describe("cells", () => {
  it.each<[unknown, string]>([
    [null, ""],
    [undefined, ""],
    [0, "0"],
    [false, "false"],
    [[1, "a", null], "1,a,"],
    [[], ""],
    [{ a: 1 }, '{"a":1}'],
    [[{ a: 1 }], '[{"a":1}]'],
  ])("%j is %j", (value, text) => {
    expect(cellText(value)).toBe(text);
  });

  it.each<[unknown[], string]>([
    [["a", "b"], "a,b\n"],
    [["a,b"], '"a,b"\n'],
    [['"'], '""""\n'],
    [["a\r\nb"], '"a\r\nb"\n'],
    [[" a"], '" a"\n'],
    [[""], '""\n'],
    [[null, null], ",\n"],
    [["=1+1", "+A1", "-A1", "@SUM(A1)"], "'=1+1,'+A1,'-A1,'@SUM(A1)\n"],
    [["\t=1", "\r=1", '=HYPERLINK("x,y")'], `'\t=1,"'\r=1","'=HYPERLINK(""x,y"")"\n`],
    [[-5, "-5", "+49.5", "-1,5", "—", "a=b"], '-5,-5,+49.5,"-1,5",—,a=b\n'],
    [["-1\n=2"], '"\'-1\n=2"\n'],
  ])("csv line of %j", (values, line) => {
    expect(csvLine(values)).toBe(line);
  });

  it("a tsv line has as many tabs as columns", () => {
    expect(tsvLine(["a\tb", "c\r\nd", null, 1])).toBe("a b\tc d\t\t1\n");
  });
});

describe("writeRecord", () => {
  const data = {
    id: 1,
    name: null,
    inner: { list: [1, 2], empty: {}, text: "a\nb" },
    items: [{ a: 1 }],
    none: [],
  };

  it("is readable on a terminal, json off it", async () => {
    expect(await record({}, data, true)).toBe(
      [
        "id:   1",
        "name: —",
        "inner:",
        "  list:  1, 2",
        "  empty: —",
        "  text:  a",
        "         b",
        "items:",
        "  0:",
        "    a: 1",
        "none: —",
        "",
      ].join("\n"),
    );
    expect(JSON.parse(await record({}, data))).toEqual(data);
  });

  it("takes every format", async () => {
    expect(await record({ output: "ndjson" }, data)).toBe(`${JSON.stringify(data)}\n`);
    expect(load(await record({ output: "yaml" }, data))).toEqual(data);
    expect(await record({ output: "csv" }, { a: 1, b: { c: "x", d: null } })).toBe(
      "a,b.c,b.d\n1,x,\n",
    );
    expect(await record({ output: "tsv" }, { a: 1, b: { c: "x" } })).toBe("1\tx\n");
    expect(await record({ output: "table" }, { a: 1 })).toBe("a: 1\n");
  });

  it("--fields picks members", async () => {
    expect(await record({ fields: "inner.text,id" }, data)).toBe(
      '{\n  "inner": {\n    "text": "a\\nb"\n  },\n  "id": 1\n}\n',
    );
    expect((await failure(() => record({ fields: "zzz" }, data))).message).toBe(
      "unknown field zzz",
    );
  });

  it("does not ignore a filter", async () => {
    expect((await failure(() => record({ filter: ["a=1"] }, data))).exit).toBe("usage");
  });

  it("makes names and values inert", async () => {
    const text = await record({}, { "k\u001b]0;x\u0007": "v\u009b\r\u202e" }, true);
    expect(text).toBe("k^[]0;x^G: v<U+009B><U+202E>\n");
  });
});

describe("--jq", () => {
  it("prints text as it is and the rest as JSON", async () => {
    expect((await list({ jq: ".[] | .inner.source, .id, {id}" })).text).toBe(
      'web\n2\n{"id":2}\n^[[31m\n10\n{"id":10}\n',
    );
    expect((await list({ jq: ".[0].inner.source", output: "ndjson" })).text).toBe('"web"\n');
    const { context, output } = open();
    await writeRecord(output, { jq: ".a" }, { a: 1 });
    expect(context.stdoutText()).toBe("1\n");
  });

  it("is given what --filter and --fields left", async () => {
    expect(await list({ jq: ".", fields: "id", filter: ["source=web"] })).toEqual({
      text: '[{"id":2}]\n',
      count: 1,
    });
  });

  it.each([
    ["foo(", /--jq foo\(: /],
    [".[0].name | error", /--jq/],
    [".id", /Cannot index array with string "id"/],
    ['.[0].id, error("late")', /late/],
    ["--arg", /--jq/],
  ])("%s is a mistake of the user", async (jq, message) => {
    const error = await failure(() => list({ jq }));
    expect(error.exit).toBe("usage");
    expect(error.message).toMatch(message);
  });

  it("runs one after the other, and several at once, each on its own input", async () => {
    expect(await runJq("halt", "1")).toEqual([]);
    expect(await runJq("[., inputs]", "1 2")).toEqual(["[1,2]"]);
    await expect(runJq(".a", "3")).rejects.toThrow("Cannot index number");
    expect(await runJq("[., inputs]", "4")).toEqual(["[4]"]);
    const all = await Promise.all(["5", "6", "7"].map((json) => runJq(".", json)));
    expect(all).toEqual([["5"], ["6"], ["7"]]);
  });

  it("shows none of the environment and reads no file", async () => {
    expect(await runJq('$ENV.PATH, (env | has("HOME"))', "null")).toEqual(['"/"', "true"]);
    await expect(runJq('include "/etc/passwd"; .', "null")).rejects.toThrow(/not found/);
  });

  it("ends with the interruption of the user", async () => {
    const abort = new AbortController();
    const result = runJq("[range(1e12)]", "null", { signal: abort.signal });
    abort.abort(new Error("interrupted"));
    await expect(result).rejects.toThrow("interrupted");
    await expect(runJq(".", "null", { signal: abort.signal })).rejects.toThrow("interrupted");
  });

  it("ends an expression that does not", async () => {
    await expect(runJq("[range(1e12)]", "null", { timeoutMs: 500 })).rejects.toThrow(
      /no result within/,
    );
  });
});
