import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  ChatSettings,
  ConfigContent,
  IngestRule,
  IngestSettings,
  Profile,
  LintSettings,
  StateSettings,
} from "../../src/config/values/schema.ts";
import { projectFolder } from "../support.ts";
import {
  expectDifference,
  play,
  useSandboxes,
  type Difference,
  type Setting,
  type TestedElsewhere,
  answerLines,
  latePath,
} from "./flags/play.ts";
import { folder, privateKey } from "./flags/mapping.ts";

interface Effective extends Omit<Setting, "config"> {
  command: string;
  /** With the key; `base` is the configuration without it. */
  config: object;
  base?: object;
  stdout?: Difference;
  stderr?: Difference;
  requests?: Difference;
  waits?: Difference;
  left?: Difference;
  codes?: readonly [without: number, with_: number];
}

/** What a key of the configuration must be seen to do. */
export type KeyCase = Effective | TestedElsewhere;

const pair = "--cc-pair-id 2";
const chat = (value: object, gains: RegExp, more: Partial<Effective> = {}): Effective => ({
  command: "chat hello",
  config: { chat: value },
  requests: { gains },
  ...more,
});
const explain = (value: object, gains: RegExp, more: Partial<Effective> = {}): Effective => ({
  files: folder,
  command: "explain docs/a.md --json",
  config: { ingest: value },
  stdout: { gains },
  ...more,
});
const recording = [
  { knowctl: "recording", version: 1 },
  ...answerLines.map((line, index) => ({ atMs: index, line })),
];
const played: Partial<Effective> = {
  files: { "r.ndjson": recording.map((each) => `${JSON.stringify(each)}\n`).join("") },
  command: "chat --replay r.ndjson",
  requests: {},
};
const matter = (line: string) => ({ files: { "docs/a.md": `---\n${line}\n---\n# A\n\ntext\n` } });
const rule = (value: object, gains: RegExp, more: Partial<Effective> = {}): Effective =>
  explain({ rules: [{ match: "docs/**", ...value }] }, gains, more);
const profile = (value: object, more: Partial<Effective>): Effective => ({
  command: "connectors list",
  base: { profiles: { default: {} } },
  config: { profiles: { default: value } },
  ...more,
});
const noAddress = { KNOWCTL_BASE_URL: "" };
const connection = { tested: "test/config/connection.test.ts" };
const headings = { sections: "headings", link: "https://x.example/{path}" };

