import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { GlobalFlags } from "../../src/config/global-flags.ts";
import {
  type TestContext,
  cleanEnvironment,
  createTestContext,
  temporaryFolder,
} from "../support.ts";
import { type Desk, createDesk, failureOf } from "./support.ts";
import { serve } from "../commands/doctor/support.ts";
import { main } from "../main.ts";
import { startTestService, testKey } from "../service.ts";
import * as fc from "../property.ts";
import {
  AddressProblem,
  addressHint,
  isLoopback,
  parseBaseUrl,
  parseProxy,
  withoutCredentials,
} from "../../src/config/values/url.ts";

const prod = "https://prod.example";

describe("connection", () => {
  function flag(flags: GlobalFlags): { flags: GlobalFlags } {
    return {
      flags: {
        ...flags,
        flagSources: Object.fromEntries(Object.keys(flags).map((name) => [name, "flag"])),
      },
    };
  }

  async function connect(desk: Desk, flags: GlobalFlags = {}) {
    return (await desk.load(flag(flags))).connection();
  }

  async function refusal(desk: Desk, flags: GlobalFlags = {}) {
    return failureOf(desk.load(flag(flags)).then((config) => config.connection()));
  }

  describe("keys", () => {
    it.each([
      ["one serves both", { apiKey: "stored-key" }, {}, ["stored-key", "stored-key"]],
      ["the other one too", { accessToken: "stored-token" }, {}, ["stored-token", "stored-token"]],
      [
        "two",
        { accessToken: "stored-token", apiKey: "stored-key" },
        {},
        ["stored-token", "stored-key"],
      ],
      [
        "a variable wins",
        { apiKey: "stored-key" },
        { KNOWCTL_API_KEY: " env-key\n" },
        ["env-key", "env-key"],
      ],
      [
        "a variable for one",
        { accessToken: "stored-token" },
        { KNOWCTL_API_KEY: "env-key" },
        ["stored-token", "env-key"],
      ],
      [
        "an empty variable is none",
        { apiKey: "stored-key" },
        { KNOWCTL_API_KEY: "" },
        ["stored-key", "stored-key"],
      ],
      ["reference", { apiKey: { env: "MINE" } }, { MINE: "mine-key" }, ["mine-key", "mine-key"]],
      [
        "an unset reference is none",
        { accessToken: { env: "UNSET" }, apiKey: { env: "MINE" } },
        { MINE: "mine-key" },
        ["mine-key", "mine-key"],
      ],
    ] as const)("%s", async (_name, keys, env, [accessToken, apiKey]) => {
      const desk = createDesk(env);
      desk.putUser({ profiles: { p: { baseUrl: prod, ...keys } } });
      expect(await connect(desk)).toEqual({
        baseUrl: prod,
        accessToken,
        apiKey,
        keyOrigins: { accessToken: expect.any(Object), apiKey: expect.any(Object) },
        allowInsecureTls: false,
      });
    });

    it("names where each key is set", async () => {
      const desk = createDesk({ KNOWCTL_API_KEY: "env-key", KNOWCTL_ACCESS_TOKEN: "" });
      desk.putUser({ profiles: { p: { baseUrl: prod, accessToken: "stored-token" } } });
      const { keyOrigins } = await connect(desk);
      expect(keyOrigins.apiKey.name).toBe("KNOWCTL_API_KEY");
      expect(keyOrigins.accessToken.name).toMatch(/config\.json:\d+$/);
    });

    it.each([
      [{}, "knowctl login"],
      [{ profile: "q" }, "knowctl login --profile q"],
    ])("names the login of the profile that %j chooses", async (flags, login) => {
      const desk = createDesk();
      const profile = { baseUrl: prod };
      const profiles = { p: profile, q: profile };
      desk.putUser({ defaultProfile: "p", profiles });
      expect((await refusal(desk, flags)).hints[0]).toBe(`store one: ${login}`);
      const stored = { ...profile, apiKey: "stored-key" };
      desk.putUser({ defaultProfile: "p", profiles: { p: stored, q: stored } });
      const { keyOrigins } = await connect(desk, flags);
      expect(keyOrigins.apiKey.remedy).toBe(`store another with \`${login}\``);
    });

    it("names the variable or the file of a reference, and how to change it", async () => {
      const desk = createDesk({ MINE: "mine-key" });
      const file = desk.put("key.txt", "file-key");
      chmodSync(file, 0o600);
      const apiKey = { file };
      desk.putUser({ profiles: { p: { baseUrl: prod, accessToken: { env: "MINE" }, apiKey } } });
      const { keyOrigins } = await connect(desk);
      expect(keyOrigins.accessToken.name).toMatch(/^the variable MINE \(.*config\.json:\d+\)$/);
      expect(keyOrigins.accessToken.remedy).toBe("set MINE to another");
      expect(keyOrigins.apiKey.name).toMatch(/^the key file .*key\.txt \(.*config\.json:\d+\)$/);
      expect(keyOrigins.apiKey.remedy).toBe("write another into this file");
    });

    it.each([
      ["none", {}, {}, 'profile "p" has none'],
      ["an empty variable", {}, { KNOWCTL_API_KEY: "" }, "KNOWCTL_API_KEY is empty"],
      ["a blank variable", {}, { KNOWCTL_ACCESS_TOKEN: " \n" }, "KNOWCTL_ACCESS_TOKEN is empty"],
      ["an empty literal", { apiKey: "" }, {}, "is empty"],
      ["an unset reference", { apiKey: { env: "NOWHERE" } }, {}, "the variable NOWHERE"],
      ["an empty reference", { apiKey: { env: "NOWHERE" } }, { NOWHERE: "" }, "is empty"],
      ["a scheme", { apiKey: "Bearer a-key" }, {}, 'begins with "Bearer "'],
      ["a header", { apiKey: "Authorization: bearer a-key" }, {}, 'begins with "Bearer "'],
      [
        "two lines",
        { apiKey: "a-key\nx-header: y" },
        {},
        "holds characters that a key cannot have",
      ],
      [
        "not ASCII",
        { apiKey: { env: "MINE" } },
        { MINE: "kéy-secret" },
        "holds characters that a key cannot have",
      ],
    ] as const)("%s is exit not-configured, without the value", async (_name, keys, env, text) => {
      const desk = createDesk(env);
      desk.putUser({ profiles: { p: { baseUrl: prod, ...keys } } });
      const failure = await refusal(desk);
      expect(failure.exit).toBe("not-configured");
      expect(failure.whole).toContain(text);
      expect(failure.whole).not.toContain("x-header");
      expect(failure.whole).not.toContain("kéy");
    });

    it("a file is read beside its configuration, from ~ and absolute", async () => {
      const desk = createDesk();
      const folder = join(desk.home, "config", "knowctl");
      for (const [file, at] of [
        ["key.txt", join(folder, "key.txt")],
        ["~/key.txt", join(desk.home, "key.txt")],
      ] as const) {
        desk.putUser({ profiles: { p: { baseUrl: prod, apiKey: { file } } } });
        writeFileSync(at, `file-key-${file.length}\n`, { mode: 0o600 });
        expect((await connect(desk)).apiKey).toBe(`file-key-${file.length}`);
      }
    });

    it("a mounted secret is a link into its own folder", async () => {
      const desk = createDesk();
      const mount = join(desk.home, "mount");
      mkdirSync(join(mount, "..data"), { recursive: true });
      writeFileSync(join(mount, "..data", "token"), "mounted-key", { mode: 0o600 });
      symlinkSync("..data/token", join(mount, "token"));
      desk.putUser({ profiles: { p: { baseUrl: prod, apiKey: { file: join(mount, "token") } } } });
      expect((await connect(desk)).apiKey).toBe("mounted-key");
      const elsewhere = join(temporaryFolder(), "elsewhere");
      symlinkSync(elsewhere, join(desk.home, "link"));
      writeFileSync(elsewhere, "other-key", { mode: 0o600 });
      desk.putUser({ profiles: { p: { baseUrl: prod, apiKey: { file: "~/link" } } } });
      expect((await refusal(desk)).message).toContain("symbolic link");
    });

    it.each([
      ["missing", "~/nowhere", "no such file"],
      ["a folder", "~/project", "not a key file"],
    ])("a key file that is %s", async (_name, file, text) => {
      const desk = createDesk();
      desk.putUser({ profiles: { p: { baseUrl: prod, apiKey: { file } } } });
      const failure = await refusal(desk);
      expect(failure.exit).toBe("not-configured");
      expect(failure.message).toContain(text);
    });

    it("a command runs without a shell, and its failure tells no output", async () => {
      const desk = createDesk();
      const program = (code: string, ...args: string[]) => ({
        command: [process.execPath, "-e", code, ...args],
      });
      desk.putUser({
        profiles: {
          p: { baseUrl: prod, apiKey: program("console.log(process.argv[1])", "$(id)key;") },
        },
      });
      expect((await connect(desk)).apiKey).toBe("$(id)key;");
      desk.putUser({
        profiles: {
          p: {
            baseUrl: prod,
            apiKey: program("console.log('half-key'); console.error('half-key'); process.exit(3)"),
          },
        },
      });
      const failure = await refusal(desk);
      expect(failure.message).toContain("failed (3)");
      expect(failure.whole).not.toContain("half-key");
      // A path: searching PATH ends with EACCES where a folder in it is closed to this user.
      const command = [join(desk.home, "no-such-program")];
      desk.putUser({ profiles: { p: { baseUrl: prod, apiKey: { command } } } });
      expect((await refusal(desk)).message).toContain("failed (no such file)");
    });

    it("a command counts in the user file only", async () => {
      const desk = createDesk({ KNOWCTL_TRUST_PROJECT: "1" });
      const canary = join(desk.home, "canary");
      const path = desk.put(".cliconfig.json", {
        profiles: { p: { baseUrl: prod, apiKey: { command: ["touch", canary] } } },
      });
      for (const flags of [{}, { config: path }]) {
        const failure = await refusal(desk, flags);
        expect(failure.exit).toBe("not-configured");
        expect(failure.message).toContain("user file only");
        expect(existsSync(canary)).toBe(false);
      }
    });
  });

  describe("a key goes only where it belongs", () => {
    const stored = { profiles: { p: { baseUrl: `${prod}/team/`, apiKey: "stored-key" } } };

    it.each([
      ["flag", { baseUrl: "https://other.example" }, {}],
      ["variable", {}, { KNOWCTL_BASE_URL: "https://other.example" }],
      ["another port", { baseUrl: `${prod}:8443` }, {}],
      ["another scheme", { baseUrl: "http://127.0.0.1" }, {}],
    ] as const)("stored, other origin by %s", async (_name, flags, env) => {
      const desk = createDesk(env);
      desk.putUser(stored);
      const failure = await refusal(desk, flags);
      expect(failure.exit).toBe("not-configured");
      expect(failure.message).toContain(`belongs to ${prod}`);
      expect(failure.whole).not.toContain("stored-key");
      // Plain `knowctl login` would replace the key of this profile.
      expect(failure.whole).toMatch(/knowctl login --profile NAME --base-url http\S/);
    });

    it("stored, same origin and other path", async () => {
      const desk = createDesk();
      desk.putUser(stored);
      expect((await connect(desk, { baseUrl: `${prod}/other/api` })).baseUrl).toBe(`${prod}/other`);
    });

    it("stored in the user file, base URL of a trusted project file", async () => {
      const desk = createDesk({ KNOWCTL_TRUST_PROJECT: "1" });
      desk.putUser(stored);
      desk.put(".cliconfig.json", { profiles: { p: { baseUrl: "https://other.example" } } });
      expect((await refusal(desk)).message).toContain("it is not sent to https://other.example");
    });

    it("stored without a base URL beside it", async () => {
      const desk = createDesk();
      desk.putUser({ profiles: { p: { apiKey: "stored-key" } } });
      expect((await refusal(desk, { baseUrl: prod })).message).toContain(
        "has no baseUrl beside it",
      );
    });

    it("{file} and {command} are stored keys too", async () => {
      const desk = createDesk();
      desk.putUser({ profiles: { p: { baseUrl: prod, apiKey: { file: "~/key" } } } });
      expect((await refusal(desk, { baseUrl: "https://other.example" })).message).toContain(
        `belongs to ${prod}`,
      );
    });

    it("the environment's goes to flag, variable, user file and trusted project", async () => {
      const desk = createDesk({ KNOWCTL_API_KEY: "env-key" });
      desk.putUser(stored);
      expect(await connect(desk, { baseUrl: "https://other.example" })).toMatchObject({
        apiKey: "env-key",
        accessToken: "env-key",
      });
      expect((await connect(desk)).baseUrl).toBe(`${prod}/team`);
      desk.env["KNOWCTL_TRUST_PROJECT"] = "1";
      desk.put(".cliconfig.json", { profiles: { p: { baseUrl: "https://project.example" } } });
      expect((await connect(desk)).baseUrl).toBe("https://project.example");
    });

    it("the environment's stands in for a stored one of another origin", async () => {
      const desk = createDesk({ KNOWCTL_API_KEY: "env-key" });
      desk.putUser({ profiles: { p: { baseUrl: prod, accessToken: "stored-token" } } });
      expect(await connect(desk, { baseUrl: "https://other.example" })).toMatchObject({
        accessToken: "env-key",
        apiKey: "env-key",
      });
      expect(await connect(desk)).toMatchObject({ accessToken: "stored-token", apiKey: "env-key" });
    });
  });

  describe("addresses", () => {
    const key = { KNOWCTL_API_KEY: "env-key" };

    it("nothing configured says how to begin", async () => {
      const failure = await refusal(createDesk());
      expect(failure.exit).toBe("not-configured");
      expect(failure.whole).toMatch(/knowctl config init[\s\S]*knowctl try/);
    });

    it.each([
      "https://u:secretpw@x.example",
      "https://x.example?key=secretpw",
      "https://x.example#f",
      "nonsense",
    ])("%s: exit 2 from the flag, 3 elsewhere, never shown", async (address) => {
      const byFlag = await refusal(createDesk(key), { baseUrl: address });
      expect([byFlag.exit, byFlag.message.split(":")[0]]).toEqual(["usage", "--base-url"]);
      const byVariable = await refusal(createDesk({ ...key, KNOWCTL_BASE_URL: address }));
      expect([byVariable.exit, byVariable.message.split(":")[0]]).toEqual([
        "not-configured",
        "KNOWCTL_BASE_URL",
      ]);
      const desk = createDesk(key);
      const path = desk.putUser({ profiles: { p: { baseUrl: address } } });
      const byFile = await refusal(desk);
      expect(byFile.message).toContain(`${path}:4: `);
      for (const each of [byFlag, byVariable, byFile]) {
        expect(each.exit).not.toBe("failure");
        expect(each.whole).not.toContain("secretpw");
      }
    });

    it.each([
      ["http://intranet.example", false],
      ["http://127.0.0.1.nip.io:8787", false],
      ["http://127.0.0.1:8787", true],
      ["http://localhost:8787", true],
      ["http://[::1]:8787", true],
    ])("plain http to %s: %s", async (baseUrl, fine) => {
      if (fine) expect((await connect(createDesk(key), { baseUrl })).baseUrl).toBe(baseUrl);
      else {
        const failure = await refusal(createDesk(key), { baseUrl });
        expect([failure.exit, failure.whole]).toEqual([
          "not-configured",
          expect.stringContaining("plain http"),
        ]);
      }
    });

    it("allowHttp counts in the user file and --config, never in a discovered file", async () => {
      const open = { profiles: { p: { baseUrl: "http://intranet.example", allowHttp: true } } };
      const user = createDesk(key);
      user.putUser(open);
      expect((await connect(user)).baseUrl).toBe("http://intranet.example");
      const project = createDesk({ ...key, KNOWCTL_TRUST_PROJECT: "1" });
      const path = project.put(".cliconfig.json", open);
      expect((await refusal(project)).message).toContain("plain http");
      expect((await connect(project, { config: path })).baseUrl).toBe("http://intranet.example");
    });

    it("NODE_TLS_REJECT_UNAUTHORIZED=0 needs allowInsecureTls in the user file, and is warned about", async () => {
      const env = { ...key, NODE_TLS_REJECT_UNAUTHORIZED: "0" };
      const profile = { profiles: { p: { baseUrl: prod, allowInsecureTls: true } } };
      const desk = createDesk(env);
      expect((await refusal(desk, { baseUrl: prod })).message).toContain(
        "NODE_TLS_REJECT_UNAUTHORIZED=0",
      );
      const path = desk.put("named.json", profile);
      expect((await refusal(desk, { config: path })).message).toContain(
        "NODE_TLS_REJECT_UNAUTHORIZED=0",
      );
      desk.putUser(profile);
      expect((await connect(desk)).allowInsecureTls).toBe(true);
      expect(desk.warnings.join()).toContain("certificates are not checked");
      delete desk.env["NODE_TLS_REJECT_UNAUTHORIZED"];
      expect((await connect(desk)).allowInsecureTls).toBe(false);
    });

    it("a missing NODE_EXTRA_CA_CERTS file is a warning", async () => {
      const desk = createDesk({ ...key, NODE_EXTRA_CA_CERTS: "/nowhere/ca.pem" });
      await connect(desk, { baseUrl: prod });
      expect(desk.warnings.join()).toContain(
        "NODE_EXTRA_CA_CERTS names /nowhere/ca.pem, which cannot be read (no such file)",
      );
    });

    it("caFile is absolute in the end; a missing one is an error with its origin", async () => {
      const desk = createDesk(key);
      desk.putUser({ profiles: { p: { baseUrl: prod, caFile: "ca.pem" } } });
      expect((await refusal(desk)).exit).toBe("not-configured");
      writeFileSync(join(desk.home, "config", "knowctl", "ca.pem"), "");
      expect((await connect(desk)).caFile).toBe(join(desk.home, "config", "knowctl", "ca.pem"));
      expect(await refusal(desk, { caFile: "none.pem" })).toMatchObject({ exit: "usage" });
    });
  });

  describe("proxy", () => {
    const key = { KNOWCTL_API_KEY: "env-key" };

    it.each([
      [{ HTTPS_PROXY: "http://up:1" }, prod, "http://up:1"],
      [{ HTTPS_PROXY: "http://up:1", https_proxy: "low:2" }, prod, "http://low:2"],
      [{ HTTP_PROXY: "http://up:1" }, prod, undefined],
      [{ ALL_PROXY: "all:1" }, prod, "http://all:1"],
      [{ ALL_PROXY: "all:1", all_proxy: "low:1" }, "http://127.0.0.1:1", undefined],
      [{ ALL_PROXY: "all:1", HTTPS_PROXY: "http://own:1" }, prod, "http://own:1"],
      [{ ALL_PROXY: "socks5://all:1", HTTPS_PROXY: "http://own:1" }, prod, "http://own:1"],
      [{ ALL_PROXY: "socks5://all:1" }, "http://127.0.0.1:1", undefined],
      [{ HTTP_PROXY: "http://up:1" }, "http://127.0.0.1:1", undefined],
      [{ HTTPS_PROXY: "http://up:1", KNOWCTL_PROXY: "http://own:1" }, prod, "http://own:1"],
    ] as const)("%j to %s", async (env, baseUrl, expected) => {
      expect((await connect(createDesk({ ...key, ...env }), { baseUrl })).proxy).toBe(expected);
    });

    it("NO_PROXY goes along", async () => {
      const desk = createDesk({ ...key, HTTPS_PROXY: "http://up:1", NO_PROXY: ".corp" });
      expect((await connect(desk, { baseUrl: prod })).noProxy).toBe(".corp");
    });

    it.each([
      ["HTTPS_PROXY", { HTTPS_PROXY: "http://u:secretpw@host:bad" }, {}, "not-configured"],
      ["ALL_PROXY", { ALL_PROXY: "socks5h://u:secretpw@host" }, {}, "not-configured"],
      ["KNOWCTL_PROXY", { KNOWCTL_PROXY: "socks5://u:secretpw@host" }, {}, "not-configured"],
      ["--proxy", {}, { proxy: "http://u:secretpw@host:bad" }, "usage"],
    ] as const)("a bad %s is named, its password is not", async (name, env, flags, exit) => {
      const failure = await refusal(createDesk({ ...key, ...env }), { baseUrl: prod, ...flags });
      expect(failure.exit).toBe(exit);
      expect(failure.message).toContain(name);
      expect(failure.whole).not.toContain("secretpw");
    });
  });

  describe("a file with a key", () => {
    const stored = { profiles: { p: { baseUrl: prod, apiKey: "stored-key" } } };

    it.each([
      [0o600, stored, "fine"],
      [0o644, stored, "warned"],
      [0o640, stored, "warned"],
      [0o644, { profiles: { p: { baseUrl: prod, apiKey: { env: "X" } } } }, "fine"],
      [0o644, { profiles: { p: { baseUrl: "http://127.0.0.1:8787", apiKey: "sandbox" } } }, "fine"],
      [0o660, stored, "refused"],
      [0o602, {}, "refused"],
    ] as const)("user file of mode %o", async (mode, content, expected) => {
      const desk = createDesk();
      const path = desk.putUser(content);
      chmodSync(path, mode);
      if (expected === "refused") {
        const failure = await failureOf(desk.load({ sends: false }));
        expect(failure.exit).toBe("not-configured");
        expect(failure.whole).toContain(`chmod 600 ${path}`);
        return;
      }
      await desk.load();
      expect(desk.warnings.length).toBe(expected === "warned" ? 1 : 0);
      if (expected === "warned") expect(desk.warnings[0]).toContain(`chmod 600 ${path}`);
    });

    it("of another owner is refused", async () => {
      const desk = createDesk();
      const path = desk.putUser(stored);
      const failure = await failureOf(desk.load({ uid: 4711 }));
      expect(failure.exit).toBe("not-configured");
      expect(failure.message).toContain(`${path} belongs to another user`);
    });

    it("of --config may be a link of the user", async () => {
      const desk = createDesk();
      const real = join(temporaryFolder(), "real.json");
      writeFileSync(real, JSON.stringify(stored), { mode: 0o600 });
      const link = join(desk.home, "link.json");
      symlinkSync(real, link);
      const load = async (uid?: number) =>
        await desk.load({ flags: { config: link }, ...(uid === undefined ? {} : { uid }) });
      expect((await load()).files).toHaveLength(1);
      chmodSync(real, 0o666);
      expect((await failureOf(load())).message).toContain("can be changed by other users");
      chmodSync(real, 0o600);
      if (process.getuid?.() !== 0) {
        expect((await failureOf(load(4711))).message).toContain("belongs to another user");
      }
    });

    it("in a volume of Kubernetes is read without a warning: its mode is that of the volume", async () => {
      const desk = createDesk();
      const mount = join(desk.home, "mount");
      mkdirSync(join(mount, "..2026_01_01"), { recursive: true });
      symlinkSync("..2026_01_01", join(mount, "..data"));
      writeFileSync(join(mount, "..data", "config.json"), JSON.stringify(stored), { mode: 0o644 });
      symlinkSync("..data/config.json", join(mount, "config.json"));
      const config = join(mount, "config.json");
      expect((await desk.load({ flags: { config } })).files).toHaveLength(1);
      expect(desk.warnings).toEqual([]);
      writeFileSync(join(mount, "..data", "token"), "mounted-key", { mode: 0o644 });
      symlinkSync("..data/token", join(mount, "token"));
      desk.putUser({ profiles: { p: { baseUrl: prod, apiKey: { file: join(mount, "token") } } } });
      expect((await connect(desk)).apiKey).toBe("mounted-key");
      expect(desk.warnings).toEqual([]);
    });

    it("behind a symlink is refused, settings alone are not", async () => {
      const desk = createDesk();
      const path = desk.putUser({});
      const real = join(desk.home, "real.json");
      writeFileSync(real, JSON.stringify(stored), { mode: 0o600 });
      chmodSync(path, 0o600);
      rmSync(path);
      symlinkSync(real, path);
      expect((await failureOf(desk.load())).message).toContain("symbolic link");
      writeFileSync(real, "{}");
      expect((await desk.load()).files).toHaveLength(1);
    });
  });
});

