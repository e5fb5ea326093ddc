import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createMachine } from "../../src/config/find/folders.ts";
import { rememberTrust } from "../../src/config/trust.ts";
import {
  LintSettings,
  ChatSettings,
  ConfigContent,
  IngestRule,
  IngestSettings,
  Profile,
} from "../../src/config/values/schema.ts";
import { projectFolder } from "../support.ts";
import { createDesk, failureOf } from "./support.ts";

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
    lint.overrides`,
  "left out": `profiles.NAME.timeout ingest.ignore ingest.linkStyle ingest.links ingest.anchors
    ingest.maxSectionChars ingest.componentAttributes ingest.tags ingest.concurrency ingest.rate
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
};
const parents = "profiles profiles.NAME.ingest profiles.NAME.chat ingest chat lint ingest.rules";
const isParent = new Set([...parents.split(" "), "ingest.frontMatter"]);
const keys = Object.entries(groups)
  .flatMap(([prefix, group]) => Object.keys(group.shape).map((key) => prefix + key))
  .filter((key) => !isParent.has(key));

const examples = {
  ...(JSON.parse(
    readFileSync(join(projectFolder, "scripts/config-examples.json"), "utf8"),
  ) as Record<string, unknown>),
  defaultProfile: "other",
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

const places = [".cliconfig.json", ".cliconfig.yaml", "package.json"];
const textIn = (place: string, content: object): object =>
  place === "package.json" ? { name: "x", cliconfig: content } : content;

async function load(
  content: object,
  place: string,
  { sends, trusted }: { sends: boolean; trusted: boolean },
) {
  const desk = createDesk(trusted ? { KNOWCTL_TRUST_PROJECT: "1" } : {});
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

describe.each(places)("in an untrusted %s", (place) => {
  it.each([...kindOf])("%s: %s", async (key, kind) => {
    for (const sends of [true, false]) {
      const loaded = await load(contentWith(key), place, { sends, trusted: false });
      expect(await fateOf(key, loaded, sends)).toBe(kinds[kind][sends ? "sending" : "looking"]);
    }
  });
});

describe("in a trusted file", () => {
  it.each([...kindOf])("%s counts, unless it never does (%s)", async (key, kind) => {
    for (const sends of [true, false]) {
      const loaded = await load(contentWith(key), ".cliconfig.json", { sends, trusted: true });
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
    const sending = await load(content, ".cliconfig.json", { sends: true, trusted: false });
    const stops = kinds[kind].sending === "exit 3";
    expect(sending.config.refused !== undefined).toBe(stops);
    expect(sending.desk.warnings).toHaveLength(stops ? 0 : 1);
    const looking = await load(content, ".cliconfig.json", { sends: false, trusted: false });
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
      for (const later of isOfProfile ? [inUse, unused] : [inUse]) {
        const place = ".cliconfig.json";
        const { desk } = await load({ profiles: bare }, place, { sends: false, trusted: false });
        const { files } = await desk.load({ sends: false });
        const machine = createMachine({ env: desk.env, uid: userInfo().uid, home: desk.home });
        await rememberTrust(files[0]!, machine);
        expect((await desk.load()).files[0]!.trusted).toBe(true);
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
