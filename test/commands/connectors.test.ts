import { describe, expect, it } from "vitest";
import type { ConnectorStatus } from "../../src/api/schemas.ts";
import { findConnector } from "../../src/commands/find-connector.ts";
import { CliError } from "../../src/errors.ts";
import { main } from "../../src/main.ts";
import { maskConnector } from "../../src/output/mask.ts";
import { startTestService, testKey, type TestService } from "../service.ts";
import { createTestContext } from "../support.ts";

interface Pair {
  id: number;
  name?: string | null;
  source?: string;
  email?: string | null;
  updated?: string;
  access?: string;
  groups?: number[];
}

function pair({ id, name = `Pair ${id}`, source = "web", ...rest }: Pair): ConnectorStatus {
  const times = { time_created: "2026-01-01T00:00:00Z", time_updated: rest.updated ?? "2026-01-02T00:00:00Z" };
  return {
    cc_pair_id: id,
    name,
    access_type: rest.access ?? "public",
    groups: rest.groups ?? [],
    connector: {
      id: id + 100,
      name: name ?? "",
      source,
      input_type: "poll",
      connector_specific_config: { wiki: `https://user:CANARY-config@wiki/${id}`, nested: { deep: "CANARY-deep" } },
      credential_ids: [id + 200],
      ...times,
      refresh_freq: null,
      prune_freq: null,
      indexing_start: null,
    },
    credential: {
      id: id + 200,
      name: null,
      source,
      credential_json: { token: "CANARY-token", nothing: null },
      admin_public: true,
      curator_public: false,
      user_id: null,
      user_email: rest.email ?? null,
      groups: [],
      // What a later release may add.
      private_key: "CANARY-member",
      oauth: { refresh: "CANARY-object" },
      ...times,
    },
  } as ConnectorStatus;
}

const pairs = [
  pair({ id: 243, name: "Docs", email: "b@example.com", updated: "2026-03-01T00:00:00Z" }),
  pair({ id: 7, name: "docs", source: "confluence", access: "private", groups: [5, 6] }),
  pair({ id: 9, name: null, source: "file", email: "A@example.com", updated: "2026-02-01T00:00:00Z" }),
  pair({ id: 11, name: "Docs archive", source: "web" }),
  pair({ id: 12, name: "42", source: "web" }),
  pair({ id: 13, name: "日本語 \u001b[31mred\u202e", source: "web", groups: [5] }),
];

interface RunOptions {
  isTTY?: boolean;
  columns?: number;
  env?: Record<string, string>;
}

async function run(service: TestService, args: string[], options: RunOptions = {}) {
  const context = createTestContext({
    cwd: service.folder,
    ...options,
    env: { ...service.env, NO_COLOR: "1", ...options.env },
  });
  const code = await main(args, context);
  return { code, out: context.stdoutText(), err: context.stderrText() };
}

