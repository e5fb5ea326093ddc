import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, it, onTestFinished } from "vitest";
import { main } from "../main.ts";
import { startSandbox, type Sandbox } from "../../src/sandbox/http/server.ts";
import { createDesk, type Desk } from "../config/support.ts";
import { createTestContext, temporaryFolder, type TestContext } from "../support.ts";

interface Result {
  code: number;
  out: string;
  err: string;
}

async function run(desk: Desk, args: string[], stdin?: string): Promise<Result> {
  const context = createTestContext({
    cwd: desk.project,
    env: desk.env,
    ...(stdin === undefined ? {} : { stdin }),
  });
  const code = await main(args, context);
  return { code, out: context.stdoutText(), err: context.stderrText() };
}

/** A terminal on which each question gets the next answer. */
async function runAsking(
  desk: Desk,
  args: string[],
  answers: string[],
): Promise<Result & { asked: string[] }> {
  const stream = new PassThrough();
  const asked: string[] = [];
  const context: TestContext = createTestContext({ cwd: desk.project, env: desk.env, isTTY: true });
  const { stderr } = context;
  const write = async (text: string): Promise<void> => {
    await stderr.write(text);
    if (!/(: |\[(?:y\/N|Y\/n)\] )$/.test(text)) return;
    asked.push(text);
    // After the reader is there.
    setImmediate(() => stream.write(`${answers[asked.length - 1] ?? ""}\n`));
  };
  const code = await main(args, {
    ...context,
    stderr: { isTTY: true, columns: () => 80, write },
    stdin: { isTTY: true, stream, [Symbol.asyncIterator]: () => stream[Symbol.asyncIterator]() },
  });
  return { code, out: context.stdoutText(), err: context.stderrText(), asked };
}

async function sandbox(dialect: "standard" | "onyx" = "standard"): Promise<Sandbox> {
  const service = await startSandbox({
    port: 0,
    dataFolder: temporaryFolder(),
    key: "sandbox-key-1",
    dialect,
  });
  onTestFinished(() => service.close());
  return service;
}

function userJson(desk: Desk): unknown {
  return JSON.parse(readFileSync(join(desk.home, "config", "knowctl", "config.json"), "utf8"));
}

const prod = "https://prod.example";
const stored = {
  defaultProfile: "p",
  profiles: {
    p: {
      baseUrl: prod,
      apiKey: "stored-key-1",
      accessToken: { env: "MY_TOKEN" },
      proxy: "http://u:proxy-pass@px:1",
    },
    q: { baseUrl: "https://q.example", apiKey: { command: ["op", "read", "secret-argument"] } },
  },
};

