import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { createDesk, failureOf } from "./support.ts";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeProgram } from "../../src/cli/program.ts";
import { unknownVariables, variableOf } from "../../src/cli/environment.ts";
import { runHere } from "../main.ts";
import { cleanEnvironment, temporaryFolder } from "../support.ts";

describe("precedence", () => {
  it("flag over variable over project over user over built-in, with origins", async () => {
    const desk = createDesk({
      KNOWCTL_BASE_URL: "https://env.example",
      KNOWCTL_TRUST_PROJECT: "1",
    });
    const user = desk.putUser({
      profiles: { p: { baseUrl: "https://user.example", dialect: "onyx" } },
      defaultProfile: "p",
    });
    const project = desk.put(
      ".cliconfig.yaml",
      "profiles:\n  p:\n    baseUrl: https://project.example\n",
    );
    const flags = { baseUrl: "https://flag.example", flagSources: { baseUrl: "flag" } } as const;
    const config = await desk.load({ flags });
    expect(config.values.baseUrl).toBe("https://flag.example");
    const chain = config.origins.get("baseUrl");
    expect([chain, ...(chain?.overrides ?? [])].map((each) => [each?.source, each?.where])).toEqual(
      [
        ["flag", "--base-url"],
        ["env", "KNOWCTL_BASE_URL"],
        ["project", `${project}:3`],
        ["user", `${user}:4`],
      ],
    );
    expect(config.dialect).toBe("onyx");
    expect(config.origins.get("dialect")).toMatchObject({
      source: "user",
      overrides: [{ source: "default" }],
    });
    expect((await desk.load()).values.baseUrl).toBe("https://env.example");
    delete desk.env["KNOWCTL_BASE_URL"];
    expect((await desk.load()).values.baseUrl).toBe("https://project.example");
  });

  it("a variable that the program read counts as one", async () => {
    const desk = createDesk({ KNOWCTL_TIMEOUT: "7" });
    const config = await desk.load({ flags: { timeout: 7, flagSources: { timeout: "env" } } });
    expect(config.timeoutSeconds).toBe(7);
    expect(config.origins.get("timeout")).toEqual({
      source: "env",
      where: "KNOWCTL_TIMEOUT",
      overrides: [],
    });
  });

  it("settings merge key by key; lists and rules are replaced; the file counts before the place", async () => {
    const desk = createDesk({ KNOWCTL_TRUST_PROJECT: "1" });
    desk.putUser({
      ingest: {
        include: ["user"],
        metadata: { a: "user", b: "user" },
        frontMatter: { title: ["x"] },
      },
      profiles: {
        p: {
          ingest: {
            metadata: { b: "user-profile", deep: { x: "1" } },
            concurrency: 2,
            idPrefix: "u/",
          },
        },
      },
      defaultProfile: "p",
    });
    desk.put(".cliconfig.json", {
      ingest: {
        include: ["project"],
        metadata: { c: "project", deep: { y: "2" } },
        idPrefix: "top/",
      },
      profiles: {
        p: { ingest: { metadata: { c: "project-profile" }, frontMatter: { link: ["y"] } } },
      },
    });
    const { ingest } = await desk.load();
    expect(ingest).toEqual({
      include: ["project"],
      metadata: { a: "user", b: "user-profile", c: "project-profile", deep: { x: "1", y: "2" } },
      concurrency: 2,
      idPrefix: "top/",
      frontMatter: { title: ["x"], link: ["y"] },
    });
  });

  it("a value that changes its kind leaves no stale origin", async () => {
    const desk = createDesk({ KNOWCTL_TRUST_PROJECT: "1" });
    desk.putUser({ ingest: { metadata: { team: { name: "x" } } } });
    desk.put(".cliconfig.json", { ingest: { metadata: { team: "flat" } } });
    const config = await desk.load();
    expect(config.ingest.metadata).toEqual({ team: "flat" });
    expect([...config.origins.keys()].filter((key) => key.includes("team"))).toEqual([
      "ingest.metadata.team",
    ]);
  });
});