describe("headers", () => {
  const desk = (headers: object, env: Record<string, string> = {}) => {
    const made = createDesk({ KNOWCTL_API_KEY: "a-key", ...env });
    made.putUser({ profiles: { p: { baseUrl: prod, headers } } });
    return made;
  };

  /** A context whose configuration has this one profile. */
  function contextWith(profile: object): TestContext {
    const cwd = temporaryFolder();
    const path = `${cwd}/own.json`;
    writeFileSync(path, JSON.stringify({ profiles: { p: profile } }), { mode: 0o600 });
    return createTestContext({ cwd, env: cleanEnvironment(cwd, { KNOWCTL_CONFIG: path }) });
  }

  describe("headers of a profile", () => {
    it("are resolved as keys are, by lower-case name", async () => {
      const headers = { "X-Team": "a team", "X-Onyx-Authorization": { env: "GATE" } };
      const { load } = desk(headers, { GATE: " Bearer gate-key \n" });
      expect((await (await load()).connection()).headers).toEqual({
        "x-team": "a team",
        "x-onyx-authorization": "Bearer gate-key",
      });
    });

    it.each([
      [{ Authorization: "x" }, "knowctl sets the header Authorization itself"],
      [{ "content-length": "1" }, "knowctl sets the header content-length itself"],
      [{ "Proxy-Authorization": "x" }, "knowctl sets the header Proxy-Authorization itself"],
      [{ X: { env: "NOWHERE" } }, "the header X: the variable NOWHERE"],
      [{ "X-A": "one", "x-a": "two" }, "the header x-a is given twice"],
      [{ X: "a\r\nInjected: yes" }, "holds characters that a header cannot have"],
    ])("%j is refused", async (headers, message) => {
      const failure = await failureOf((await desk(headers).load()).connection());
      expect(failure).toMatchObject({ exit: "not-configured" });
      expect(failure.whole).toContain(message);
      expect(failure.whole).not.toContain("Injected");
    });

    it("go to the address beside them only", async () => {
      const { load } = desk({ "X-Key": "gate-key" });
      const elsewhere = load({ flags: { baseUrl: "https://elsewhere.example" } });
      const failure = await failureOf((await elsewhere).connection());
      expect(failure.message).toContain("the stored headers.X-Key");
      expect(failure.message).toContain("is not sent to https://elsewhere.example");
    });

    it("of an untrusted project file are never used", async () => {
      const made = createDesk({ KNOWCTL_API_KEY: "a-key", KNOWCTL_BASE_URL: prod });
      made.put(".cliconfig.json", { profiles: { p: { headers: { "X-Key": { env: "HOME" } } } } });
      const failure = await failureOf((await made.load()).connection());
      expect(failure.exit).toBe("not-configured");
      expect(failure.whole).toContain("headers");
    });

    it("reach the service with each request, and no output", async () => {
      const key = testKey;
      const { folder, env, sandbox } = await startTestService({ dialect: "onyx", key });
      const context = createTestContext({
        cwd: folder,
        env: { ...env, KNOWCTL_API_KEY: "wrong-key-of-another", GATE: `Bearer ${key}` },
      });
      const headers = { "X-Onyx-Authorization": { env: "GATE" }, "X-Plain": "literal-value-1234" };
      const path = `${folder}/own.json`;
      const content = { profiles: { p: { baseUrl: sandbox.url, headers } } };
      writeFileSync(path, JSON.stringify(content), { mode: 0o600 });
      const args = ["agents", "list", "--config", path, "--debug"];
      expect(await main(args, context), context.stderrText()).toBe(0);
      expect(context.stderrText()).toContain("x-plain");
      for (const text of [context.stderrText(), context.stdoutText()]) {
        expect(text).not.toContain(key);
        expect(text).not.toContain("literal-value-1234");
      }
      const shown = createTestContext({ cwd: folder, env });
      await main(["config", "show", "--config", path, "--json"], shown);
      expect(shown.stdoutText()).toContain("X-Plain");
      expect(shown.stdoutText()).not.toContain("literal-value-1234");
    });

    it("show neither a short value nor the key after a scheme", async () => {
      const { url } = await serve((_request, response) => {
        response.writeHead(403, { "content-type": "application/json" });
        response.end(
          JSON.stringify({ detail: "no gate-key-123456 with hidden-login-1 for a7-pin" }),
        );
      });
      const basic = Buffer.from("me:hidden-login-1").toString("base64");
      const headers = {
        "X-Gate": "Bearer gate-key-123456",
        "X-Login": `Basic ${basic}`,
        Cookie: "first=1; session=a7-pin",
        "X-Pin": "q9z",
      };
      const context = contextWith({ baseUrl: url, apiKey: testKey, headers });
      expect(await main(["connectors", "list", "--debug"], context)).toBe(4);
      const shown = context.stderrText() + context.stdoutText();
      for (const text of ["gate-key", "hidden-login", "a7-pin", "q9z"]) {
        expect(shown).not.toContain(text);
      }
    });

    it("remove no ordinary word, and no address, from names and answers", async () => {
      const { sandbox } = await startTestService({ key: testKey });
      const headers = {
        "X-Team": "Handbook",
        "X-Unit": "Everybody who can sign in",
        Origin: sandbox.url,
      };
      const profile = { baseUrl: sandbox.url, apiKey: testKey, headers };
      const context = contextWith(profile);
      const args = ["connectors", "find", "Handbook uploads"];
      expect(await main(args, context), context.stderrText()).toBe(0);
      const shown = contextWith({ ...profile, ingest: { idPrefix: "Handbook/" } });
      await main(["config", "show"], shown);
      expect(shown.stdoutText()).toContain("Handbook/");
      expect(shown.stdoutText()).toContain(sandbox.url);
      const checked = contextWith(profile);
      await main(["doctor", "--json"], checked);
      expect(checked.stdoutText()).toContain(sandbox.url);
    });

    it("are in the requests of doctor too", async () => {
      const teams: unknown[] = [];
      const { url } = await serve((request, response) => {
        if (request.url?.startsWith("/api") === true) teams.push(request.headers["x-team"]);
        response.writeHead(200, { "content-type": "application/json" }).end("[]");
      });
      const context = contextWith({
        baseUrl: url,
        apiKey: testKey,
        headers: { "X-Team": "a team" },
      });
      await main(["doctor"], context);
      expect(teams.length).toBeGreaterThan(3);
      expect(new Set(teams)).toEqual(new Set(["a team"]));
    });

    it.each([
      [["headers", '{"X-Key":"a-literal-value"}'], "a key cannot be an argument"],
      [["headers.X-Key", "a-literal-value"], "a key cannot be an argument"],
      [["headers.Host", '{"env":"A"}'], "knowctl sets the header Host itself"],
      [["headers.x-team", '{"env":"A"}'], "the header x-team is given twice"],
      [["headers.a b", '{"env":"A"}'], "the name of a header may hold"],
    ])("config set %j is refused", async ([key = "", value = ""], message) => {
      const made = desk({ "X-Team": "a team" });
      const context = createTestContext({ cwd: made.project, env: made.env });
      const line = ["config", "set", `profiles.p.${key}`, value];
      expect(await main(line, context), context.stderrText()).toBe(2);
      expect(context.stderrText()).toContain(message);
      expect(context.stderrText()).not.toContain("a-literal-value");
      expect(context.stderrText()).not.toContain("knowctl login");
    });

    it("that no request can carry are named by config validate", async () => {
      const context = contextWith({ baseUrl: prod, headers: { Host: "x" } });
      expect(await main(["config", "validate"], context)).toBe(3);
      expect(context.stdoutText() + context.stderrText()).toContain("profiles.p.headers.Host");
    });
  });
});