describe("config list, show, get, path", () => {
  it("list shows every profile and no secret", async () => {
    const desk = createDesk();
    const path = desk.putUser(stored);
    const { code, out } = await run(desk, ["config", "list"]);
    expect(code).toBe(0);
    expect(out.trimEnd().split("\n")).toEqual([
      `true\tp\t${prod}\t\tvariable MY_TOKEN\t***\t${path}`,
      `false\tq\thttps://q.example\t\t\tcommand op\t${path}`,
    ]);
    const json = await run(desk, ["config", "list", "--json"]);
    expect(JSON.parse(json.out)).toHaveLength(2);
    expect(out + json.out).not.toMatch(/stored-key-1|secret-argument/);
  });

  it("list shows whole addresses on 80 columns", async () => {
    const desk = createDesk();
    desk.putUser({ profiles: { main: { baseUrl: "https://abc.company.example" } } });
    const { out } = await runAsking(desk, ["config", "list"], []);
    expect(out).toContain("https://abc.company.example");
  });

  it("list says that there is nothing yet", async () => {
    const { code, out, err } = await run(createDesk(), ["config", "list"]);
    expect([code, out]).toEqual([0, ""]);
    expect(err).toContain("knowctl config init");
  });

  it("show gives what is in effect, masked", async () => {
    const desk = createDesk({ KNOWCTL_TIMEOUT: "9" });
    desk.putUser({ ...stored, ingest: { metadata: { team: "x" } } });
    const { code, out } = await run(desk, ["config", "show", "--dialect", "onyx"]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({
      profile: "p",
      baseUrl: prod,
      dialect: "onyx",
      chat: {},
      ingest: { metadata: { team: "x" } },
      apiKey: "***",
      accessToken: { env: "MY_TOKEN" },
      proxy: "http://px:1",
      timeout: 9,
    });
  });

  it("show --origin names flag, variable, file and line, and what they override", async () => {
    const desk = createDesk({ KNOWCTL_BASE_URL: "https://env.example" });
    const path = desk.putUser({ ...stored, ingest: { metadata: { "a.b": "x" } } });
    const { code, out } = await run(desk, [
      "config",
      "show",
      "--origin",
      "--base-url",
      "https://flag.example",
      "--json",
    ]);
    expect(code).toBe(0);
    const rows = JSON.parse(out) as { key: string }[];
    expect(rows.find((row) => row.key === "baseUrl")).toEqual({
      key: "baseUrl",
      value: "https://flag.example",
      source: "flag",
      where: "--base-url",
      overrides: [
        { source: "env", where: "KNOWCTL_BASE_URL" },
        { source: "user", where: `${path}:5` },
      ],
    });
    expect(rows.find((row) => row.key === "dialect")).toMatchObject({
      value: "standard",
      source: "default",
      where: "built-in",
    });
    expect(rows.find((row) => row.key === "profile")).toMatchObject({ value: "p", source: "user" });
    expect(rows.find((row) => row.key === "ingest.metadata.a.b")).toMatchObject({ value: "x" });
    expect(out).not.toContain("stored-key-1");
  });

  it.each([
    ["baseUrl", prod],
    ["profile", "p"],
    ["defaultProfile", "p"],
    ["apiKey", "***"],
    ["accessToken", '{"env":"MY_TOKEN"}'],
    ["proxy", "http://px:1"],
    ["profiles.q.baseUrl", "https://q.example"],
    ["profiles.p.apiKey", "***"],
    ["profiles.q.apiKey", '{"command":["op","***"]}'],
    ["ingest.include", '["a"]'],
    ["ingest.metadata.a.b", "x"],
  ])("get %s", async (key, value) => {
    const desk = createDesk();
    desk.putUser({ ...stored, ingest: { include: ["a"], metadata: { "a.b": "x" } } });
    expect(await run(desk, ["config", "get", key])).toEqual({
      code: 0,
      out: `${value}\n`,
      err: "",
    });
  });

  it.each([
    ["ingest.inclued", 2, "did you mean include?"],
    ["baseurl", 2, "did you mean baseUrl?"],
    ["profiles.p.apikey", 2, "did you mean apiKey?"],
    ["ingest.exclude", 9, "is not set"],
    ["profiles.nobody.baseUrl", 9, "is not set"],
    ["clientKeyPassphrase", 9, "is not set"],
  ])("get %s fails with %d", async (key, code, text) => {
    const desk = createDesk();
    desk.putUser(stored);
    const result = await run(desk, ["config", "get", key]);
    expect([result.code, result.out]).toEqual([code, ""]);
    expect(result.err).toContain(text);
  });

  it("path shows where files lie, also when one is broken", async () => {
    const desk = createDesk();
    const project = desk.put(".cliconfig.json", {});
    const rows = JSON.parse((await run(desk, ["config", "path", "--json"])).out) as {
      path: string;
      exists: boolean;
    }[];
    expect(rows.map(({ path, exists }) => [path, exists])).toEqual([
      [join(desk.home, "config", "knowctl", "config.json"), false],
      [project, true],
      [join(desk.home, "state", "knowctl"), false],
      [join(desk.home, "state", "knowctl", "trust.json"), false],
    ]);
    desk.putUser("{");
    const broken = await run(desk, ["config", "path"]);
    expect(broken.code).toBe(0);
    expect(broken.err).toContain("config.json:1:2");
  });

  it("schema prints the committed schema", async () => {
    const { out } = await run(createDesk(), ["config", "schema"]);
    expect(out).toBe(
      readFileSync(join(import.meta.dirname, "../../schema/cliconfig.schema.json"), "utf8"),
    );
  });
});

describe("config show in an untrusted project", () => {
  const settings = { ingest: { include: ["docs/**"], ccPairId: 7 } };
  const other = { profiles: { p: { baseUrl: prod } } };
  const mild = { ingest: { include: ["docs/**"], tags: ["x"] } };
  it.each([
    ["show", [], settings, "commands that send fail because it sets ingest.ccPairId;"],
    [
      "get",
      ["ingest.ccPairId"],
      settings,
      "commands that send fail because it sets ingest.ccPairId;",
    ],
    ["show", [], other, "commands that send fail because it sets profiles.p.baseUrl;"],
    ["show", [], mild, "commands that send ignore ingest.tags;"],
  ])("%s %j says what a command that sends makes of it", async (name, args, file, text) => {
    const desk = createDesk();
    desk.put(".cliconfig.json", file);
    const shown = await run(desk, ["config", name, ...args]);
    expect(shown).toMatchObject({ code: 0, err: expect.stringContaining(text) });
    expect((await run(desk, ["config", "trust"])).code).toBe(0);
    expect(await run(desk, ["config", name, ...args])).toEqual({ ...shown, err: "" });
  });

  it("says nothing where all of it counts", async () => {
    const desk = createDesk();
    desk.put(".cliconfig.json", { ingest: { include: ["docs/**"] } });
    expect(await run(desk, ["config", "show"])).toMatchObject({ code: 0, err: "" });
  });
});

describe("config set, unset, use", () => {
  it.each([
    [["ingest.sections", "headings"], { ingest: { sections: "headings" } }],
    [["ingest.concurrency", "4"], { ingest: { concurrency: 4 } }],
    [["ingest.include", '["a","b"]'], { ingest: { include: ["a", "b"] } }],
    [["ingest.include", "docs/**"], { ingest: { include: ["docs/**"] } }],
    [["ingest.metadata.version", "1.10"], { ingest: { metadata: { version: "1.10" } } }],
    [["ingest.drafts", "true"], { ingest: { drafts: true } }],
    [["ingest.versionTag", "true"], { ingest: { versionTag: true } }],
    [["ingest.versionTag", "edition"], { ingest: { versionTag: "edition" } }],
    [["ingest.metadata.public", "true"], { ingest: { metadata: { public: "true" } } }],
    [["profiles.new.baseUrl", prod], { profiles: { new: { baseUrl: prod } } }],
    [["baseUrl", prod], { profiles: { default: { baseUrl: prod } } }],
    [["apiKey", '{"env":"X"}'], { profiles: { default: { apiKey: { env: "X" } } } }],
    [["defaultProfile", "x"], { defaultProfile: "x" }],
    [["lint.rules.broken-link", "off"], { lint: { rules: { "broken-link": "off" } } }],
    [["ingest.map.title", "name"], { ingest: { map: { title: "name" } } }],
  ])("set %j", async (args, expected) => {
    const desk = createDesk();
    const { code, err } = await run(desk, ["config", "set", ...args]);
    expect([code, userJson(desk)]).toEqual([0, expected]);
    expect(err).toContain("set in");
    const path = join(desk.home, "config", "knowctl", "config.json");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(desk.home, "config", "knowctl")).mode & 0o777).toBe(0o700);
  });

  it("set warns of a default profile that does not exist yet", async () => {
    const desk = createDesk();
    desk.putUser({ profiles: { p: { baseUrl: prod }, q: { baseUrl: prod } } });
    const { code, err } = await run(desk, ["config", "set", "defaultProfile", "r"]);
    expect([code, userJson(desk)]).toMatchObject([0, { defaultProfile: "r" }]);
    expect(err).toContain('warning: there is no profile "r" in ');
    expect(err).toContain("create it: knowctl config init --profile r\n");
    const known = await run(desk, ["config", "set", "defaultProfile", "q"]);
    expect(known.err).not.toContain("warning");
  });

  it.each([
    [["ingest.concurrency", "many"], "expected number, found string"],
    [["ingest.sections", "all"], "expected one of whole, headings"],
    [["ingest.sektions", "whole"], "did you mean sections?"],
    [["nonsense", "x"], "unknown configuration key"],
    // Keys of the file and of a profile: each once.
    [["nonsense", "x"], "allowHttp, allowInsecureTls\n"],
    [["ingest", "x"], "is a group of settings"],
    [["apiKey", "hunter2hunter2"], "knowctl login"],
    [["profiles.p.accessToken", "hunter2hunter2"], "knowctl login"],
    [["profiles.p", '{"apiKey":"hunter2hunter2"}'], "knowctl login"],
    [["profiles", '{"p":{"accessToken":"hunter2hunter2"}}'], "knowctl login"],
    [["baseUrl", "assistant.example"], "the base URL must begin with https://"],
    [["profiles.p.baseUrl", "https://u:hunter2@a.example"], "may not hold a user name"],
    [["proxy", "socks5://127.0.0.1"], "only http:// and https:// proxies"],
    [["profiles.a b.baseUrl", prod], "not a valid profile name"],
    [["__proto__.x", "y"], "unknown configuration key"],
    // No reference to a key: it would be stored as the key.
    [["apiKey", '{"enw":"hunter2"}'], "name a variable: knowctl config set"],
    [["headers", '{"x-a":"hunter2"}'], 'config set profiles.p.headers.x-a \'{"env": "NAME"}\''],
    [["lint.staleDays", "0"], "expected at least 1"],
  ])("set %j is a usage error and changes nothing", async (args, text) => {
    const desk = createDesk();
    desk.putUser(stored);
    const { code, err } = await run(desk, ["config", "set", ...args]);
    expect(code).toBe(2);
    expect(err).toContain(text);
    expect(err).not.toContain("hunter2");
    expect(userJson(desk)).toEqual(stored);
  });

  it("keeps everything else, its order and its indentation", async () => {
    const desk = createDesk();
    const path = desk.putUser(
      '{\n    "chat": { "personaId": 3 },\n    "profiles": {"p": {"timeout": 5}}\n}\n',
    );
    expect((await run(desk, ["config", "set", "chat.temperature", "0.5"])).code).toBe(0);
    const text = readFileSync(path, "utf8");
    expect(text.split("\n")[1]).toBe('    "chat": {');
    expect(JSON.parse(text)).toEqual({
      chat: { personaId: 3, temperature: 0.5 },
      profiles: { p: { timeout: 5 } },
    });
  });

  const commented = `# ours
profiles:
    # the one in use
    prod:
        baseUrl: "https://kb.example.com" # no slash

        timeout: 5
chat: { personaId: 3 } # Ann
`;
  it.each<[string, args: string[], before: string, after: string]>([
    [
      "a new key",
      ["set", "chat.temperature", "1"],
      "chat:\n  personaId: 3\n",
      "chat:\n  personaId: 3\n  temperature: 1\n",
    ],
    [
      "a value",
      ["set", "profiles.prod.timeout", "9"],
      commented,
      commented.replace("timeout: 5", "timeout: 9"),
    ],
    [
      "a key in braces",
      ["set", "chat.temperature", "1"],
      commented,
      commented.replace("{ personaId: 3 }", "{ personaId: 3, temperature: 1 }"),
    ],
    [
      "a removed key",
      ["unset", "profiles.prod.timeout"],
      commented,
      commented.replace("\n\n        timeout: 5", ""),
    ],
    [
      "a file of comments",
      ["set", "chat.temperature", "1"],
      "# x\n",
      "# x\n\nchat:\n  temperature: 1\n",
    ],
  ])(
    "writes YAML as YAML, with its comments and its layout: %s",
    async (_n, args, before, after) => {
      const desk = createDesk();
      const path = desk.putUser(before, "config.yaml");
      const { code, err } = await run(desk, ["config", ...args]);
      expect([code, err]).toEqual([0, expect.anything()]);
      expect(readFileSync(path, "utf8")).toBe(after);
    },
  );

  it("changes a copy of what an alias repeats", async () => {
    const desk = createDesk();
    const text = "profiles:\n  a: &a\n    timeout: 5\n    allowHttp: true\n  b: *a\n";
    const path = desk.putUser(text, "config.yaml");
    const { code } = await run(desk, ["config", "set", "profiles.b.timeout", "9"]);
    const copy = "  b:\n    timeout: 9\n    allowHttp: true\n";
    const changed = text.replace("  b: *a\n", copy);
    expect([code, readFileSync(path, "utf8")]).toEqual([0, changed]);
  });

  it("--local changes the project file, package.json too, and keeps its mode", async () => {
    const desk = createDesk();
    expect((await run(desk, ["config", "set", "ingest.sections", "whole", "--local"])).code).toBe(
      0,
    );
    const made = join(desk.project, ".cliconfig.json");
    expect(statSync(made).mode & 0o777).toBe(0o644);
    expect(existsSync(join(desk.home, "config"))).toBe(false);
    const other = createDesk();
    const path = other.put("package.json", { name: "x", cliconfig: {}, version: "1" });
    expect((await run(other, ["config", "set", "ingest.sections", "whole", "--local"])).code).toBe(
      0,
    );
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({
      name: "x",
      cliconfig: { ingest: { sections: "whole" } },
      version: "1",
    });
  });

  it("--local keeps the trust in a file of the user's own, and gives none to a foreign one", async () => {
    const set = ["config", "set", "ingest.idPrefix", "x/", "--local"];
    const trustFile = (desk: Desk): string => join(desk.home, "state", "knowctl", "trust.json");
    const own = createDesk();
    expect((await run(own, set)).err).not.toContain("trust");
    expect(readFileSync(trustFile(own), "utf8")).toContain(".cliconfig.json");
    const again = await run(own, ["config", "unset", "ingest.idPrefix", "--local"]);
    expect(again.err).not.toContain("trust");
    const foreign = createDesk();
    foreign.put(".cliconfig.json", { ingest: { drafts: true } });
    expect((await run(foreign, set)).err).toContain("knowctl config trust");
    expect(existsSync(trustFile(foreign))).toBe(false);
  });

  it("unset removes, and says when there is nothing", async () => {
    const desk = createDesk();
    desk.putUser({ chat: { personaId: 3, temperature: 1 } });
    expect((await run(desk, ["config", "unset", "chat.temperature"])).code).toBe(0);
    expect(userJson(desk)).toEqual({ chat: { personaId: 3 } });
    expect((await run(desk, ["config", "unset", "chat.temperature"])).code).toBe(9);
  });

  it("use names a default profile that goes before the new one", async () => {
    const desk = createDesk();
    const profiles = { p: { baseUrl: "https://a.example" }, q: { baseUrl: "https://b.example" } };
    desk.putUser({ profiles });
    expect((await run(desk, ["config", "use", "q"])).err).not.toContain("warning");
    desk.put(".cliconfig.json", { defaultProfile: "p" });
    const used = await run(desk, ["config", "use", "q"]);
    expect(used.code).toBe(0);
    expect(used.err).toContain("warning: here, the profile stays p, by ");
    expect(used.err).toContain(".cliconfig.json:");
    const local = await run(desk, ["config", "use", "q", "--local"]);
    expect(local.err).not.toContain("warning");
    desk.env["KNOWCTL_PROFILE"] = "p";
    const byVariable = await run(desk, ["config", "use", "q", "--local"]);
    expect(byVariable.err).toContain("the profile stays p, by KNOWCTL_PROFILE");
  });

  it("use makes no profile of a project the default of every folder", async () => {
    const desk = createDesk();
    desk.putUser({ chat: { personaId: 3 } });
    desk.put(".cliconfig.json", { profiles: { q: { baseUrl: "https://b.example" } } });
    const { code, err } = await run(desk, ["config", "use", "q"]);
    expect(code).toBe(9);
    expect(err).toContain("here: knowctl config use q --local");
    expect(userJson(desk)).toEqual({ chat: { personaId: 3 } });
    expect((await run(desk, ["config", "use", "q", "--local"])).code).toBe(0);
    expect((await run(desk, ["config", "validate"])).code).toBe(0);
  });

  it("list names the profiles where the default one does not exist", async () => {
    const desk = createDesk();
    desk.putUser({ defaultProfile: "gone", profiles: { p: { baseUrl: "https://a.example" } } });
    const { err } = await run(desk, ["config", "show"]);
    expect(err).toContain("list the profiles: knowctl config list; make one the default profile");
    const { code, out } = await run(desk, ["config", "list"]);
    expect(code).toBe(0);
    expect(out).toContain("https://a.example");
  });

  it("use makes a profile the default; an unknown one suggests", async () => {
    const desk = createDesk();
    desk.putUser(stored);
    expect((await run(desk, ["config", "use", "q"])).code).toBe(0);
    expect(userJson(desk)).toMatchObject({ defaultProfile: "q" });
    const { code, err } = await run(desk, ["config", "use", "qq"]);
    expect(code).toBe(9);
    expect(err).toContain("did you mean q?");
  });
});

