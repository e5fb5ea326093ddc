import { chmodSync, existsSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { whileLocked } from "../../src/config/file/files.ts";
import { createMachine } from "../../src/config/find/folders.ts";
import {
  claimsOf,
  rememberTrust,
  restrictContent,
  staysInside,
  trustStore,
} from "../../src/config/trust.ts";
import { createDesk, failureOf, type Desk } from "./support.ts";

const attack = {
  profiles: { default: { baseUrl: "https://evil.example/x", apiKey: { env: "AWS_SECRET" } } },
};
const key = { KNOWCTL_API_KEY: "key-of-the-user" };

function machineOf(desk: Desk) {
  return createMachine({ env: desk.env, uid: userInfo().uid, home: desk.home });
}

async function trust(desk: Desk): Promise<void> {
  const [file] = (await desk.load({ sends: false })).files;
  if (!file) throw new Error("no file to trust");
  await rememberTrust(file, machineOf(desk));
}

describe("an untrusted project file", () => {
  const claims: [name: string, profile: object, told: string][] = [
    [
      "base URL",
      { baseUrl: "https://evil.example" },
      "profiles.default.baseUrl: https://evil.example",
    ],
    [
      "proxy",
      { proxy: "http://u:sesame@evil.example:1" },
      "profiles.default.proxy: http://evil.example:1",
    ],
    ["CA file", { caFile: "evil.pem" }, "profiles.default.caFile: evil.pem"],
    [
      "variable",
      { apiKey: { env: "AWS_SECRET" } },
      "profiles.default.apiKey: reads the variable AWS_SECRET",
    ],
    [
      "file",
      { accessToken: { file: "~/.ssh/id" } },
      "profiles.default.accessToken: reads the file ~/.ssh/id",
    ],
    [
      "command",
      { apiKey: { command: ["touch", "canary"] } },
      "profiles.default.apiKey: runs touch canary",
    ],
  ];

  it.each(claims)(
    "that names a %s stops what sends, with file, key and remedy",
    async (name, profile, told) => {
      // A variable that gives the same thing would need no trust.
      const address = name === "base URL" ? {} : { KNOWCTL_BASE_URL: "https://good.example" };
      const desk = createDesk({ ...("apiKey" in profile ? {} : key), ...address });
      const path = desk.put(".cliconfig.json", { profiles: { default: profile } });
      const config = await desk.load();
      const failure = await failureOf(config.connection());
      expect(failure.exit).toBe("not-configured");
      expect(failure.message).toContain(`${path} is not trusted`);
      expect(failure.whole).toContain(told);
      expect(failure.whole).toContain("knowctl config trust");
      expect(failure.whole).not.toContain("sesame");
      expect(existsSync(join(desk.project, "canary"))).toBe(false);
    },
  );

  it("stops also where another profile is in effect, and when a command that sends nothing asks", async () => {
    const desk = createDesk({ ...key });
    desk.putUser({
      profiles: { mine: { baseUrl: "https://mine.example" } },
      defaultProfile: "mine",
    });
    desk.put(".cliconfig.json", attack);
    expect((await failureOf((await desk.load()).connection())).message).toContain("not trusted");
    const quiet = await desk.load({ sends: false });
    expect((await failureOf(quiet.connection())).message).toContain("not trusted");
  });

  it("never fails a command that sends nothing, which uses it as it is", async () => {
    const desk = createDesk();
    desk.put(".cliconfig.json", {
      ...attack,
      defaultProfile: "default",
      ingest: { include: ["../**"], idPrefix: "x/", ccPairId: 3 },
      chat: { personaId: 2 },
    });
    const config = await desk.load({ sends: false });
    expect(config.ingest).toEqual({ include: ["../**"], idPrefix: "x/", ccPairId: 3 });
    expect(config.values.baseUrl).toBe("https://evil.example/x");
    expect(desk.warnings).toEqual([]);
  });

  const shaping: [key: string, content: object, text: string][] = [
    ["ingest.idPrefix", { ingest: { idPrefix: "evil/" } }, '"evil/"'],
    ["ingest.ccPairId", { ingest: { ccPairId: 666 } }, "666"],
    ["ingest.connector", { ingest: { connector: "Evil" } }, '"Evil"'],
    ["ingest.frontMatter.id", { ingest: { frontMatter: { id: ["uid"] } } }, '["uid"]'],
    [
      "ingest.rules[1].ccPairId",
      { ingest: { rules: [{ match: "b/**" }, { match: "a/**", ccPairId: 667 }] } },
      "667 for a/**",
    ],
    ["defaultProfile", { defaultProfile: "mine" }, '"mine"'],
    ["profiles.mine.dialect", { profiles: { mine: { dialect: "onyx" } } }, '"onyx"'],
    [
      "profiles.mine.ingest.idPrefix",
      { profiles: { mine: { ingest: { idPrefix: "evil/" } } } },
      '"evil/"',
    ],
  ];
  const mine = { baseUrl: "https://mine.example" };

  it.each(shaping)(
    "that sets %s stops what sends, and no other command",
    async (name, file, text) => {
      const desk = createDesk(key);
      desk.putUser({ profiles: { mine }, defaultProfile: "mine" });
      const path = desk.put(".cliconfig.json", file);
      const failure = await failureOf((await desk.load()).connection());
      expect(failure.exit).toBe("not-configured");
      expect(failure.message).toContain(`${path} is not trusted`);
      expect(failure.details).toEqual([`${name}: ${text}`]);
      const quiet = await desk.load({ sends: false });
      expect(quiet.values).toMatchObject((file as { ingest?: object }).ingest ? file : {});
      expect(desk.warnings).toEqual([]);
    },
  );

  it.each(shaping)("that sets %s is asked about again when that changes", async (_name, file) => {
    const desk = createDesk(key);
    desk.putUser({ profiles: { mine }, defaultProfile: "mine" });
    desk.put(".cliconfig.json", file);
    await trust(desk);
    expect((await (await desk.load()).connection()).baseUrl).toBe("https://mine.example");
    const changed = Object.entries({
      evil: "other",
      Evil: "Other",
      uid: "key",
      66: "77",
      onyx: "standard",
    });
    const text = changed.reduce((text, [from, to]) => text.replace(from, to), JSON.stringify(file));
    desk.put(".cliconfig.json", text.replace(/"mine"}$/, '"other"}'));
    expect((await failureOf((await desk.load()).connection())).message).toContain("not trusted");
  });

  it("that sends other files to a pair is asked about again", async () => {
    const desk = createDesk(key);
    desk.putUser({ profiles: { mine }, defaultProfile: "mine" });
    const ingestOf = (match: string) => ({ ingest: { rules: [{ match, ccPairId: 2 }] } });
    desk.put(".cliconfig.json", ingestOf("public/**"));
    await trust(desk);
    expect((await (await desk.load()).connection()).baseUrl).toBe("https://mine.example");
    desk.put(".cliconfig.json", ingestOf("**"));
    expect((await failureOf((await desk.load()).connection())).message).toContain("not trusted");
  });

  it("with settings alone lends the harmless ones and names the others", async () => {
    const desk = createDesk(key);
    desk.putUser({ profiles: { mine: { ...mine, ingest: { ccPairId: 1 } } } });
    desk.put(".cliconfig.json", {
      chat: { personaId: 9 },
      ingest: {
        include: ["docs/**"],
        metadata: { team: "x" },
        concurrency: 256,
        rules: [{ match: "a/**", metadata: { m: "1" }, source: "web" }],
      },
    });
    const config = await desk.load();
    expect(config.ingest).toEqual({
      include: ["docs/**"],
      metadata: { team: "x" },
      ccPairId: 1,
      rules: [{ match: "a/**", metadata: { m: "1" } }],
    });
    expect(config.chat).toEqual({});
    expect((await config.connection()).baseUrl).toBe("https://mine.example");
    expect(desk.warnings).toHaveLength(1);
    for (const name of [
      "chat",
      "ingest.concurrency",
      "ingest.rules[0].source",
      "knowctl config trust",
    ]) {
      expect(desk.warnings[0]).toContain(name);
    }
  });

  it("with harmless settings alone says nothing", async () => {
    const desk = createDesk({ ...key, KNOWCTL_BASE_URL: "https://good.example" });
    desk.put(".cliconfig.json", {
      ingest: { include: ["docs/**"], sections: "headings", link: "x", source: "web" },
    });
    await (await desk.load()).connection();
    expect(desk.warnings).toEqual([]);
  });

  it.each([
    "../x",
    "a/../../x",
    "/etc/**",
    "~/x",
    "C:\\x",
    "{a,../b}",
    "{a,/etc}/**",
    "!../x",
    "\\.\\./x",
    "a/\\.\\./x",
    ".{.,}/x",
    "@(..)/x",
    "[.][.]/x",
  ])("with the pattern %s stops", async (pattern) => {
    for (const ingest of [
      { include: [pattern] },
      { exclude: [pattern] },
      { rules: [{ match: pattern }] },
    ]) {
      const desk = createDesk();
      const path = desk.put(".cliconfig.json", { ingest });
      const failure = await failureOf(desk.load());
      expect(failure.exit).toBe("not-configured");
      expect(failure.message).toContain(`${path}:`);
      expect(failure.message).toContain("leads out of the project");
    }
  });

  it.each([
    "**/*.{md,mdx}",
    "docs/{a,b{c,d}}/**",
    "!docs/x",
    "a..b/*",
    "{1..3}.md",
    "...",
    ".hidden/**",
  ])("the pattern %s is fine", (pattern) => {
    expect(staysInside(pattern)).toBe(true);
  });

  it("a pattern of endless alternatives is refused at once", () => {
    expect(staysInside("{a,b}".repeat(40))).toBe(false);
  });

  it("restrictContent keeps no profile", () => {
    expect(restrictContent({ profiles: { a: { timeout: 3 } }, $schema: "x" })).toEqual({
      content: {},
      dropped: ["profiles.a.timeout"],
    });
  });
});

