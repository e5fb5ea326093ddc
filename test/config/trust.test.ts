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
import { type Desk, createDesk, failureOf } from "./support.ts";
import {
  ChatSettings,
  ConfigContent,
  IngestRule,
  IngestSettings,
  LintSettings,
  Profile,
  StateSettings,
} from "../../src/config/values/schema.ts";
import { projectFolder } from "../support.ts";

describe("trust", () => {
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
      const text = changed.reduce(
        (text, [from, to]) => text.replace(from, to),
        JSON.stringify(file),
      );
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
        expect((await failureOf((await desk.load()).connection())).message).toContain(
          "not trusted",
        );
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
});

describe("untrusted keys", () => {
  // What each key of a configuration does in a project file that nobody trusted. The keys come from
  // the schema itself: a new one fails here until it is decided.

  /** What a command does with a key of an untrusted file: one that sends, and one that sends nothing. */
  const kinds = {
    applies: { sending: "used", looking: "used" },
    stops: { sending: "exit 3", looking: "used" },
    "needs trust": { sending: "exit 3", looking: "named" },
    "left out": { sending: "named", looking: "used" },
    never: { sending: "named", looking: "unused" },
  } as const;

  const words: Readonly<Record<keyof typeof kinds, string>> = {
    applies: `$schema ingest.include ingest.exclude ingest.sections ingest.link ingest.source
    ingest.metadata ingest.rules[].match ingest.rules[].metadata`,
    stops: `defaultProfile profiles.NAME.baseUrl profiles.NAME.dialect profiles.NAME.accessToken
    profiles.NAME.apiKey profiles.NAME.proxy profiles.NAME.caFile profiles.NAME.clientCert
    profiles.NAME.clientKey profiles.NAME.clientKeyPassphrase ingest.idPrefix ingest.ccPairId
    ingest.connector ingest.map ingest.rules[].ccPairId ingest.frontMatter.id`,
    "needs trust": `profiles.NAME.headers ingest.requireAccess ingest.accessKeys ingest.allowSecrets
    ingest.hidden ingest.linkBase ingest.images ingest.versionTag lint.rules lint.staleDays
    lint.overrides state.shared notify`,
    "left out": `profiles.NAME.timeout ingest.ignore ingest.linkStyle ingest.links ingest.anchors
    ingest.maxSectionChars ingest.componentAttributes ingest.generator ingest.attributes ingest.tags ingest.concurrency ingest.rate
    ingest.drafts ingest.updatedAt ingest.owners ingest.metaCommit ingest.rules[].tags
    ingest.rules[].source ingest.rules[].link ingest.rules[].sections ingest.frontMatter.title
    ingest.frontMatter.semanticIdentifier ingest.frontMatter.link ingest.frontMatter.source
    ingest.frontMatter.updatedAt ingest.frontMatter.createdAt ingest.frontMatter.owners
    ingest.frontMatter.secondaryOwners ingest.frontMatter.authors ingest.frontMatter.tags
    chat.personaId chat.projectId chat.model chat.temperature chat.tools chat.forceTool
    chat.sourceTypes chat.documentSets chat.tags chat.since chat.deepResearch chat.stream chat.live
    chat.sources chat.remember chat.render chat.show`,
    never: "profiles.NAME.allowHttp profiles.NAME.allowInsecureTls",
  };

  const kindOf = new Map(
    Object.entries(words).flatMap(([kind, text]) =>
      text.split(/\s+/).map((key) => [key, kind as keyof typeof kinds] as const),
    ),
  );

  const groups = {
    "": ConfigContent,
    "profiles.NAME.": Profile,
    "ingest.": IngestSettings,
    "ingest.rules[].": IngestRule,
    "ingest.frontMatter.": IngestSettings.shape.frontMatter._zod.def.innerType,
    "chat.": ChatSettings,
    "lint.": LintSettings,
    "state.": StateSettings,
  };
  const parents =
    "profiles profiles.NAME.ingest profiles.NAME.chat ingest chat lint state ingest.rules";
  const isParent = new Set([...parents.split(" "), "ingest.frontMatter"]);
  const keys = Object.entries(groups)
    .flatMap(([prefix, group]) => Object.keys(group.shape).map((key) => prefix + key))
    .filter((key) => !isParent.has(key));

  const examples = {
    ...(JSON.parse(
      readFileSync(join(projectFolder, "scripts/config-examples.json"), "utf8"),
    ) as Record<string, unknown>),
    defaultProfile: "other",
    notify: [{ url: { env: "TEAM_HOOK" }, on: "change" }],
    "state.shared": { url: { env: "KNOWCTL_STATE_URL" }, project: "handbook" },
    "lint.overrides": [{ paths: ["docs/**"], rules: { "secret-key": "off" } }],
  };

  /** A file that sets one key, as its example does. `match` is what every rule must have. */
  function contentWith(key: string): object {
    return key
      .replace("NAME", "mine")
      .split(".")
      .reduceRight<unknown>(
        (value, name) => {
          if (!name.endsWith("[]")) return { [name]: value };
          return { [name.slice(0, -2)]: [{ match: "docs/**", ...(value as object) }] };
        },
        examples[key as keyof typeof examples],
      ) as object;
  }

  /** What a file says is judged alike wherever it stands: of each kind, the first key tells it of the others. */
  const firsts = [...kindOf].filter(
    ([, kind], index, all) => all.findIndex(([, each]) => each === kind) === index,
  );
  const places = [
    [".cliconfig.json", [...kindOf]],
    [".cliconfig.yaml", firsts],
    ["package.json", firsts],
  ] as const;
  const textIn = (place: string, content: object): object =>
    place === "package.json" ? { name: "x", cliconfig: content } : content;

  async function load(
    content: object,
    place: string,
    { sends, trusted }: { sends: boolean; trusted: boolean },
    desk = createDesk(trusted ? { KNOWCTL_TRUST_PROJECT: "1" } : {}),
  ) {
    desk.warnings.length = 0;
    const profile = { baseUrl: "https://mine.example", apiKey: "key-of-the-user" };
    desk.putUser({ defaultProfile: "mine", profiles: { mine: profile, other: profile } });
    desk.put(place, textIn(place, content));
    return { desk, config: await desk.load({ sends }) };
  }
  type Loaded = Awaited<ReturnType<typeof load>>;

  function isUsed(key: string, { config }: Loaded): boolean {
    if (key === "$schema") return true;
    if (key === "defaultProfile") return config.profile === "other";
    const path = key.replace("profiles.NAME.", "").replace("[]", ".0").split(".");
    const found = path.reduce<unknown>(
      (value, name) => (value as Record<string, unknown> | undefined)?.[name],
      config.values,
    );
    return JSON.stringify(found) === JSON.stringify(examples[key as keyof typeof examples]);
  }

  const shownKey = (key: string): string => key.replace("NAME", "mine").replace("[]", "[0]");

  /** What the loaded configuration did with the key, in the words of `kinds`. */
  async function fateOf(key: string, loaded: Loaded, sends: boolean): Promise<string> {
    const { config, desk } = loaded;
    if (sends && config.refused) {
      const failure = await failureOf(config.connection());
      expect(failure.exit).toBe("not-configured");
      expect(failure.whole).toContain(`${shownKey(key)}: `);
      // The refusal is the only word about it.
      expect(desk.warnings).toEqual([]);
      return "exit 3";
    }
    if (sends) await config.connection();
    if (isUsed(key, loaded)) {
      expect(desk.warnings).toEqual([]);
      return "used";
    }
    if (desk.warnings.length === 0) return "unused";
    expect(desk.warnings).toHaveLength(1);
    const [, named = ""] = /ignored: (.*); trust it once/.exec(desk.warnings[0]!) ?? [];
    const isNamed = named.split(", ").some((each) => shownKey(key).startsWith(each));
    return isNamed ? "named" : `not named: ${named}`;
  }

  it("decides about every key of the schema, and none besides", () => {
    expect([...kindOf.keys()].toSorted()).toEqual(keys.toSorted());
  });

  describe.each(places)("in an untrusted %s", (place, asked) => {
    it.each(asked)("%s: %s", async (key, kind) => {
      const desk = createDesk();
      for (const sends of [true, false]) {
        const loaded = await load(contentWith(key), place, { sends, trusted: false }, desk);
        expect(await fateOf(key, loaded, sends)).toBe(kinds[kind][sends ? "sending" : "looking"]);
      }
    });
  });

  describe("in a trusted file", () => {
    it.each([...kindOf])("%s counts, unless it never does (%s)", async (key, kind) => {
      const desk = createDesk({ KNOWCTL_TRUST_PROJECT: "1" });
      for (const sends of [true, false]) {
        const how = { sends, trusted: true };
        const loaded = await load(contentWith(key), ".cliconfig.json", how, desk);
        expect(loaded.config.refused).toBeUndefined();
        expect(isUsed(key, loaded)).toBe(kind !== "never");
        expect(loaded.desk.warnings).toEqual([]);
      }
    });
  });

  describe("of another profile", () => {
    const ofProfile = [...kindOf].filter(([key]) => /^(?:profiles|ingest)\./.test(key));

    it.each(ofProfile)("%s is decided alike: %s", async (key, kind) => {
      const file = contentWith(key) as { profiles?: { mine: object } };
      const content = { profiles: { unused: file.profiles?.mine ?? file } };
      const desk = createDesk();
      const place = ".cliconfig.json";
      const sending = await load(content, place, { sends: true, trusted: false }, desk);
      const stops = kinds[kind].sending === "exit 3";
      expect(sending.config.refused !== undefined).toBe(stops);
      expect(sending.desk.warnings).toHaveLength(stops ? 0 : 1);
      const looking = await load(content, place, { sends: false, trusted: false }, desk);
      expect(looking.desk.warnings).toHaveLength(kind === "needs trust" ? 1 : 0);
    });
  });

  describe("trust that was remembered", () => {
    it.each([...kindOf])(
      "does not cover %s that came later, if it matters: %s",
      async (key, kind) => {
        const content = contentWith(key) as { profiles?: { mine: object } };
        const bare = { mine: {}, unused: {} };
        const inUse = { ...content, profiles: { ...bare, ...content.profiles } };
        const unused = { profiles: { ...bare, unused: content.profiles?.mine ?? content } };
        const isOfProfile = /^(?:profiles|ingest)\./.test(key);
        const place = ".cliconfig.json";
        const { desk } = await load({ profiles: bare }, place, { sends: false, trusted: false });
        const { files } = await desk.load({ sends: false });
        const machine = createMachine({ env: desk.env, uid: userInfo().uid, home: desk.home });
        await rememberTrust(files[0]!, machine);
        expect((await desk.load()).files[0]!.trusted).toBe(true);
        for (const later of isOfProfile ? [inUse, unused] : [inUse]) {
          desk.put(place, later);
          const stillTrusted = kinds[kind].sending !== "exit 3";
          expect((await desk.load()).files[0]!.trusted).toBe(stillTrusted);
        }
      },
    );
  });

  describe("what a flag or variable gives", () => {
    const mixed = { ingest: { ccPairId: 5, images: "upload", drafts: true } };
    const given = { ccPairId: 2, images: "skip" } as object;

    it("needs no trust, and the rest is named", async () => {
      const { desk } = await load(mixed, ".cliconfig.json", { sends: false, trusted: false });
      expect(desk.warnings.splice(0)).toEqual([expect.stringContaining("ignored: ingest.images;")]);
      await desk.load({ sends: false, flags: given });
      expect(desk.warnings).toEqual([]);
      const config = await desk.load({ flags: given });
      await config.connection();
      expect(config.ingest).toEqual({});
      expect(desk.warnings).toEqual([expect.stringContaining("ignored: ingest.drafts;")]);
    });

    it("leaves the pair of a rule to be trusted", async () => {
      const content = { ingest: { rules: [{ match: "hr/**", ccPairId: 5 }] } };
      const { desk } = await load(content, ".cliconfig.json", { sends: false, trusted: false });
      const failure = await failureOf((await desk.load({ flags: given })).connection());
      expect(failure.details).toEqual(["ingest.rules[0].ccPairId: 5 for hr/**"]);
    });

    it("is a key in a variable, in place of the reference to one", async () => {
      const content = { profiles: { mine: { apiKey: { env: "AWS_SECRET" } } } };
      const { desk } = await load(content, ".cliconfig.json", { sends: false, trusted: false });
      Object.assign(desk.env, { KNOWCTL_API_KEY: "key-of-the-run", AWS_SECRET: "stolen" });
      expect((await (await desk.load()).connection()).apiKey).toBe("key-of-the-run");
    });
  });
});