describe("config validate", () => {
  it("names every problem of every file", async () => {
    const desk = createDesk();
    desk.putUser({ chat: { modle: "a/b" }, ingest: { rate: 0 } });
    desk.put(
      ".cliconfig.yaml",
      "profiles:\n  p:\n    allowHttp: true\n    baseUrl: https://u:hunter2@x.example\n    apiKey: {command: [x]}\n",
    );
    const { code, out, err } = await run(desk, ["config", "validate"]);
    expect([code, out]).toEqual([3, ""]);
    for (const text of [
      ".cliconfig.yaml:3:5: profiles.p.allowHttp: has no effect",
      ".cliconfig.yaml:4:5: profiles.p.baseUrl: the base URL may not hold a user name",
      ".cliconfig.yaml:5:5: profiles.p.apiKey: a command applies only in the user file",
      'unknown key chat.modle; did you mean "model"?',
      "ingest.rate: expected at least 0.001",
    ]) {
      expect(err).toContain(text);
    }
    expect(err).not.toContain("hunter2");
  });

  it.each([
    ["c.json", '{\n  "profiles" {}\n}', "c.json:2:14", "JSON", "line 2, column 14"],
    ["c.yaml", "ingest:\n  tags: [a\n", "c.yaml:3:1", "YAML", "line 3, column 1"],
  ])("advises to correct the syntax of %s", async (name, text, where, format, place) => {
    const desk = createDesk();
    desk.put(name, text);
    const { code, err } = await run(desk, ["config", "validate", name]);
    expect(code).toBe(3);
    expect(err).toContain(where);
    expect(err).toContain(`correct the ${format} syntax of ${name} at ${place}`);
    expect(err).not.toContain("schema");
  });

  it.each([
    ["prdo", ["test", "prod"], "; known profiles: test, prod", "config use prod"],
    ["other", ["test", "prod"], "; known profiles: test, prod", "config use test"],
    ["other", [], "", "config init --profile other"],
  ])(
    "names the profiles where the default one does not exist: %s",
    async (name, names, known, advice) => {
      const desk = createDesk();
      const profiles = Object.fromEntries(
        names.map((each) => [each, { baseUrl: "https://a.example" }]),
      );
      const path = desk.putUser({ defaultProfile: name, profiles });
      const { code, err } = await run(desk, ["config", "validate"]);
      expect(code).toBe(3);
      expect(err).toContain(`defaultProfile: there is no profile "${name}" in this file${known}\n`);
      expect(err).toContain(`knowctl ${advice}\n`);
      expect(err).not.toContain("schema");
      if (names.length === 0) return;
      expect((await run(desk, advice.split(" "))).code).toBe(0);
      expect((await run(desk, ["config", "validate"])).err).toBe(`${path} is valid\n`);
    },
  );

  it("says what is valid, and takes one file", async () => {
    const desk = createDesk();
    const path = desk.putUser(stored);
    expect(await run(desk, ["config", "validate"])).toEqual({
      code: 0,
      out: "",
      err: `${path} is valid\n`,
    });
    desk.put("other.json", "[]");
    expect((await run(desk, ["config", "validate", "other.json"])).code).toBe(3);
    expect((await run(desk, ["config", "validate", "gone.json"])).err).toMatch(
      /gone\.json: no such file\n {2}→ check the path, or --config/,
    );
    expect((await run(createDesk(), ["config", "validate"])).err).toContain(
      "no configuration file",
    );
  });
});