describe("trust", () => {
  it("once given, counts until an address or reference changes, or the file moves", async () => {
    const desk = createDesk({ ...key, AWS_SECRET: "key-of-the-project" });
    const path = desk.put(".cliconfig.json", attack);
    await trust(desk);
    const connection = await (await desk.load()).connection();
    expect(connection).toMatchObject({
      baseUrl: "https://evil.example/x",
      apiKey: "key-of-the-user",
    });
    desk.put(".cliconfig.json", { ...attack, ingest: { tags: ["x"] } });
    expect((await desk.load()).ingest.tags).toEqual(["x"]);
    const { default: profile } = attack.profiles;
    for (const changed of [
      { default: { ...profile, baseUrl: "https://evil.example/y" } },
      { default: { ...profile, apiKey: { env: "OTHER" } } },
      { default: { ...profile, proxy: "http://x" } },
      { other: profile },
      { ...attack.profiles, second: { baseUrl: "https://second.example" } },
    ]) {
      desk.put(".cliconfig.json", { profiles: changed });
      expect((await failureOf((await desk.load()).connection())).message).toContain("not trusted");
    }
    desk.put(".cliconfig.json", attack);
    await (await desk.load()).connection();
    renameSync(path, join(desk.project, ".cliconfig"));
    expect((await failureOf((await desk.load()).connection())).message).toContain("not trusted");
  });

  it("is remembered in a private file that others cannot forge", async () => {
    const desk = createDesk(key);
    desk.put(".cliconfig.json", attack);
    await trust(desk);
    const store = trustStore(machineOf(desk));
    expect(statSync(store).mode & 0o777).toBe(0o600);
    expect(statSync(join(desk.home, "state", "knowctl")).mode & 0o777).toBe(0o700);
    expect(readFileSync(store, "utf8")).not.toContain("evil.example");
    chmodSync(store, 0o666);
    expect((await desk.load()).files[0]?.trusted).toBe(false);
    chmodSync(store, 0o600);
    expect((await desk.load()).files[0]?.trusted).toBe(true);
    writeFileSync(store, "{ broken");
    expect((await desk.load()).files[0]?.trusted).toBe(false);
    await trust(desk);
    expect((await desk.load()).files[0]?.trusted).toBe(true);
  });

  it("--config and KNOWCTL_TRUST_PROJECT give it for the run", async () => {
    const desk = createDesk({ AWS_SECRET: "key-of-the-project" });
    desk.put(".cliconfig.json", attack);
    const named = await (await desk.load({ flags: { config: ".cliconfig.json" } })).connection();
    expect(named.apiKey).toBe("key-of-the-project");
    desk.env["KNOWCTL_TRUST_PROJECT"] = "0";
    expect((await desk.load()).files[0]?.trusted).toBe(false);
    desk.env["KNOWCTL_TRUST_PROJECT"] = "1";
    expect((await (await desk.load()).connection()).baseUrl).toBe("https://evil.example/x");
  });

  it("is asked for on a terminal, once", async () => {
    const desk = createDesk({ ...key, AWS_SECRET: "key-of-the-project" });
    desk.put(".cliconfig.json", attack);
    const questions: string[] = [];
    const answer = (yes: boolean) => (question: string) => {
      questions.push(question);
      return Promise.resolve(yes);
    };
    expect(
      (await failureOf((await desk.load({ askTrust: answer(false) })).connection())).exit,
    ).toBe("not-configured");
    expect(questions[0]).toContain("profiles.default.baseUrl: https://evil.example/x");
    await (await desk.load({ askTrust: answer(true) })).connection();
    await (await desk.load({ askTrust: answer(false) })).connection();
    await desk.load({ askTrust: answer(false), sends: false });
    expect(questions).toHaveLength(2);
  });

  it("lists what a file claims", () => {
    expect(claimsOf({ profiles: { p: { apiKey: "literal", chat: {} } } })).toEqual([]);
  });
});

it("trust is remembered beside what another process remembers meanwhile", async () => {
  const desk = createDesk();
  desk.put(".cliconfig.json", attack);
  const store = trustStore(machineOf(desk));
  let own: Promise<void> | undefined;
  await whileLocked(store, async () => {
    own = trust(desk);
    // Longer than trust takes without a lock.
    for (let at = 0; at < 3; at++) await desk.load({ sends: false });
    writeFileSync(store, '{"version":1,"files":{"/other.json":"a"}}', { mode: 0o600 });
  });
  await own;
  const { files } = JSON.parse(readFileSync(store, "utf8")) as { files: object };
  expect(Object.keys(files)).toHaveLength(2);
});
