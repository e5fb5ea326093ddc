import * as z from "zod/mini";

// Editors show these descriptions from the JSON Schema; see configJsonSchema().
const text = (description: string) => z.string().check(z.minLength(1), z.describe(description));
const flag = (description: string) => z.boolean().check(z.describe(description));
const list = (description: string) =>
  z.array(z.string().check(z.minLength(1))).check(z.describe(description));
const whole = (min: number, max: number, description: string) =>
  z.int().check(z.minimum(min), z.maximum(max), z.describe(description));
const number = (min: number, max: number, description: string) =>
  z.number().check(z.minimum(min), z.maximum(max), z.describe(description));
const choice = <const Values extends readonly [string, ...string[]]>(
  values: Values,
  description: string,
) => z.enum(values).check(z.describe(description));

const largestId = 2 ** 31 - 1;

/** A key, or a reference to it. `command` is allowed in the user file only. */
export const Secret = z
  .union(
    [
      z.string(),
      z.strictObject({ env: text("name of an environment variable") }),
      z.strictObject({ file: text("file that holds the key; relative to this file, or ~/…") }),
      z.strictObject({
        command: z
          .array(z.string())
          .check(z.minLength(1), z.describe("program and arguments that print the key; no shell")),
      }),
    ],
    { error: 'expected a string, {"env": NAME}, {"file": PATH} or {"command": [PROGRAM, …]}' },
  )
  .check(z.describe("a key, or where to find it"));
export type Secret = z.infer<typeof Secret>;

const metadata = z
  .record(z.string(), z.json())
  .check(z.describe("metadata of every document; text or lists of text"));
const sections = choice(["whole", "headings"], "one section, or one per heading of level 1 to 3");
const source = text("source type of the documents (default: file)");
const link = text("link template: {path} {dir} {name} {slug} {id} or a front matter key");
const ccPairId = whole(0, largestId, "connector/credential pair to upload to");

/** Settings of the documents that match one pattern. Later rules win. */
export const IngestRule = z.strictObject({
  match: text("glob, relative to the project root"),
  metadata: z.optional(metadata),
  tags: z.optional(list("tags added to these documents")),
  source: z.optional(source),
  link: z.optional(link),
  sections: z.optional(sections),
  ccPairId: z.optional(ccPairId),
});
export type IngestRule = z.infer<typeof IngestRule>;

const keys = (field: string) => z.optional(list(`front matter keys for the ${field}, first wins`));

const FrontMatterSettings = z.strictObject({
  id: keys("id"),
  title: keys("title"),
  semanticIdentifier: keys("semantic identifier"),
  link: keys("link"),
  source: keys("source type"),
  updatedAt: keys("date of the last update"),
  createdAt: keys("date of the creation, where the dialect has it"),
  owners: keys("primary owners"),
  secondaryOwners: keys("secondary owners"),
  authors: keys("authors, who are primary owners if there are no others"),
  tags: keys("tags"),
});