describe("config trust", () => {
  const attack = {
    profiles: { default: { baseUrl: "http://127.0.0.1:1", apiKey: { env: "MY_KEY" } } },
  };

  it("lets the file count from now on, and shows what it names", async () => {
    const desk = createDesk({ MY_KEY: "key-of-mine" });
    const path = desk.put(".cliconfig.json", attack);
    const before = await run(desk, ["connectors", "list"]);
    expect(before.code).toBe(3);
    expect(before.err).toContain(`${path} is not trusted`);
    expect(before.err).toContain("profiles.default.baseUrl: http://127.0.0.1:1");
    const { code, err } = await run(desk, ["config", "trust"]);
    expect(code).toBe(0);
    expect(err).toContain("profiles.default.apiKey: reads the variable MY_KEY");
    expect((await run(desk, ["connectors", "list"])).code).toBe(5);
    desk.put(".cliconfig.json", {
      profiles: { default: { ...attack.profiles.default, baseUrl: "http://127.0.0.1:2" } },
    });
    expect((await run(desk, ["connectors", "list"])).code).toBe(3);
  });

  it("is asked for on a terminal by a command that sends", async () => {
    const desk = createDesk({ MY_KEY: "key-of-mine" });
    desk.put(".cliconfig.json", attack);
    const no = await runAsking(desk, ["connectors", "list"], ["n"]);
    expect([no.code, no.asked.length]).toEqual([3, 1]);
    expect(no.err).toContain("profiles.default.baseUrl: http://127.0.0.1:1");
    expect((await runAsking(desk, ["connectors", "list"], ["y"])).code).toBe(5);
    const again = await runAsking(desk, ["connectors", "list"], []);
    expect([again.code, again.asked]).toEqual([5, []]);
  });

  it("without a file says so", async () => {
    const { code, err } = await run(createDesk(), ["config", "trust"]);
    expect(code).toBe(9);
    expect(err).toContain("no project file");
  });

  it("text of the file cannot act on the terminal", async () => {
    const desk = createDesk();
    desk.put(".cliconfig.json", {
      profiles: { default: { baseUrl: "https://x.example/\u001b[2J\u202e" } },
    });
    const { err } = await run(desk, ["config", "trust"]);
    expect(err).toContain("^[[2J<U+202E>");
  });
});