describe("connectors list", () => {
  it("is tab-separated off a terminal, with absolute times and nothing for null", async () => {
    const service = await startTestService({ pairs });
    const { code, out, err } = await run(service, ["connectors", "list"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out.split("\n")[0]).toBe("243\tDocs\tweb\tpublic\tpoll\t2026-03-01T00:00:00Z\tb@example.com");
    expect(out.split("\n")[2]).toBe("9\t\tfile\tpublic\tpoll\t2026-02-01T00:00:00Z\tA@example.com");
    expect(out.split("\n")).toHaveLength(pairs.length + 1);
  });

  it("is a table on a terminal that fits, with a dash for null and times ago", async () => {
    const service = await startTestService({ pairs });
    const { code, out } = await run(service, ["connectors", "list"], { isTTY: true, columns: 100 });
    expect(code).toBe(0);
    const [header, first, , third] = out.split("\n");
    expect(header?.split(/ +/)).toEqual(
      ["cc_pair_id", "name", "source", "access_type", "input_type", "last_update", "owner"],
    );
    expect(first).toMatch(/^ {7}243 {2}Docs .* ago +b@example.com$/);
    expect(third).toMatch(/^ {9}9 {2}— /);
    expect(out).toContain("日本語 ^[[31mred<U+202E>");
    const narrow = await run(service, ["connectors", "list"], { isTTY: true, columns: 20 });
    expect(narrow.code).toBe(0);
  });

  it.each<[string[], number[]]>([
    [["--source", "web"], [243, 11, 12, 13]],
    [["--access-type", "private"], [7]],
    [["--name", "docs*"], [243, 7, 11]],
    [["--name", "docs", "--source", "confluence"], [7]],
    [["--group", "5"], [7, 13]],
    [["--filter", "owner~*@example.com"], [243, 9]],
    [["--filter", "connector.source=web", "--filter", "name~d*"], [243, 11]],
    [["--filter", "owner="], [7, 11, 12, 13]],
    [["--sort", "cc_pair_id"], [7, 9, 11, 12, 13, 243]],
    [["--reverse"], [243, 13, 12, 11, 9, 7]],
    [["--sort", "name"], [12, 7, 243, 11, 13, 9]],
    [["--sort", "owner"], [9, 243, 7, 11, 12, 13]],
    [["--sort", "owner", "--reverse"], [243, 9, 7, 11, 12, 13]],
    [["--sort", "last_update", "--reverse", "--source", "web"], [243, 11, 12, 13]],
  ])("%j", async (flags, ids) => {
    const service = await startTestService({ pairs });
    const { code, out } = await run(service, ["connectors", "list", ...flags, "--fields", "cc_pair_id"]);
    expect(code).toBe(0);
    expect(out.trim().split("\n").map(Number)).toEqual(ids);
  });

  it.each([
    [["--sort", "nmae"], "did you mean name?"],
    [["--fields", "cc_pair_id,zzz"], "unknown field zzz"],
    [["--output", "xml"], "formats: table, json"],
    [["--group", "x"], "whole number"],
    [["--filter", "name"], "key=value or key~glob"],
    [["--jq", "foo("], "syntax error"],
    [["--show-credentials"], "terminal only"],
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
    const records = JSON.parse(out) as ConnectorStatus[];
    expect(records).toEqual(pairs.map(maskConnector));
    expect(Object.keys(records[0]?.connector ?? {})).toEqual(Object.keys(pairs[0]?.connector ?? {}));
    expect(err).toBe("");
  });

  it("takes records without the optional members", async () => {
    const bare = { cc_pair_id: 1, connector: { id: 1, source: "web" }, credential: { id: 1 }, new_member: [1] };
    const service = await startTestService({ pairs: [bare as ConnectorStatus] });
    expect((await run(service, ["connectors", "list"])).out).toBe("1\t\tweb\t\t\t\t\n");
    expect(JSON.parse((await run(service, ["connectors", "list", "--json"])).out)).toEqual([bare]);
    const table = await run(service, ["connectors", "list", "--output", "table"]);
    expect(table.out.split("\n")[1]).toMatch(/^ +1 {2}— +web +— +— +— +—$/);
  });
});

describe("credentials and configuration", () => {
  const outputs = ["table", "json", "ndjson", "yaml", "csv", "tsv"].map((format) => ["--output", format]);
  const fields = "credential,connector,credential.credential_json.token,connector.connector_specific_config.wiki";

  it("are masked in every format, in debug output and for --jq and --filter", async () => {
    const service = await startTestService({ pairs });
    const more = [["--fields", fields], ["--jq", ".."], ["--debug"], ["--filter", "credential.credential_json.token~CANARY*"]];
    for (const flags of [...outputs, ...outputs.map((output) => [...output, "--fields", fields]), ...more]) {
      for (const command of [["list"], ["get", "243"]]) {
        for (const isTTY of [false, true]) {
          const { out, err } = await run(service, ["connectors", ...command, ...flags], { isTTY });
          expect(out + err).not.toMatch(/CANARY-(config|deep|token|member|object)/);
          expect(out + err).not.toContain(testKey);
        }
      }
    }
  });

  it("keep their names, each value is ***", () => {
    const masked = maskConnector(pairs[0] as ConnectorStatus);
    expect(masked.connector.connector_specific_config).toEqual({ wiki: "***", nested: "***" });
    expect(masked.credential).toEqual({
      ...pairs[0]?.credential,
      credential_json: { token: "***", nothing: "***" },
      private_key: "***",
      oauth: "***",
    });
    expect(JSON.stringify(pairs[0])).toContain("CANARY-token");
  });

  it.each<[string, RunOptions, boolean]>([
    ["on a terminal", { isTTY: true }, true],
    ["in a pipe", {}, false],
    ["in CI", { isTTY: true, env: { CI: "true" } }, false],
  ])("--show-credentials %s", async (_name, options, shown) => {
    const service = await startTestService({ pairs });
    for (const command of [["list", "--json"], ["get", "243"]]) {
      const result = await run(service, ["connectors", ...command, "--show-credentials"], options);
      expect(result.code).toBe(shown ? 0 : 2);
      expect(result.out.includes("CANARY-token")).toBe(shown);
    }
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
    expect((JSON.parse(out) as ConnectorStatus).cc_pair_id).toBe(id);
  });

  it.each([["42"], ["999"], ["nothing like it"]])("%s is exit 9", async (wanted) => {
    const service = await startTestService({ pairs });
    const { code, out, err } = await run(service, ["connectors", "get", wanted]);
    expect({ code, out }).toEqual({ code: 9, out: "" });
    expect(err).toContain(wanted);
    expect(err).toContain("knowctl connectors list");
  });
});

describe("connectors find", () => {
  it.each([
    [["Docs"], "243\n"],
    [["docs"], "7\n"],
    [["DOCS", "--source", "confluence"], "7\n"],
    [["docs ARCHIVE"], "11\n"],
    [["42"], "12\n"],
  ])("%j prints only the id", async (args, expected) => {
    const service = await startTestService({ pairs });
    expect(await run(service, ["connectors", "find", ...args], { isTTY: true })).toEqual({
      code: 0,
      out: expected,
      err: "",
    });
  });

  it.each([
    [["DOCS"], /2 connectors are named "DOCS"\n {2}243 {2}"Docs" {2}web\n {2}7 {2}"docs" {2}confluence\n.*--source/],
    [["Doc"], /no connector is named "Doc"\n {2}did you mean:\n {2}243 .*\n {2}7 .*\n {2}11 /],
    [["Docs archiv"], /did you mean:\n {2}11 /],
    [["Dosc archive"], /did you mean:\n {2}11 /],
    [["Docs", "--source", "file"], /with source file\n/],
    [["zzzzzzz"], /connectors list/],
    [[""], /no connector is named ""/],
    [["red"], /"日本語 \^?.*red/],
  ])("%j is exit 9 with candidates", async (args, words) => {
    const service = await startTestService({ pairs });
    const { code, out, err } = await run(service, ["connectors", "find", ...args]);
    expect({ code, out }).toEqual({ code: 9, out: "" });
    expect(err).toMatch(words);
    // eslint-disable-next-line no-control-regex
    expect(err).not.toMatch(/[\u001b\u202e]/);
  });
});

describe("findConnector", () => {
  const act = (records: ConnectorStatus[], name: string, source?: string): number | string => {
    try {
      return findConnector(records, name, source).cc_pair_id;
    } catch (error) {
      return error instanceof CliError ? error.exit : "bug";
    }
  };
  const a = pair({ id: 1, name: "A" });
  const lower = pair({ id: 2, name: "a" });
  const again = pair({ id: 3, name: "A", source: "file" });
  it.each<[string, ConnectorStatus[], string, string | undefined, number | string]>([
    ["one exact", [a], "A", undefined, 1],
    ["exact before ignoring case", [a, lower], "a", undefined, 2],
    ["several exact", [a, again], "A", undefined, "not-found"],
    ["several exact, narrowed", [a, again], "A", "file", 3],
    ["one ignoring case", [a], "a", undefined, 1],
    ["several ignoring case", [a, again], "a", undefined, "not-found"],
    ["none", [], "A", undefined, "not-found"],
    ["part of a name", [pair({ id: 1, name: "AB" })], "A", undefined, "not-found"],
    ["null is no name", [pair({ id: 1, name: null })], "", undefined, "not-found"],
    ["composed and decomposed", [pair({ id: 1, name: "Caf\u00e9" })], "Cafe\u0301", undefined, 1],
    ["space at the end", [pair({ id: 1, name: "A " })], "A", undefined, "not-found"],
  ])("%s", (_name, records, name, source, expected) => {
    expect(act(records, name, source)).toBe(expected);
  });

  it("lists at most ten candidates", () => {
    const many = Array.from({ length: 30 }, (_, id) => pair({ id, name: "same" }));
    try {
      findConnector(many, "same");
      expect.unreachable();
    } catch (error) {
      expect((error as CliError).details).toHaveLength(11);
      expect((error as CliError).details.at(-1)).toBe("and 20 more");
    }
  });
});