const configCases: Readonly<Record<string, KeyCase>> = {
  $schema: { tested: "test/config/parse.test.ts" },
  defaultProfile: {
    command: "config show --json",
    base: { profiles: { a: { timeout: 7 }, default: {} } },
    config: { defaultProfile: "a", profiles: { a: { timeout: 7 }, default: {} } },
    stdout: { gains: /"timeout": 7/ },
  },
  "profile.baseUrl": profile({ baseUrl: "http://127.0.0.1:9" }, { env: noAddress, codes: [3, 5] }),
  "profile.dialect": profile(
    { dialect: "onyx" },
    {
      env: { KNOWCTL_DIALECT: "" },
      command: "agents list",
      codes: [9, 9],
      requests: { gains: /persona/ },
    },
  ),
  "profile.accessToken": profile(
    { accessToken: { env: "HERE" } },
    { env: { KNOWCTL_API_KEY: "", HERE: "wrong-key-here" }, codes: [3, 4] },
  ),
  "profile.apiKey": profile(
    { apiKey: { env: "HERE" } },
    { env: { KNOWCTL_API_KEY: "", HERE: "wrong-key-here" }, codes: [3, 4] },
  ),
  "profile.headers": profile(
    { headers: { "X-Onyx-Authorization": { env: "HERE" } } },
    { env: { HERE: "Bearer wrong-key-here" }, dialect: "onyx", codes: [0, 4] },
  ),
  "profile.proxy": profile(
    { proxy: "http://127.0.0.1:10" },
    {
      env: { KNOWCTL_BASE_URL: "https://service.example", HTTPS_PROXY: "http://127.0.0.1:9" },
      codes: [5, 5],
      stderr: { gains: /127\.0\.0\.1:10/ },
    },
  ),
  "profile.caFile": profile({ caFile: "none.pem" }, { codes: [0, 3] }),
  "profile.clientCert": profile({ clientCert: "none.pem" }, { codes: [0, 3] }),
  "profile.clientKey": profile({ clientKey: "none.pem" }, { codes: [0, 3] }),
  "profile.clientKeyPassphrase": { tested: "test/e2e/network/certificates.test.ts" },
  "profile.timeout": profile(
    { timeout: 0.1 },
    { dialect: "onyx", command: `api ${latePath}`, codes: [0, 7] },
  ),
  "profile.allowHttp": connection,
  "profile.allowInsecureTls": connection,
  "ingest.include": {
    files: folder,
    command: "convert",
    config: { ingest: { include: ["docs/a.md"] } },
    codes: [2, 0],
    stdout: { gains: /docs\/a\.md/ },
  },
  "ingest.exclude": {
    files: folder,
    command: "convert docs",
    config: { ingest: { exclude: ["docs/b.md"] } },
    stdout: { loses: /docs\/b\.md/ },
  },
  "ingest.ignore": {
    files: folder,
    command: "convert docs hidden",
    config: { ingest: { ignore: false } },
    stdout: { gains: /hidden\/h\.md/ },
  },
  "ingest.idPrefix": explain({ idPrefix: "kb/" }, /"id": "kb\/docs\/a\.md"/),
  "ingest.source": explain({ source: "web" }, /"source": "web"/),
  "ingest.link": explain({ link: "https://x.example/{path}" }, /https:\/\/x\.example\/docs\/a\.md/),
  "ingest.linkStyle": explain(
    { linkStyle: "mkdocs", linkBase: "https://x.example" },
    /"https:\/\/x\.example\/a\/"/,
    { base: { ingest: { linkBase: "https://x.example" } } },
  ),
  "ingest.linkBase": explain(
    { link: "{path}", linkBase: "https://x.example/" },
    /https:\/\/x\.example\/docs/,
  ),
  "ingest.links": explain({ link: "https://x.example/{path}", links: "keep" }, /\[b\]\(b\.md\)/, {
    base: { ingest: { link: "https://x.example/{path}" } },
  }),
  "ingest.sections": explain({ sections: "headings" }, /Alpha > Größe/),
  "ingest.anchors": explain({ ...headings, anchors: "mkdocs" }, /#gro(?:sse|e|%C3%9Fe)/, {
    base: { ingest: headings },
  }),
  "ingest.maxSectionChars": explain(
    { maxSectionChars: 300 },
    /"text": "A sent[^]*"text": "A sent/,
    { command: "explain docs/b.md --json" },
  ),
  "ingest.componentAttributes": explain({ componentAttributes: ["heading"] }, /"text": "Beta\\n/, {
    files: { "docs/c.mdx": '<Card heading="Beta" />\n' },
    command: "explain docs/c.mdx --json",
  }),
  "ingest.generator": explain({ generator: "hugo" }, /"site": "Hugo"/),
  "ingest.attributes": explain({ attributes: { product: "Beta" } }, /"text": "Use Beta/, {
    files: { "docs/c.adoc": "Use {product}\n" },
    command: "explain docs/c.adoc --json",
  }),
  "ingest.hidden": explain({ hidden: "keep" }, /"text": "[^"]*inside/, {
    files: { "docs/c.md": "A <!-- inside -->\n" },
    command: "explain docs/c.md --json",
  }),
  "ingest.metadata": explain({ metadata: { team: "people" } }, /"team": "people"/),
  "ingest.tags": explain({ tags: ["hr"] }, /"tags": \[\s*"hr"/),
  "ingest.ccPairId": {
    files: folder,
    command: "ingest docs",
    config: { ingest: { ccPairId: 2 } },
    codes: [2, 0],
  },
  "ingest.connector": {
    files: folder,
    command: "ingest docs",
    config: { ingest: { connector: "Handbook uploads" } },
    codes: [2, 0],
  },
  "ingest.requireAccess": {
    files: folder,
    command: `ingest docs ${pair}`,
    config: { ingest: { requireAccess: ["private"] } },
    codes: [0, 2],
    requests: { loses: /"document"/ },
  },
  "ingest.accessKeys": {
    ...matter("audience: staff"),
    command: `ingest docs ${pair}`,
    config: { ingest: { accessKeys: ["audience"] } },
    stderr: { gains: /says? who may read \(audience/ },
  },
  "ingest.allowSecrets": {
    files: { "docs/a.md": `# A\n\n${privateKey}` },
    command: `ingest docs ${pair}`,
    config: { ingest: { allowSecrets: ["docs/**"] } },
    codes: [10, 0],
    requests: { gains: /MIIEpAIBAAKCAQEA/ },
  },
  "lint.rules": {
    files: { "docs/a.md": "# A\n\nShort.\n" },
    command: "lint docs/a.md --rule tiny",
    config: { lint: { rules: { tiny: "error" } } },
    codes: [0, 13],
  },
  notify: { tested: "test/commands/outcome/notify.test.ts" },
  "state.shared": { tested: "test/commands/state/shared.test.ts" },
  "lint.staleDays": { tested: "test/commands/lint/lint.test.ts" },
  "lint.overrides": {
    files: { "docs/a.md": "# A\n\nShort.\n" },
    command: "lint docs/a.md --rule tiny",
    config: { lint: { overrides: [{ paths: ["docs/**"], rules: { tiny: "error" } }] } },
    codes: [0, 13],
  },
  "ingest.map": {
    files: folder,
    command: `ingest rows.csv ${pair}`,
    config: { ingest: { map: { title: "name", text: "notes" } } },
    codes: [10, 0],
    requests: { gains: /"title":"Pen"/ },
  },
  "ingest.concurrency": {
    files: Object.fromEntries(
      Array.from({ length: 8 }, (_, index) => [`docs/${index}.md`, `# N ${index}\n\ntext\n`]),
    ),
    command: `ingest docs ${pair}`,
    config: { ingest: { concurrency: 1 } },
    requests: { loses: /in flight: [2-9]/ },
  },
  "ingest.rate": {
    files: folder,
    command: `ingest docs ${pair}`,
    config: { ingest: { rate: 2 } },
    waits: { gains: /\d{3}/ },
  },
  "ingest.drafts": {
    files: folder,
    command: "convert draft.md",
    config: { ingest: { drafts: true } },
    stdout: { gains: /Draft body/ },
  },
  "ingest.images": explain({ images: "upload" }, /image_file_id/),
  "ingest.updatedAt": explain({ updatedAt: "git" }, /"doc_updated_at": "2020-01-01/, { git: true }),
  "ingest.owners": explain({ owners: "codeowners" }, /owner@example\.com/),
  "ingest.metaCommit": explain({ metaCommit: true }, /source_commit/, { git: true }),
  "ingest.versionTag": explain({ versionTag: true }, /"knowctl_version": "[\w-]{22}"/),
  "ingest.rules.match": rule({ tags: ["hr"] }, /"tags": \[\s*"hr"/, {
    base: { ingest: { rules: [{ match: "other/**", tags: ["hr"] }] } },
  }),
  "ingest.rules.metadata": rule({ metadata: { team: "people" } }, /"team": "people"/),
  "ingest.rules.tags": rule({ tags: ["hr"] }, /"tags": \[\s*"hr"/),
  "ingest.rules.source": rule({ source: "web" }, /"source": "web"/),
  "ingest.rules.link": rule({ link: "https://x.example/{path}" }, /https:\/\/x\.example/),
  "ingest.rules.sections": rule({ sections: "headings" }, /Alpha > Größe/),
  "ingest.rules.ccPairId": rule({ ccPairId: 7 }, /"target": 7/),
  "ingest.frontMatter.id": explain(
    { frontMatter: { id: ["key"] } },
    /"id": "mine"/,
    matter("key: mine"),
  ),
  "ingest.frontMatter.title": explain(
    { frontMatter: { title: ["key"] } },
    /"semantic_identifier": "Mine"/,
    matter("key: Mine"),
  ),
  "ingest.frontMatter.semanticIdentifier": explain(
    { frontMatter: { semanticIdentifier: ["key"] } },
    /"semantic_identifier": "Mine"/,
    matter("key: Mine"),
  ),
  "ingest.frontMatter.link": explain(
    { frontMatter: { link: ["key"] } },
    /"link": "https:\/\/m\.example"/,
    matter("key: https://m.example"),
  ),
  "ingest.frontMatter.source": explain(
    { frontMatter: { source: ["key"] } },
    /"source": "web"/,
    matter("key: web"),
  ),
  "ingest.frontMatter.updatedAt": explain(
    { frontMatter: { updatedAt: ["key"] } },
    /"doc_updated_at": "2020/,
    matter("key: 2020-01-01"),
  ),
  "ingest.frontMatter.createdAt": explain(
    { frontMatter: { createdAt: ["key"] } },
    /"doc_created_at": "2020/,
    { ...matter("key: 2020-01-01"), dialect: "onyx" },
  ),
  "ingest.frontMatter.owners": explain(
    { frontMatter: { owners: ["key"] } },
    /"primary_owners"/,
    matter("key: a@example.com"),
  ),
  "ingest.frontMatter.secondaryOwners": explain(
    { frontMatter: { secondaryOwners: ["key"] } },
    /"secondary_owners"/,
    matter("key: a@example.com"),
  ),
  "ingest.frontMatter.authors": explain(
    { frontMatter: { authors: ["key"] } },
    /"primary_owners"/,
    matter("key: a@example.com"),
  ),
  "ingest.frontMatter.tags": explain(
    { frontMatter: { tags: ["key"] } },
    /"tags": \[\s*"hr"/,
    matter("key: [hr]"),
  ),
  "chat.personaId": chat({ personaId: 0 }, /"persona_id":0/),
  "chat.projectId": chat({ projectId: 4 }, /"project_id":4/),
  "chat.model": chat({ model: "Acme/large" }, /"model_provider":"Acme"/),
  "chat.temperature": chat({ temperature: 0.5 }, /"temperature":0\.5/),
  "chat.tools": chat({ tools: [1] }, /"allowed_tool_ids":\[1\]/),
  "chat.forceTool": chat({ forceTool: 2 }, /"forced_tool_id":2/),
  "chat.sourceTypes": chat({ sourceTypes: ["web"] }, /"source_type":\["web"\]/),
  "chat.documentSets": chat({ documentSets: ["Handbook"] }, /"document_set":\["Handbook"\]/),
  "chat.tags": chat({ tags: { team: "a" } }, /"tags":\{"team":"a"\}/),
  "chat.since": chat({ since: "2026-01-31" }, /"time_cutoff":"2026-01-31/),
  "chat.deepResearch": chat({ deepResearch: true }, /"deep_research":true/),
  "chat.stream": chat({ stream: false }, /"stream":false/),
  "chat.live": chat({ live: true }, /never/, {
    ...played,
    stdout: { gains: /Let me look that up/ },
  }),
  "chat.sources": chat({ sources: false }, /never/, {
    ...played,
    stderr: { loses: /\[1\] Leave/ },
  }),
  "chat.remember": chat({ remember: false }, /never/, {
    requests: {},
    after: "sessions list --local",
    stdout: { loses: /hello/ },
  }),
  "chat.render": chat({ render: "plain" }, /never/, {
    ...played,
    isTTY: true,
    env: { FORCE_COLOR: "1" },
    stdout: { gains: /\*\*manager/ },
  }),
  "chat.show": chat({ show: "none" }, /never/, {
    ...played,
    stderr: { loses: /They ask about leave/ },
  }),
};

// Every key of a configuration has its effect: the keys come from the schema itself, so that a new
// one fails here until it has a case.
useSandboxes();

const frontMatter = IngestSettings.shape.frontMatter._zod.def.innerType;
const groups = {
  "": ConfigContent,
  "profile.": Profile,
  "ingest.": IngestSettings,
  "ingest.rules.": IngestRule,
  "ingest.frontMatter.": frontMatter,
  "chat.": ChatSettings,
  "lint.": LintSettings,
  "state.": StateSettings,
};
/** Groups of others, whose members are listed themselves. */
const isGroup = new Set([
  "profiles",
  "ingest",
  "chat",
  "lint",
  "state",
  "profile.ingest",
  "profile.chat",
  "ingest.frontMatter",
  "ingest.rules",
]);
const keys = Object.entries(groups)
  .flatMap(([prefix, group]) => Object.keys(group.shape).map((key) => `${prefix}${key}`))
  .filter((key) => !isGroup.has(key));

it("has a case for each key, and none for a key that does not exist", () => {
  const missing = keys.filter((key) => configCases[key] === undefined);
  expect(missing, "add a case for each to this file").toEqual([]);
  expect(Object.keys(configCases).filter((key) => !keys.includes(key))).toEqual([]);
});

describe("has its effect:", () => {
  it.each(Object.entries(configCases))("%s", async (key, given: KeyCase) => {
    if ("tested" in given) {
      const text = readFileSync(join(projectFolder, given.tested), "utf8");
      return expect(text).toContain(key.split(".").at(-1));
    }
    const { command, config, base = {}, codes = [0, 0], ...setting } = given;
    const without = await play(command, "", { ...setting, config: base });
    const with_ = await play(command, "", { ...setting, config });
    const told = `${key}\nwithout: ${without.stderr}\nwith: ${with_.stderr}`;
    expect([without.code, with_.code], told).toEqual(codes);
    for (const kind of ["stdout", "stderr", "requests", "waits", "left"] as const) {
      expectDifference(without, with_, kind, given[kind] ?? {});
    }
  });
});
