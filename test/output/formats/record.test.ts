import { load } from "js-yaml";
import { describe, expect, it } from "vitest";
import { CliError } from "../../../src/errors.ts";
import { writeRecord, type FormatOptions } from "../../../src/output/formats/formats.ts";
import { createOutput } from "../../../src/output/terminal/output.ts";
import { createTestContext } from "../../support.ts";

async function record(options: FormatOptions, data: object, isTTY = false): Promise<string> {
  const context = createTestContext({ cwd: "/", env: { NO_COLOR: "1" }, isTTY });
  const output = createOutput(context);
  await writeRecord(output, options, data);
  return context.stdoutText();
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