describe("profile", () => {
  const two = { profiles: { alpha: {}, beta: {} } };

  it.each([
    [
      "flag",
      { profile: "beta", flagSources: { profile: "flag" } },
      {},
      { ...two, defaultProfile: "alpha" },
      "beta",
      "--profile",
    ],
    [
      "variable",
      {},
      { KNOWCTL_PROFILE: "beta" },
      { ...two, defaultProfile: "alpha" },
      "beta",
      "KNOWCTL_PROFILE",
    ],
    ["default", {}, {}, { ...two, defaultProfile: "alpha" }, "alpha", /config\.json:6$/],
    ["the only one", {}, {}, { profiles: { alpha: {} } }, "alpha", "the only profile"],
    ["none chosen", {}, {}, two, "default", "built-in"],
    ["nothing", {}, {}, {}, "default", "built-in"],
  ] as const)("%s", async (_name, flags, env, user, expected, where) => {
    const desk = createDesk(env);
    desk.putUser(user);
    const config = await desk.load({ flags: { ...flags } as never });
    expect(config.profile).toBe(expected);
    expect(config.origins.get("profile")?.where).toMatch(where);
  });

  it("an unknown one names those known and the nearest", async () => {
    const desk = createDesk();
    desk.putUser({ profiles: { production: {}, sandbox: {} } });
    const failure = await failureOf(desk.load({ flags: { profile: "prodution" }, sends: false }));
    expect(failure.exit).toBe("not-configured");
    expect(failure.whole).toContain(
      '--profile: there is no profile "prodution"; known profiles: production, sandbox',
    );
    expect(failure.whole).toContain("did you mean --profile production?");
    expect((await desk.load({ flags: { profile: "new" }, mayBeNew: true })).profile).toBe("new");
  });

  it.each(["toString", "__proto__", "constructor"])("%s is no profile", async (profile) => {
    const desk = createDesk();
    desk.putUser({ profiles: { production: {} } });
    expect((await failureOf(desk.load({ flags: { profile } }))).exit).toBe("not-configured");
  });

  it("an unknown defaultProfile names its place", async () => {
    const desk = createDesk();
    const path = desk.putUser({ defaultProfile: "gone" });
    expect((await failureOf(desk.load())).message).toContain(
      `${path}:2:21: there is no profile "gone"`,
    );
  });
});

describe("unknown variables", () => {
  async function plan(
    variables: Record<string, string>,
    { args = [], config }: { args?: string[]; config?: unknown } = {},
  ): Promise<{ code: number; warnings: string[]; stderr: string }> {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "docs"));
    writeFileSync(join(folder, "docs", "a.md"), "# A\n\nText.\n");
    if (config !== undefined) writeFileSync(join(folder, "c.json"), JSON.stringify(config));
    const { code, stderr } = await runHere(
      ["ingest", "docs", "--cc-pair-id", "2", "--dry-run", ...args],
      { cwd: folder, env: cleanEnvironment(folder, variables) },
    );
    const warnings = stderr.split("\n").filter((line) => line.includes("has no effect"));
    return { code, warnings, stderr };
  }

  it("a misspelt variable is a warning that names the nearest known one, also with --quiet", async () => {
    const variables = {
      KNOWCTL_BASEURL: "hidden-value",
      KNOWCTL_FORCE: "hidden-value",
      KNOWCTL_ZEBRA: "hidden-value",
    };
    for (const args of [[], ["--quiet"]]) {
      const { code, warnings, stderr } = await plan(variables, { args });
      expect(code).toBe(0);
      expect(warnings).toEqual([
        "warning: the variable KNOWCTL_BASEURL has no effect: knowctl does not know it; did you mean KNOWCTL_BASE_URL?",
        "warning: the variable KNOWCTL_FORCE has no effect: knowctl does not know it; --force counts only as a flag",
        "warning: the variable KNOWCTL_ZEBRA has no effect: knowctl does not know it; see `knowctl help environment`",
      ]);
      expect(stderr).not.toContain("hidden-value");
    }
  });

  it("variables of other commands, named variables and empty ones are no warning", async () => {
    const { code, warnings } = await plan({
      KNOWCTL_STATE: "kept",
      KNOWCTL_QUIET: "1",
      KNOWCTL_SANDBOX_KEY: "key",
      KNOWCTL_ACCESS_TOKEN: "key",
      KNOWCTL_CLIENT_KEY_PASSPHRASE: "word",
      KNOWCTL_TRUST_PROJECT: "1",
      KNOWCTL_BASEURL: " ",
    });
    expect({ code, warnings }).toEqual({ code: 0, warnings: [] });
  });

  it("a variable that a profile names for a key is no warning", async () => {
    const config = { profiles: { team: { apiKey: { env: "KNOWCTL_TEAM_KEY" } } } };
    const variables = { KNOWCTL_TEAM_KEY: "key", KNOWCTL_CONFIG: "c.json" };
    const { code, warnings } = await plan(variables, { config });
    expect({ code, warnings }).toEqual({ code: 0, warnings: [] });
  });

  it("the whole program is described only for a variable that no command knows", () => {
    const variablesOf = (command: Command): string[] => [
      ...command.options.flatMap((option) => variableOf(option) ?? []),
      ...command.commands.flatMap(variablesOf),
    ];
    const describe = (): never => {
      throw new Error("described");
    };
    const known = variablesOf(describeProgram()).map((name) => [name, "1"]);
    const env = { KNOWCTL_API_KEY: "key", KNOWCTL_NOTHING: "", ...Object.fromEntries(known) };
    expect(env).toMatchObject({ KNOWCTL_BASE_URL: "1", KNOWCTL_SHARED_STATE: "1" });
    expect(unknownVariables(env, describe).size).toBe(0);
    expect(() => unknownVariables({ KNOWCTL_FORCE: "1" }, describe)).toThrow("described");
  });
});
