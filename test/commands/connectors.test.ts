import { describe, expect, it } from "vitest";
import type { PairRecord } from "../../src/api/schemas.ts";
import { maskConnector } from "../../src/output/mask.ts";
import { startTestService } from "../service.ts";
import { pairs, run } from "./pairs.ts";

describe("connectors list", () => {
  it("is tab-separated off a terminal, with absolute times and nothing for null", async () => {
    const service = await startTestService({ pairs });
    const { code, out, err } = await run(service, ["connectors", "list"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out.split("\n")[0]).toBe(
      "243\tDocs\tweb\tpublic\tpoll\t2026-03-01T00:00:00Z\tb@example.com",
    );
    expect(out.split("\n")[2]).toBe("9\t\tfile\tpublic\tpoll\t2026-02-01T00:00:00Z\tA@example.com");
    expect(out.split("\n")).toHaveLength(pairs.length + 1);
  });

  it("is a table on a terminal that fits, with a dash for null and times ago", async () => {
    const service = await startTestService({ pairs });
    const { code, out } = await run(service, ["connectors", "list"], { isTTY: true, columns: 120 });
    expect(code).toBe(0);
    const [header, first, , third] = out.split("\n");
    expect(header?.split(/ +/)).toEqual([
      "cc_pair_id",
      "name",
      "source",
      "access_type",
      "input_type",
      "last_update",
      "owner",
    ]);
    expect(first).toMatch(/^ {7}243 {2}Docs .* ago +b@example.com$/);
    expect(third).toMatch(/^ {9}9 {2}— /);
    expect(out).toContain("日本語 ^[[31mred<U+202E>");
    const narrow = await run(service, ["connectors", "list"], { isTTY: true, columns: 20 });
    expect(narrow.code).toBe(0);
  });

  it.each<[string[], number[]]>([
    [
      ["--source", "web"],
      [243, 11, 12, 13],
    ],
    [["--access-type", "private"], [7]],
    [
      ["--name", "docs*"],
      [243, 7, 11],
    ],
    [["--name", "docs", "--source", "confluence"], [7]],
    [
      ["--group", "5"],
      [7, 13],
    ],
    [
      ["--filter", "owner~*@example.com"],
      [243, 9],
    ],
    [
      ["--filter", "connector.source=web", "--filter", "name~d*"],
      [243, 11],
    ],
    [
      ["--filter", "owner="],
      [7, 11, 12, 13],
    ],
    [
      ["--sort", "cc_pair_id"],
      [7, 9, 11, 12, 13, 243],
    ],
    [["--reverse"], [243, 13, 12, 11, 9, 7]],
    [
      ["--sort", "name"],
      [12, 7, 243, 11, 13, 9],
    ],
    [
      ["--sort", "owner"],
      [9, 243, 7, 11, 12, 13],
    ],
    [
      ["--sort", "owner", "--reverse"],
      [243, 9, 7, 11, 12, 13],
    ],
    [
      ["--sort", "last_update", "--reverse", "--source", "web"],
      [243, 11, 12, 13],
    ],
  ])("%j", async (flags, ids) => {
    const service = await startTestService({ pairs });
    const { code, out } = await run(service, [
      "connectors",
      "list",
      ...flags,
      "--fields",
      "cc_pair_id",
    ]);
    expect(code).toBe(0);
    expect(out.trim().split("\n").map(Number)).toEqual(ids);
  });

  it.each([
    [["--sort", "nmae"], "did you mean name?"],
    [["--fields", "cc_pair_id,zzz"], "unknown field zzz"],
    [["--output", "xml"], "Expected one of table, json"],
    [["--group", "x"], "whole number"],
    [["--filter", "name"], "key=value, key!=value, key~glob or key!~glob"],
    [["--jq", "foo("], "syntax error"],
    [["--show-credentials"], "only on a terminal"],
  ])("%j is exit 2", async (flags, words) => {
    const service = await startTestService({ pairs });
    const { code, out, err } = await run(service, ["connectors", "list", ...flags]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(words);
  });

  it("says that nothing matches, exit 0", async () => {
    const service = await startTestService({ pairs });
    const none = await run(service, ["connectors", "list", "--source", "zzz", "--json"]);
    expect(none).toEqual({ code: 0, out: "[]\n", err: "no connectors match\n" });
    const quiet = await run(service, ["connectors", "list", "--source", "zzz", "--quiet"]);
    expect(quiet).toEqual({ code: 0, out: "", err: "" });
    const empty = await run(await startTestService({ pairs: [] }), ["connectors", "list"]);
    expect(empty).toEqual({ code: 0, out: "", err: "there are no connectors\n" });
  });

  it("json holds every member, and stdout nothing else", async () => {
    const service = await startTestService({ pairs });
    const { out, err } = await run(service, ["connectors", "list", "--json"]);
    const records = JSON.parse(out) as PairRecord[];
    expect(records).toEqual(pairs.map(maskConnector));
    expect(Object.keys(records[0]?.connector ?? {})).toEqual(
      Object.keys(pairs[0]?.connector ?? {}),
    );
    expect(err).toBe("");
  });

  it("takes records without the optional members", async () => {
    const bare = {
      cc_pair_id: 1,
      connector: { id: 1, source: "web" },
      credential: { id: 1 },
      new_member: [1],
    };
    const service = await startTestService({ pairs: [bare as PairRecord] });
    expect((await run(service, ["connectors", "list"])).out).toBe("1\t\tweb\t\t\t\t\n");
    expect(JSON.parse((await run(service, ["connectors", "list", "--json"])).out)).toEqual([bare]);
    const table = await run(service, ["connectors", "list", "--output", "table"]);
    expect(table.out.split("\n")[1]).toMatch(/^ +1 {2}— +web +— +— +— +—$/);
  });
});

describe("connectors get", () => {
  it("shows one record for reading", async () => {
    const service = await startTestService({ pairs });
    const { code, out } = await run(service, ["connectors", "get", "243"], { isTTY: true });
    expect(code).toBe(0);
    expect(out).toContain("cc_pair_id:  243\n");
    expect(out).toMatch(/^connector:\n {2}id: +343$/m);
    expect(out).toMatch(/^ {2}refresh_freq: +—$/m);
    expect(out).toMatch(/^ {4}token: +\*\*\*$/m);
  });

  it.each([
    [["243"], 243],
    [["Docs archive"], 11],
    [["DOCS ARCHIVE"], 11],
    [["docs", "--source", "confluence"], 7],
  ])("%j", async (args, id) => {
    const service = await startTestService({ pairs });
    const { code, out } = await run(service, ["connectors", "get", ...args]);
    expect(code).toBe(0);
    expect((JSON.parse(out) as PairRecord).cc_pair_id).toBe(id);
  });

  it.each([["42"], ["999"], ["nothing like it"]])("%s is exit 9", async (wanted) => {
    const service = await startTestService({ pairs });
    const { code, out, err } = await run(service, ["connectors", "get", wanted]);
    expect({ code, out }).toEqual({ code: 9, out: "" });
    expect(err).toContain(wanted);
    expect(err).toContain("knowctl connectors list");
  });
});
