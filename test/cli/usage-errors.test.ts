import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runHere } from "../main.ts";
import { startTestService, writeFiles } from "../service.ts";
import { cleanEnvironment, projectFolder, temporaryFolder } from "../support.ts";

describe("usage errors", () => {
  const cases: [string[], RegExp][] = [
    [["ingst"], /unknown command 'ingst'\n.*Did you mean ingest\?/],
    [["connectors", "lst"], /Did you mean list\?/],
    [["connectors", "list", "--jsn"], /unknown option '--jsn'\n.*Did you mean --json\?/],
    [["chat", "--force is what?"], /unknown option .*\n.*after --: chat -- "…"/],
    [["ingest", "docs", "--concurrency", "0"], /Expected a whole number from 1 to 256/],
    [["ingest", "docs", "--concurrency", "2.5"], /Expected a whole number/],
    [["ingest", "docs", "--sections", "some"], /Expected one of whole, headings/],
    [["ingest", "docs", "--cc-pair-id"], /argument missing/],
    [["ingest", "docs", "--exit-code"], /--exit-code needs --dry-run/],
    [["ingest", "docs", "--output", "csv"], /Expected one of text, table, json, ndjson/],
    [["ingest", ".", "--metadata", "novalue"], /expected key=value/],
    [["connectors", "list", "--filter", "nothing"], /--filter/],
    [["connectors", "get"], /missing required argument/],
    [["connectors", "list", "extra"], /too many arguments/],
    [["--timeout", "soon", "connectors", "list"], /Expected a number/],
  ];
  it.each(cases)("%j is exit 2 with a remedy", async (args, message) => {
    const home = temporaryFolder();
    const result = await runHere(args, { cwd: home, env: cleanEnvironment(home) });
    expect(result.stderr).toMatch(message);
    expect(result).toMatchObject({ code: 2, stdout: "" });
    expect(result.stderr.startsWith("error: ")).toBe(true);
  });

  it("never repeats the value of an unknown flag", async () => {
    const home = temporaryFolder();
    const result = await runHere(["chat", "--tokn=SECRET-VALUE", "x"], {
      cwd: home,
      env: cleanEnvironment(home),
    });
    expect(result.code).toBe(2);
    expect(result.stderr).toContain("--tokn");
    expect(result.stderr).not.toContain("SECRET-VALUE");
  });

  it("name the environment variable that holds a wrong value", async () => {
    const home = temporaryFolder();
    const result = await runHere(["ingest", "docs"], {
      cwd: home,
      env: cleanEnvironment(home, { KNOWCTL_CONCURRENCY: "many" }),
    });
    expect(result.code).toBe(2);
    expect(result.stderr).toMatch(
      /KNOWCTL_CONCURRENCY: 'many' is invalid. Expected a whole number from 1 to 256/,
    );
  });
});

describe("environment variables", () => {
  it("stand in for flags, and a flag wins", async () => {
    const service = await startTestService({
      files: { "docs/a.md": "A\n", "docs/b.md": "B\n" },
    });
    const env = {
      ...service.env,
      KNOWCTL_CC_PAIR_ID: "2",
      KNOWCTL_QUIET: "yes",
      KNOWCTL_OUTPUT: "json",
      KNOWCTL_STATE: "",
    };
    const cwd = service.folder;
    const result = await runHere(["ingest", "docs"], { cwd, env });
    expect(JSON.parse(result.stdout)).toMatchObject({ counts: { created: 2 } });
    const other = { ...env, KNOWCTL_CC_PAIR_ID: "3" };
    const flagged = await runHere(["ingest", "docs", "--cc-pair-id", "2"], { cwd, env: other });
    expect(JSON.parse(flagged.stdout)).toMatchObject({ counts: { unchanged: 2 } });
  });

  it.each([
    ["ingest docs --no-state --connector Mine --dry-run", { KNOWCTL_CC_PAIR_ID: "2" }],
    ["ingest docs --no-state --cc-pair-id 2 --dry-run", { KNOWCTL_CONNECTOR: "Mine" }],
    ["ingest docs --no-state --cc-pair-id 2 --dry-run", { KNOWCTL_STATE: "kept" }],
    ["config set defaultProfile a --local", { KNOWCTL_CONFIG: "other.json" }],
    ["chat --replay answer.ndjson", { KNOWCTL_CONCURRENCY: "4" }],
  ])("never stand in the way of the flags of `%s`", async (line, variables) => {
    const folder = temporaryFolder();
    writeFiles(folder, {
      "docs/a.md": "# A\n",
      ".cliconfig.json": '{"profiles":{"a":{}}}',
      "other.json": "{}",
      "a.ndjson": "",
      "answer.ndjson": readFileSync(
        join(projectFolder, "test/fixtures/wire/answer.ndjson"),
        "utf8",
      ),
    });
    const at = (env: Record<string, string>) =>
      runHere(line.split(" "), { cwd: folder, env: cleanEnvironment(folder, env) });
    const plain = await at({});
    expect(await at(variables)).toMatchObject(plain);
    expect(plain.stderr).not.toContain("exclude each other");
  });
});