export const IngestSettings = z.strictObject({
  include: z.optional(list("globs of the files to upload, relative to the project root")),
  exclude: z.optional(list("globs of files to exclude")),
  ignore: z.optional(flag("respect .gitignore and .knowctlignore (default: true)")),
  idPrefix: z.optional(z.string().check(z.describe("prefix of every path-derived id"))),
  source: z.optional(source),
  link: z.optional(link),
  linkStyle: z.optional(
    choice(
      [
        "antora",
        "docusaurus",
        "hugo",
        "jekyll",
        "mkdocs",
        "sphinx",
        "starlight",
        "vitepress",
        "github",
        "obsidian",
        "docfx",
        "myst",
        "quarto",
      ],
      "site whose links documents have",
    ),
  ),
  links: z.optional(
    choice(
      ["rewrite", "keep"],
      "links to other files: the links of their documents, or as written",
    ),
  ),
  linkBase: z.optional(
    z.string().check(z.regex(/^https?:\/\/[^\s/\\]/), z.describe("base address of relative links")),
  ),
  sections: z.optional(sections),
  anchors: z.optional(
    choice(
      [
        "github",
        "docusaurus",
        "kramdown",
        "mkdocs",
        "vitepress",
        "obsidian",
        "myst",
        "quarto",
        "sphinx",
      ],
      "how headings become anchors",
    ),
  ),
  maxSectionChars: z.optional(whole(200, 10_000_000, "split longer sections at paragraphs")),
  metadata: z.optional(metadata),
  tags: z.optional(list("tags of every document")),
  rules: z.optional(z.array(IngestRule).check(z.describe("settings per path; later rules win"))),
  ccPairId: z.optional(ccPairId),
  connector: z.optional(text("name of the connector to upload to, instead of ccPairId")),
  requireAccess: z.optional(
    z
      .array(z.enum(["private", "sync", "public"]))
      .check(z.describe("access types of pairs that may receive documents (default: any)")),
  ),
  accessKeys: z.optional(
    list(
      "front matter keys that seem to restrict who may read a document, for a warning; [] for none",
    ),
  ),
  concurrency: z.optional(whole(1, 256, "most requests in flight (default: 8)")),
  rate: z.optional(number(0.001, 1_000_000, "most documents per second")),
  map: z.optional(
    z
      .record(z.string(), z.string())
      .check(z.describe('columns of rows by field: {"title": "name", "text": "body"}')),
  ),
  drafts: z.optional(flag("also upload documents marked draft: true")),
  allowSecrets: z.optional(
    list("globs of documents to upload with the secrets in them; needs a trusted file"),
  ),
  images: z.optional(choice(["skip", "upload"], "images of the project in the text")),
  updatedAt: z.optional(choice(["git", "mtime"], "source of a missing date")),
  owners: z.optional(choice(["codeowners"], "source of missing owners")),
  componentAttributes: z.optional(
    list(
      "attributes of MDX components whose texts are kept (default: title label description text alt href v)",
    ),
  ),
  generator: z.optional(
    choice(
      // One for each generator of documents/site/generators.ts.
      [
        "antora",
        "docfx",
        "docusaurus",
        "eleventy",
        "hugo",
        "jekyll",
        "jupyterbook",
        "mdbook",
        "mintlify",
        "mkdocs",
        "myst",
        "obsidian",
        "quarto",
        "sphinx",
        "starlight",
        "vitepress",
        "none",
      ],
      "site generator of the pages (default: by its configuration file); none for no generator",
    ),
  ),
  attributes: z.optional(
    z
      .record(z.string(), z.string())
      .check(z.describe("values of attributes and variables that pages use and do not define")),
  ),
  hidden: z.optional(
    choice(
      ["remove", "keep"],
      "comments, hidden elements and scripts of pages; needs a trusted file (default: remove)",
    ),
  ),
  metaCommit: z.optional(flag("add the last commit of each file as metadata source_commit")),
  versionTag: z.optional(
    z
      .union([
        z.boolean(),
        // `config set` tries the text first: no key is called true or false.
        z.string().check(z.regex(/^(?!(?:true|false)$)/), z.minLength(1), z.maxLength(200)),
      ])
      .check(
        z.describe(
          "add the fingerprint of each document as metadata knowctl_version, or under the key named here (default: false)",
        ),
      ),
  ),
  frontMatter: z.optional(FrontMatterSettings),
});
export type IngestSettings = z.infer<typeof IngestSettings>;

const shown = choice(
  ["reasoning", "tools", "documents", "none", "all"],
  "part of the work to show on stderr",
);

export const ChatSettings = z.strictObject({
  personaId: z.optional(z.int().check(z.describe("agent that answers"))),
  projectId: z.optional(whole(0, largestId, "project that scopes the chat")),
  model: z.optional(
    z.string().check(z.regex(/^[^/]+\/.+$/), z.describe("model as PROVIDER/VERSION")),
  ),
  temperature: z.optional(number(0, 2, "randomness of the model")),
  tools: z.optional(
    z.array(z.int()).check(z.describe("ids of the only tools allowed; [] for none")),
  ),
  forceTool: z.optional(z.int().check(z.describe("id of a tool that must run"))),
  sourceTypes: z.optional(list("search only documents of these source types")),
  documentSets: z.optional(list("search only these document sets")),
  tags: z.optional(
    z.record(z.string(), z.string()).check(z.describe("search only documents with these tags")),
  ),
  since: z.optional(text("search only documents newer than this date or duration")),
  deepResearch: z.optional(flag("research at length; uses significantly more tokens")),
  stream: z.optional(flag("stream the answer (default: true)")),
  live: z.optional(flag("write text as it arrives, even if stdout is no terminal")),
  sources: z.optional(flag("list the cited sources after the answer (default: true)")),
  remember: z.optional(
    flag(
      "record sessions on this machine, with the beginning of their first question (default: true)",
    ),
  ),
  render: z.optional(
    choice(
      ["auto", "markdown", "plain"],
      "how answers are rendered (default: Markdown on a terminal)",
    ),
  ),
  show: z.optional(
    z
      .union([z.array(shown), shown], {
        error: "expected reasoning, tools, documents, none, all, or a list",
      })
      .check(z.describe("parts of the work to show on stderr")),
  ),
});
export type ChatSettings = z.infer<typeof ChatSettings>;