describe("url", () => {
  it.each([
    ["localhost:8787", "write it as http://localhost:8787"],
    [" 127.0.0.1:8787/ ", "write it as http://127.0.0.1:8787/"],
    ["assistant.corp.example", "write it as https://assistant.example.com"],
    ["user:secret@localhost", "write it as https://assistant.example.com"],
  ])("the hint for %j repeats only an address of this machine", (given, hint) => {
    expect(addressHint(given)).toBe(hint);
  });

  describe("parseBaseUrl", () => {
    it.each([
      ["https://a.example", "https://a.example"],
      ["https://a.example/", "https://a.example"],
      ["https://a.example/api", "https://a.example"],
      ["https://a.example/api/", "https://a.example"],
      ["https://a.example/team/x", "https://a.example/team/x"],
      ["https://a.example/team/api//", "https://a.example/team"],
      ["https://a.example/apis", "https://a.example/apis"],
      ["HTTPS://A.Example:443/P", "https://a.example/P"],
      [" http://127.0.0.1:8787 ", "http://127.0.0.1:8787"],
      ["http://[::1]:8787/api", "http://[::1]:8787"],
    ])("%s", (given, expected) => {
      expect(parseBaseUrl(given).baseUrl).toBe(expected);
    });

    it.each([
      ["", "empty"],
      ["a.example", "must begin with"],
      ["ftp://a.example", "must begin with"],
      ["https:a.example", "must begin with"],
      ["https:///a.example", "must begin with"],
      ["https://user:pass@a.example", "user name or password"],
      ["http://localhost@evil.example", "user name or password"],
      ["https://@a.example", "user name or password"],
      ["https://a.example?x=1", "query"],
      ["https://a.example/?", "query"],
      ["https://a.example/#x", "fragment"],
      ["https://a.example/#", "fragment"],
      ["https://a.exa\tmple", "spaces"],
      ["https://a.example\\@evil.example", "backslashes"],
      ["https://a.example:99999", "not a valid URL"],
      ["https://a b", "spaces"],
    ])("refuses %j", (given, why) => {
      expect(() => parseBaseUrl(given)).toThrow(AddressProblem);
      expect(() => parseBaseUrl(given)).toThrow(why);
    });

    it("every result is stable, keeps its origin when joined, and no error repeats the address", () => {
      const part = fc.stringMatching(/^[a-zA-Z0-9:@/?#.\\ %\u00e9-]{0,20}$/);
      fc.assert(
        fc.property(
          fc.constantFrom("https://", "http://", "http:/", ""),
          part,
          part,
          (scheme, host, path) => {
            const given = scheme + host + path;
            let base;
            try {
              base = parseBaseUrl(given);
            } catch (error) {
              expect(error).toBeInstanceOf(AddressProblem);
              const typed = host + path;
              if (typed.length > 12) expect((error as Error).message).not.toContain(typed);
              return;
            }
            expect(parseBaseUrl(`${base.baseUrl}/api`).baseUrl).toBe(base.baseUrl);
            expect(base.baseUrl.endsWith("/")).toBe(false);
            const joined = new URL(`${base.baseUrl}/api/chat/send-chat-message`);
            expect(joined.origin).toBe(base.origin);
            expect(joined.username + joined.password + joined.search + joined.hash).toBe("");
          },
        ),
      );
    });
  });

  describe("isLoopback", () => {
    it.each([
      ["http://localhost", true],
      ["http://LOCALHOST:1", true],
      ["http://127.0.0.1", true],
      ["http://127.8.9.1", true],
      ["http://127.1", true],
      ["http://[::1]", true],
      ["http://[0:0:0:0:0:0:0:1]", true],
      ["http://127.0.0.1.nip.io", false],
      ["http://localhost.example", false],
      ["http://localhost.", false],
      ["http://mylocalhost", false],
      ["http://0.0.0.0", false],
      ["http://128.0.0.1", false],
      ["http://[::ffff:8.8.8.8]", false],
    ])("%s: %s", (url, expected) => {
      expect(isLoopback(parseBaseUrl(url).hostname)).toBe(expected);
    });
  });

  describe("parseProxy", () => {
    it.each([
      ["http://p.example:8080", "http://p.example:8080"],
      ["p.example:8080", "http://p.example:8080"],
      ["https://u:pw@p.example/", "https://u:pw@p.example"],
    ])("%s", (given, expected) => {
      expect(parseProxy(given)).toBe(expected);
    });

    it.each([
      "socks5://p.example",
      "http://",
      "http://p.example/path",
      "http://p.example:x",
      "a b",
      "http://u:secret@p:x",
    ])("refuses %s without repeating it", (given) => {
      expect(() => parseProxy(given)).toThrow(AddressProblem);
      expect(() => parseProxy(given)).not.toThrow(/secret/);
    });
  });

  it.each([
    ["https://u:p@host/x", "https://host/x"],
    ["u:p@host:1", "host:1"],
    ["https://host/x@y", "https://host/x@y"],
    ["https://a@b@host", "https://host"],
    ["https://host/x?token=secret", "https://host/x?***"],
    ["https://host/x#secret", "https://host/x#***"],
    ["https://u:p@host/?a=b@c#d", "https://host/?***"],
    ["https://u:p/q@host/x", "https://host/x"],
    ["https://u:p?q@host", "https://host"],
    ["u:p@host:1?secret", "host:1?***"],
    ["not a url?secret\nline", "not a url?***"],
  ])("withoutCredentials %s", (given, expected) => {
    expect(withoutCredentials(given)).toBe(expected);
  });
});
