import { describe, expect, it } from "vitest";
import { CliError } from "../../../src/errors.ts";
import { writeList, writeRecord, type FormatOptions } from "../../../src/output/formats/formats.ts";
import { runJq } from "../../../src/output/formats/jq.ts";
import { createOutput } from "../../../src/output/terminal/output.ts";
import { createTestContext } from "../../support.ts";

const rows = [
  { id: 2, name: "first", inner: { source: "web" } },
  { id: 10, name: null, inner: { source: "\u001b[31m" } },
];

function open() {
  const context = createTestContext({ cwd: "/", env: {} });
  return { context, output: createOutput(context) };
}

async function list(options: FormatOptions) {
  const { context, output } = open();
  const columns = [{ name: "source", value: (row: (typeof rows)[number]) => row.inner.source }];
  const count = await writeList(output, options, columns, rows);
  return { text: context.stdoutText(), count };
}

async function failure(act: () => Promise<unknown>): Promise<CliError> {
  const error: unknown = await act().then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof CliError) return error;
  throw new Error(`no CliError but ${String(error)}`);
}

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