export const Profile = z.strictObject({
  baseUrl: z.optional(text("address of the service, with or without /api")),
  dialect: z.optional(choice(["standard", "onyx"], "flavour of the interface (default: standard)")),
  accessToken: z.optional(Secret),
  apiKey: z.optional(Secret),
  headers: z.optional(
    z
      .record(z.string().check(z.regex(/^[!#$%&'*+.^_`|~\w-]+$/)), Secret)
      .check(z.describe("headers of every request, as a gateway wants them; values like keys")),
  ),
  proxy: z.optional(text("proxy URL; else HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY")),
  caFile: z.optional(text("PEM file with more certificate authorities; relative to this file")),
  clientCert: z.optional(text("PEM file with the client certificate; relative to this file")),
  clientKey: z.optional(text("PEM file with its private key (default: the file of clientCert)")),
  clientKeyPassphrase: z.optional(Secret),
  timeout: z.optional(number(0.001, 86_400, "timeout of a response, in seconds")),
  allowHttp: z.optional(flag("send keys over plain http; ignored in a project file")),
  allowInsecureTls: z.optional(
    flag("accept NODE_TLS_REJECT_UNAUTHORIZED=0; ignored outside the user file"),
  ),
  chat: z.optional(ChatSettings),
  ingest: z.optional(IngestSettings),
});
export type Profile = z.infer<typeof Profile>;
export type DialectName = NonNullable<Profile["dialect"]>;

/** Pattern of profile names: users type them in a shell, and they may become file names. */
export const profileName = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/;

const ProfileName = z.string().check(z.regex(profileName), z.describe("name of a profile"));

const ruleLevels = (description: string) =>
  z.record(z.string(), z.enum(["off", "note", "warning", "error"])).check(z.describe(description));

/** The member `lint` of a configuration file. */
export const LintSettings = z.strictObject({
  rules: z.optional(
    ruleLevels("severity of each rule: off, note, warning or error; an error also stops an upload"),
  ),
  staleDays: z.optional(
    whole(1, 36_500, "days that the date of a page may be older than the last commit of its file"),
  ),
  overrides: z.optional(
    z
      .array(
        z.strictObject({
          paths: z
            .array(z.string().check(z.minLength(1)))
            .check(z.minLength(1), z.describe("globs of files, relative to the project root")),
          rules: ruleLevels("severity of each rule for these files"),
        }),
      )
      .check(z.describe("severities per path; later entries win")),
  ),
});
export type LintSettings = z.infer<typeof LintSettings>;

/** The member `state` of a configuration file. */
export const StateSettings = z.strictObject({
  shared: z.optional(
    z.strictObject({
      url: Secret.check(
        z.describe("database with the shared record, as postgres://…; without a password here"),
      ),
      project: text("name of this project in the shared record"),
      leaseSeconds: z.optional(
        whole(
          2,
          3600,
          "with --claim: how long a worker that is gone keeps its documents (default: 60)",
        ),
      ),
    }),
  ),
});
export type StateSettings = z.infer<typeof StateSettings>;

const on = z.optional(
  choice(
    ["failure", "recovery", "change", "always"],
    "which ends of a run: a failure, the first success after one, both changes, or all (default: failure)",
  ),
);

/** The member `notify` of a configuration file. */
export const NotifySettings = z
  .array(
    z.union(
      [
        z.strictObject({
          url: Secret.check(z.describe("address of a web hook; it may hold a token")),
          on,
        }),
        z.strictObject({
          command: z
            .array(z.string())
            .check(
              z.minLength(1),
              z.describe("program and arguments that read the message; in the user file only"),
            ),
          on,
        }),
      ],
      { error: 'expected {"url": URL} or {"command": [PROGRAM, …]}, with "on" if you like' },
    ),
  )
  .check(z.describe("recipients of the result of an upload or a check; needs a trusted file"));
export type NotifySettings = z.infer<typeof NotifySettings>;

/** A configuration file, user or project. Every member is optional; an unknown one is an error. */
export const ConfigContent = z.strictObject({
  $schema: z.optional(z.string().check(z.describe("address of this schema, for editors"))),
  defaultProfile: z.optional(ProfileName),
  profiles: z.optional(z.record(ProfileName, Profile)),
  chat: z.optional(ChatSettings),
  ingest: z.optional(IngestSettings),
  lint: z.optional(LintSettings),
  state: z.optional(StateSettings),
  notify: z.optional(NotifySettings),
});
export type ConfigContent = z.infer<typeof ConfigContent>;

/** JSON Schema (draft 2020-12) of a configuration file; `schema/cliconfig.schema.json` is its text. */
export function configJsonSchema(): Record<string, unknown> {
  const { $schema, ...rest } = z.toJSONSchema(ConfigContent, { io: "input" });
  return {
    $schema,
    title: "knowctl configuration",
    description: "User file (config.json) or project file (.cliconfig.json) of knowctl.",
    ...rest,
  };
}