describe("login on a terminal", () => {
  it.each([
    ["n", 4, "sandbox-key-1"],
    ["", 4, "sandbox-key-1"],
    ["y", 0, "wrong-key-1"],
  ])("asks before a refused key replaces one that works: %j", async (answer, exit, kept) => {
    const { url } = await sandbox();
    const desk = createDesk();
    desk.putUser({ profiles: { p: { baseUrl: url, apiKey: "sandbox-key-1" } } });
    const answers = ["wrong-key-1", answer];
    const { code, err, asked } = await runAsking(desk, ["login", "--profile", "p"], answers);
    expect([code, asked[1]]).toEqual([exit, "Store this key anyway? [y/N] "]);
    expect(err).toContain("401");
    expect(userJson(desk)).toMatchObject({ profiles: { p: { apiKey: kept } } });
  });
});

describe("config init", () => {
  it.each(["standard", "onyx"] as const)(
    "asks on a terminal, finds the dialect %s, tries, saves",
    async (dialect) => {
      const desk = createDesk();
      const service = await sandbox(dialect);
      const { code, err, out, asked } = await runAsking(
        desk,
        ["config", "init"],
        ["nonsense", `${service.url}/api`, "sandbox-key-1", "", "-"],
      );
      expect(err).toContain(`dialect ${dialect} (detected)`);
      expect([code, out]).toEqual([0, ""]);
      expect(asked).toEqual([
        "Address of the service (Enter: I have none yet): ",
        "Address of the service (Enter: I have none yet): ",
        "API key (not shown): ",
        "Name of this profile [default]: ",
        expect.stringContaining("Id prefix of documents from "),
      ]);
      expect(userJson(desk)).toEqual({
        profiles: { default: { baseUrl: service.url, dialect, apiKey: "sandbox-key-1" } },
        defaultProfile: "default",
      });
      expect(err).not.toContain("sandbox-key-1");
      expect((await run(desk, ["connectors", "list"])).code).toBe(0);
    },
  );

  it("asks again only for what was wrong, and keeps the other answers", async () => {
    const desk = createDesk();
    const [service, gone] = [await sandbox(), await sandbox()];
    await gone.close();
    const answers = [
      "http://intranet.example",
      "two words",
      "wrong-key-1",
      // Plain http with a key is refused, then nobody listens, then the key is wrong.
      gone.url,
      service.url,
      "sandbox-key-1",
      "a/b",
      "work",
      "-",
    ];
    const { code, err, asked } = await runAsking(desk, ["config", "init"], answers);
    expect(code).toBe(0);
    expect(asked).toEqual([
      "Address of the service (Enter: I have none yet): ",
      "API key (not shown): ",
      "API key (not shown): ",
      "Address of the service [http://intranet.example]: ",
      `Address of the service [${gone.url}]: `,
      "API key (not shown): ",
      "Name of this profile [default]: ",
      "Name of this profile [default]: ",
      expect.stringContaining("Id prefix of documents from "),
    ]);
    for (const text of ["invalid characters", "not a valid profile name", "plain http"]) {
      expect(err).toContain(text);
    }
    expect(err).not.toContain("wrong-key-1");
    expect(userJson(desk)).toEqual({
      profiles: { work: { baseUrl: service.url, dialect: "standard", apiKey: "sandbox-key-1" } },
      defaultProfile: "work",
    });
  });

  it("takes an address without its scheme, and proposes that of the service for that of a page", async () => {
    const { url } = await sandbox();
    const desk = createDesk();
    const answers = [`${new URL(url).host}/admin/connectors`, "sandbox-key-1", "", "work", "-"];
    const { code, asked } = await runAsking(desk, ["config", "init"], answers);
    expect(asked[2]).toBe(`Address of the service [${url}]: `);
    expect(code).toBe(0);
    expect(userJson(desk)).toMatchObject({ profiles: { work: { baseUrl: url } } });
  });

  it("tests with the settings of a profile that exists once it is chosen", async () => {
    const { url } = await sandbox();
    const desk = createDesk();
    const before = {
      baseUrl: "https://old.example",
      apiKey: "old-key-12",
      headers: { "x-a": "b" },
    };
    desk.putUser({ profiles: { work: before } });
    const answers = [url, "sandbox-key-1", "work", "", "fresh", "-"];
    const { code, err } = await runAsking(desk, ["config", "init"], answers);
    // The length of the path decides where the line ends.
    expect([code, err]).toEqual([
      0,
      expect.stringMatching(/belongs\s+to\s+https:\/\/old\.example/),
    ]);
    expect(userJson(desk)).toMatchObject({ profiles: { work: before, fresh: { baseUrl: url } } });
  });

  it.each([
    [["login", "--with-token", "--profile", "p"], "stdin"],
    [["config", "init", "--with-token"], "stdin"],
  ])("names where a refused key came from: %j", async (line, origin) => {
    const { url } = await sandbox();
    const { code, err } = await run(createDesk(), [...line, "--base-url", url], "wrong-key-1\n");
    expect([code, err]).toEqual([4, expect.stringContaining(`from ${origin}, or`)]);
    expect(err).not.toContain("KNOWCTL_");
  });

  it.each([
    [[], ["standard:", "onyx:", "onyx_pat_"], []],
    [["--dialect", "onyx"], ["onyx_pat_"], ["standard:"]],
    [["--dialect", "standard"], ["admin panel"], ["onyx"]],
  ])("says where a key is made: %j", async (flags, texts, others) => {
    const service = await sandbox("onyx");
    const answers = [service.url, "sandbox-key-1", ""];
    const line = ["config", "init", "--no-check", ...flags];
    const { code, err } = await runAsking(createDesk(), line, answers);
    expect(code).toBe(0);
    for (const text of texts) expect(err).toContain(text);
    for (const text of others) expect(err).not.toContain(text);
  });

  it("ends where a flag or a variable is wrong: asking again would not mend it", async () => {
    const service = await sandbox();
    const desk = createDesk({ KNOWCTL_API_KEY: "wrong-key-1" });
    const { code, asked } = await runAsking(desk, ["config", "init"], [service.url]);
    expect([code, asked.length]).toEqual([4, 1]);
    expect(existsSync(join(desk.home, "config", "knowctl", "config.json"))).toBe(false);
  });

  it("offers `try` to a person without a service, and goes on where it is declined", async () => {
    const desk = createDesk();
    const answers = ["", "n", prod, "key-1234", ""];
    const { code, asked } = await runAsking(desk, ["config", "init", "--no-check"], answers);
    expect([code, asked[1]]).toEqual([
      0,
      "Try knowctl now, with a local service and a folder of yours? [Y/n] ",
    ]);
    expect(userJson(desk)).toMatchObject({ profiles: { default: { baseUrl: prod } } });
  });

  it("runs `try` where it is accepted, and saves nothing", async () => {
    const desk = createDesk();
    desk.put("docs/pumps.md", "# Pumps\n\n## Priming a pump\n\nOpen the blue valve first.\n");
    const { code, out } = await runAsking(desk, ["config", "init"], ["", "", "docs"]);
    expect(out).toContain("Open the blue valve first.");
    expect(code).toBe(0);
    expect(existsSync(join(desk.home, "config", "knowctl", "config.json"))).toBe(false);
  });

  it("takes flags and a key from the environment or stdin without one", async () => {
    const service = await sandbox();
    const flags = ["config", "init", "--profile", "sb", "--base-url", service.url];
    const byVariable = createDesk({ KNOWCTL_API_KEY: "sandbox-key-1" });
    expect((await run(byVariable, flags)).code).toBe(0);
    const byPipe = createDesk();
    expect((await run(byPipe, [...flags, "--with-token"], "sandbox-key-1\n")).code).toBe(0);
    expect(userJson(byPipe)).toEqual(userJson(byVariable));
    expect(userJson(byPipe)).toMatchObject({ defaultProfile: "sb" });
  });

  it("saves nothing when the connection fails; --no-check saves", async () => {
    const service = await sandbox();
    const desk = createDesk({ KNOWCTL_API_KEY: "wrong-key-1" });
    const flags = ["config", "init", "--base-url", service.url];
    const { code, err } = await run(desk, flags);
    expect(code).toBe(4);
    expect(err).toContain("nothing was saved");
    expect(existsSync(join(desk.home, "config", "knowctl", "config.json"))).toBe(false);
    expect((await run(desk, [...flags, "--no-check"])).code).toBe(0);
  });

  it.each([
    ["no address", ["config", "init"], {}, 2, "--base-url"],
    ["no key", ["config", "init", "--base-url", prod], {}, 3, "--with-token"],
    [
      "a bad address",
      ["config", "init", "--base-url", "https://u:hunter2@x"],
      {},
      2,
      "user name or password",
    ],
    [
      "plain http",
      ["config", "init", "--base-url", "http://intranet.example"],
      { KNOWCTL_API_KEY: "key-1234" },
      3,
      "plain http",
    ],
    [
      "a bad profile name",
      ["config", "init", "--profile", "a/b", "--base-url", prod],
      {},
      2,
      "not a valid profile name",
    ],
  ])("%s ends with its remedy", async (_name, args, env, code, text) => {
    const result = await run(createDesk(env), args);
    expect(result.code).toBe(code);
    expect(result.err).toContain(text);
    expect(result.err).not.toContain("hunter2");
  });

  it.each([
    ["CI", { CI: "1" }, []],
    ["--no-input", {}, ["--no-input"]],
  ])("%s never asks", async (_name, env, flags) => {
    const { code, asked } = await runAsking(createDesk(env), ["config", "init", ...flags], []);
    expect([code, asked]).toEqual([2, []]);
  });

  it("a profile that moves to another origin takes no old key along", async () => {
    const service = await sandbox();
    const desk = createDesk({ KNOWCTL_API_KEY: "sandbox-key-1" });
    desk.putUser({
      profiles: {
        p: { baseUrl: prod, apiKey: "old-key-1", accessToken: "old-token-1", timeout: 7 },
      },
    });
    expect(
      (await run(desk, ["config", "init", "--profile", "p", "--base-url", service.url])).code,
    ).toBe(0);
    expect(userJson(desk)).toMatchObject({
      profiles: { p: { baseUrl: service.url, apiKey: "sandbox-key-1", timeout: 7 } },
    });
    expect(JSON.stringify(userJson(desk))).not.toContain("old-");
  });
});

