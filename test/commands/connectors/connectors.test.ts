import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { PairRecord } from "../../../src/api/schemas.ts";
import { maskConnector } from "../../../src/commands/connectors/connectors.ts";
import { startTestService, testKey } from "../../service.ts";
import { type RunOptions, pair, pairs, run } from "../pairs.ts";
import { findConnector } from "../../../src/commands/connectors/find-connector.ts";
import { CliError } from "../../../src/errors.ts";
import { once } from "node:events";
import { type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { main } from "../../main.ts";
import { patienceMs } from "../../patience.ts";
import { cleanEnvironment, createTestContext, temporaryFolder } from "../../support.ts";

describe("connectors list", () => {
  it("is tab-separated off a terminal, with absolute times and nothing for null", async () => {
    const service = await startTestService({ pairs });
    const { code, out, err } = await run(service, ["connectors", "list"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out.split("\n")[0]).toBe("243\tDocs\tweb\tpublic\tpoll\tb@example.com");
    expect(out.split("\n")[2]).toBe("9\t\tfile\tpublic\tpoll\tA@example.com");
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
      "owner",
    ]);
    expect(first).toMatch(/^ {7}243 {2}Docs .* b@example.com$/);
    expect(third).toMatch(/^ {9}9 {2}— /);
    expect(out).toContain("日本語 ^[[31mred<U+202E>");
    const narrow = await run(service, ["connectors", "list"], { isTTY: true, columns: 20 });
    expect(narrow.code).toBe(0);
  });

  it("selects and sorts", async () => {
    const service = await startTestService({ pairs });
    for (const [flags, ids] of [
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
        ["--sort", "settings_changed", "--reverse", "--source", "web"],
        [243, 11, 12, 13],
      ],
    ] as const) {
      const line = ["connectors", "list", ...flags, "--fields", "cc_pair_id"];
      const { code, out } = await run(service, line);
      expect(code).toBe(0);
      expect(out.trim().split("\n").map(Number), flags.join(" ")).toEqual(ids);
    }
  });

  it("refuses flags that it cannot read", async () => {
    const service = await startTestService({ pairs });
    for (const [flags, words] of [
      [["--sort", "nmae"], "did you mean name?"],
      [["--fields", "cc_pair_id,zzz"], "unknown field zzz"],
      [["--output", "xml"], "Expected one of table, json"],
      [["--group", "x"], "whole number"],
      [["--filter", "name"], "key=value, key!=value, key~glob or key!~glob"],
      [["--jq", "foo("], "syntax error"],
      [["--show-credentials"], "only on a terminal"],
    ] as const) {
      const { code, out, err } = await run(service, ["connectors", "list", ...flags]);
      expect({ code, out }, flags.join(" ")).toEqual({ code: 2, out: "" });
      expect(err).toContain(words);
    }
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
    expect((await run(service, ["connectors", "list"])).out).toBe("1\t\tweb\t\t\t\n");
    expect(JSON.parse((await run(service, ["connectors", "list", "--json"])).out)).toEqual([bare]);
    const table = await run(service, ["connectors", "list", "--output", "table"]);
    expect(table.out.split("\n")[1]).toMatch(/^ +1 {2}— +web +— +— +—$/);
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

  it("finds by id and name, and names what it does not find", async () => {
    const service = await startTestService({ pairs });
    for (const [args, id] of [
      [["243"], 243],
      [["Docs archive"], 11],
      [["DOCS ARCHIVE"], 11],
      [["docs", "--source", "confluence"], 7],
    ] as const) {
      const { code, out } = await run(service, ["connectors", "get", ...args]);
      expect(code).toBe(0);
      expect((JSON.parse(out) as PairRecord).cc_pair_id).toBe(id);
    }
    for (const wanted of ["42", "999", "nothing like it"]) {
      const { code, out, err } = await run(service, ["connectors", "get", wanted]);
      expect({ code, out }).toEqual({ code: 9, out: "" });
      expect(err).toContain(wanted);
      expect(err).toContain("knowctl connectors list");
    }
  });
});

describe("credentials and configuration", () => {
  const outputs = ["table", "json", "ndjson", "yaml", "csv", "tsv"].map((format) => [
    "--output",
    format,
  ]);
  const fields =
    "credential,connector,credential.credential_json.token,connector.connector_specific_config.wiki";

  it("are masked in every format, in debug output and for --jq and --filter", async () => {
    const service = await startTestService({ pairs });
    const more = [
      ["--fields", fields],
      ["--jq", ".."],
      ["--debug"],
      ["--filter", "credential.credential_json.token~CANARY*"],
    ];
    for (const flags of [
      ...outputs,
      ...outputs.map((output) => [...output, "--fields", fields]),
      ...more,
    ]) {
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
    const masked = maskConnector(pairs[0] as PairRecord);
    expect(masked.connector?.connector_specific_config).toEqual({ wiki: "***", nested: "***" });
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
    for (const command of [
      ["list", "--json"],
      ["get", "243"],
    ]) {
      const result = await run(service, ["connectors", ...command, "--show-credentials"], options);
      expect(result.code).toBe(shown ? 0 : 2);
      expect(result.out.includes("CANARY-token")).toBe(shown);
    }
  });
});

describe("connectors find", () => {
  it("prints only the id, or candidates", async () => {
    const service = await startTestService({ pairs });
    for (const [args, out] of [
      [["Docs"], "243\n"],
      [["docs"], "7\n"],
      [["DOCS", "--source", "confluence"], "7\n"],
      [["docs ARCHIVE"], "11\n"],
      [["42"], "12\n"],
    ] as const) {
      const found = await run(service, ["connectors", "find", ...args], { isTTY: true });
      expect(found).toEqual({ code: 0, out, err: "" });
    }
    for (const [args, words] of [
      [
        ["DOCS"],
        /2 connectors are named "DOCS"\n {2}243 {2}"Docs" {2}web\n {2}7 {2}"docs" {2}confluence\n.*--source/,
      ],
      [["Doc"], /no connector is named "Doc"\n {2}did you mean:\n {2}243 .*\n {2}7 .*\n {2}11 /],
      [["Docs archiv"], /did you mean:\n {2}11 /],
      [["Dosc archive"], /did you mean:\n {2}11 /],
      [["Arhcive"], /did you mean:\n {2}11 /],
      [["Docs", "--source", "file"], /with source file\n/],
      [["zzzzzzz"], /connectors list/],
      [[""], /no connector is named ""/],
      [
        ["http://h/admin/connector/2"],
        /no connector is named .*\n.*if 2 is its id: --cc-pair-id 2/,
      ],
      [["red"], /"日本語 \^?.*red/],
    ] as const) {
      const { code, out, err } = await run(service, ["connectors", "find", ...args]);
      expect({ code, out }, args.join(" ")).toEqual({ code: 9, out: "" });
      expect(err).toMatch(words);
      // eslint-disable-next-line no-control-regex
      expect(err).not.toMatch(/[\u001b\u202e]/);
    }
  });
});

describe("findConnector", () => {
  const act = (records: PairRecord[], name: string, source?: string): number | string => {
    try {
      return findConnector(records, name, source).cc_pair_id;
    } catch (error) {
      return error instanceof CliError ? error.exit : "bug";
    }
  };
  const a = pair({ id: 1, name: "A" });
  const lower = pair({ id: 2, name: "a" });
  const again = pair({ id: 3, name: "A", source: "file" });
  it.each<[string, PairRecord[], string, string | undefined, number | string]>([
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

describe("slow and narrow", () => {
  /** A service that holds its response until the test sends it. */
  async function startSlowService() {
    let waiting: ServerResponse | undefined;
    const server = createServer((_request, response) => void (waiting = response));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    return {
      url: `http://127.0.0.1:${port}`,
      respond(body: unknown): void {
        waiting?.writeHead(200, { "content-type": "application/json" });
        waiting?.end(JSON.stringify(body));
      },
    };
  }

  const listing = "waiting for the connectors of";

  it.each([
    ["connectors list", listing],
    ["connectors get 7", listing],
    ["connectors find Handbook", listing],
    ["config init --profile p --dialect standard", "testing the connection to"],
  ])("%s shows life on a terminal while the service is slow", async (line, label) => {
    const service = await startSlowService();
    const home = temporaryFolder();
    const env = { KNOWCTL_BASE_URL: service.url, KNOWCTL_API_KEY: "key-1", NO_COLOR: "1" };
    const context = createTestContext({
      cwd: home,
      env: cleanEnvironment(home, env),
      isTTY: true,
    });
    const ended = main(line.split(" "), context);
    const waiting = `${label} ${service.url}`;
    await vi.waitFor(() => expect(context.stderrText()).toContain(waiting), patienceMs);
    expect(context.stdoutText()).toBe("");
    service.respond([pair({ id: 7, name: "Handbook" })]);
    expect(await ended).toBe(0);
    // The line is erased before anything else is written.
    const [, after] = context.stderrText().split(/\u001b\[1G\u001b\[K(?![^]*\u001b\[1G)/);
    expect(after).not.toContain(label);
  });

  it("keeps the columns one chooses by on 80 columns, and hides age and owner", async () => {
    const name = "Confluence space of the customer support department in Rotterdam";
    const pairs = [
      pair({ id: 243, name, source: "google_cloud_storage", email: "someone@example.com" }),
      pair({ id: 2, name: "Handbook uploads", source: "ingestion_api", access: "private" }),
    ];
    const service = await startTestService({ pairs });
    const { code, out, err } = await run(service, ["connectors", "list"], { isTTY: true });
    expect(code).toBe(0);
    for (const line of out.trimEnd().split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    expect(out).toMatch(/^ {7}243 {2}Confluence space .*… {2}google_cloud_storage {2}public/m);
    expect(out).toMatch(/^ {9}2 {2}Handbook uploads +ingestion_api +private/m);
    expect(out).not.toContain("owner");
    expect(err).toContain("columns that do not fit:");
    expect(err).toContain("owner");
  });
});