describe("login and logout", () => {
  const profile = { profiles: { p: { baseUrl: prod, timeout: 7 } }, chat: { personaId: 1 } };

  it("stores a key from stdin beside its address, and removes it", async () => {
    const desk = createDesk();
    desk.putUser(profile);
    const { code, err } = await run(desk, ["login", "--no-check", "--with-token"], "new-key-12\n");
    expect(code).toBe(0);
    expect(err).not.toContain("new-key-12");
    expect(userJson(desk)).toEqual({
      ...profile,
      profiles: { p: { baseUrl: prod, timeout: 7, apiKey: "new-key-12" } },
    });
    expect(
      (
        await run(
          desk,
          ["login", "--no-check", "--with-token", "--kind", "access-token"],
          "token-12",
        )
      ).code,
    ).toBe(0);
    expect(userJson(desk)).toMatchObject({
      profiles: { p: { apiKey: "new-key-12", accessToken: "token-12" } },
    });
    expect((await run(desk, ["logout"])).code).toBe(0);
    expect(userJson(desk)).toEqual(profile);
    expect((await run(desk, ["logout"])).err).toContain("no stored key");
  });

  it("asks hidden on a terminal", async () => {
    const desk = createDesk();
    desk.putUser(profile);
    const { code, err, asked } = await runAsking(desk, ["login", "--no-check"], ["typed-key-1"]);
    expect([code, asked]).toEqual([0, [`Key for ${prod} (not shown): `]]);
    expect(err).not.toContain("typed-key-1");
    expect(userJson(desk)).toMatchObject({ profiles: { p: { apiKey: "typed-key-1" } } });
  });

  it.each([
    // config init asks again for the key: Ctrl-C ends it.
    ["login", ["login", "--no-check"], 3, []],
    ["config init", ["config", "init", "--base-url", prod, "--no-check"], 130, ["\u0003"]],
  ])("%s removes a Bearer before the key when told to", async (_name, args, refused, then) => {
    const desk = createDesk();
    desk.putUser(profile);
    const no = await runAsking(desk, args, ["Bearer typed-key-1", "n", ...then]);
    expect([no.code, userJson(desk)]).toEqual([refused, profile]);
    expect(no.err).toContain('begins with "Bearer "');
    const yes = await runAsking(desk, args, ["bearer  typed-key-1", "y", "p"]);
    expect(yes.code).toBe(0);
    expect(userJson(desk)).toMatchObject({ profiles: { p: { apiKey: "typed-key-1" } } });
    expect(no.err + yes.err).not.toContain("typed-key-1");
  });

  it("Ctrl-C at the hidden prompt changes nothing", async () => {
    const desk = createDesk();
    desk.putUser(profile);
    const { code } = await runAsking(desk, ["login", "--no-check"], ["half-a-key\u0003"]);
    expect([code, userJson(desk)]).toEqual([130, profile]);
  });

  it("logout leaves references", async () => {
    const desk = createDesk();
    desk.putUser(stored);
    await run(desk, ["logout"]);
    expect(userJson(desk)).toMatchObject({ profiles: { p: { accessToken: { env: "MY_TOKEN" } } } });
    expect(JSON.stringify(userJson(desk))).not.toContain("stored-key-1");
  });

  it.each([
    ["no terminal", ["login", "--no-check"], undefined, 3, "--with-token"],
    ["empty stdin", ["login", "--no-check", "--with-token"], "\n", 3, "the key is empty"],
    ["two lines", ["login", "--no-check", "--with-token"], "a-key\nb-key", 3, "not a key"],
    [
      "a Bearer",
      ["login", "--no-check", "--with-token"],
      "Bearer new-key-12",
      3,
      'begins with "Bearer "',
    ],
    [
      "another address",
      ["login", "--no-check", "--with-token", "--base-url", "https://other.example"],
      "new-key-12",
      3,
      "is for https://prod.example",
    ],
    [
      "no address",
      ["login", "--no-check", "--with-token", "--profile", "new"],
      "new-key-12",
      3,
      "--base-url",
    ],
  ])("%s changes nothing", async (_name, args, stdin, code, text) => {
    const desk = createDesk();
    desk.putUser(profile);
    const result = await run(desk, args, stdin);
    expect(result.code).toBe(code);
    expect(result.err).toContain(text);
    expect(result.err).not.toMatch(/new-key-12|b-key/);
    expect(userJson(desk)).toEqual(profile);
  });

  it("a new profile takes the address of the flag, never of an untrusted project file", async () => {
    const desk = createDesk();
    expect(
      (
        await run(
          desk,
          ["login", "--no-check", "--with-token", "--base-url", `${prod}/api`],
          "new-key-12",
        )
      ).code,
    ).toBe(0);
    expect(userJson(desk)).toEqual({
      profiles: { default: { baseUrl: prod, apiKey: "new-key-12" } },
    });
    const other = createDesk();
    other.put(".cliconfig.json", { profiles: { default: { baseUrl: "https://evil.example" } } });
    const { code, err } = await run(other, ["login", "--no-check", "--with-token"], "new-key-12");
    expect(code).toBe(3);
    expect(err).toContain("is not trusted");
  });
});
