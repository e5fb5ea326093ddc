import { existsSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { CliError } from "../errors.ts";
import { checkPrivate, refuseSpecial, writeWhole, whileLocked } from "./file/files.ts";
import type { ParsedFile } from "./file/parse.ts";
import { dotted, whereIs, type Path } from "./file/problems.ts";
import { stateFolder, type Machine } from "./find/folders.ts";
import { isSecretName } from "./values/members.ts";
import type { ConfigContent, NotifySettings, Secret, StateSettings } from "./values/schema.ts";
import { withoutCredentials } from "./values/url.ts";

/**
 * What happens to a setting of an untrusted project file:
 *
 * | fate        | in a command that sends      | in one that sends nothing |
 * |-------------|------------------------------|---------------------------|
 * | applies     | it applies                   | it applies                |
 * | ignored     | it is ignored with a warning | it applies                |
 * | stops       | the command stops            | it applies                |
 * | needs trust | the command stops            | it is ignored with a warning |
 */
type Fate = "applies" | "ignored" | "stops" | "needs trust";

/**
 * Settings by their fate. Any other shapes ids or the target and stops, also an unknown key of a later
 * version. What needs trust decides what checks find, what a document says, or which files are sent
 * with it: a checkout must not switch off the rules that it is checked by.
 */
const fates = new Map<string, Fate>(
  Object.entries({
    applies: `$schema ingest.include ingest.exclude ingest.sections ingest.link ingest.source
      ingest.metadata ingest.rules.match ingest.rules.metadata`,
    ignored: `chat profiles.timeout profiles.allowHttp profiles.allowInsecureTls
      ingest.ignore ingest.drafts ingest.concurrency ingest.rate ingest.linkStyle ingest.links
      ingest.anchors ingest.maxSectionChars ingest.tags ingest.updatedAt ingest.owners
      ingest.metaCommit ingest.componentAttributes ingest.generator ingest.attributes ingest.rules.tags ingest.rules.source
      ingest.rules.link ingest.rules.sections ingest.frontMatter.title
      ingest.frontMatter.semanticIdentifier ingest.frontMatter.link ingest.frontMatter.source
      ingest.frontMatter.tags ingest.frontMatter.updatedAt ingest.frontMatter.createdAt
      ingest.frontMatter.owners ingest.frontMatter.secondaryOwners ingest.frontMatter.authors`,
    "needs trust": `profiles.headers ingest.allowSecrets ingest.requireAccess ingest.accessKeys
      ingest.hidden ingest.linkBase ingest.images ingest.versionTag lint.rules lint.staleDays
      lint.overrides state.shared notify`,
  }).flatMap(([fate, keys]) => keys.split(/\s+/).map((key) => [key, fate as Fate])),
);

/** Objects and lists whose members are settings of their own; the names of profiles and the numbers of rules left out. */
const groups = new Set([
  "",
  "profiles",
  "ingest",
  "ingest.rules",
  "ingest.frontMatter",
  "lint",
  "state",
]);

/** A setting of a file. */
interface Setting {
  path: Path;
  value: unknown;
  fate: Fate;
  /** Of a rule: its glob. */
  match?: string;
}

/** Name of a setting in the table: without the name of its profile and the numbers of rules. */
function nameOf(path: Path): string {
  const words = path.filter((step) => typeof step === "string");
  if (words[0] !== "profiles") return words.join(".");
  const [member = "", ...rest] = words.slice(2);
  const isShared = member === "chat" || member === "ingest";
  return [isShared ? "" : "profiles", member, ...rest].filter(Boolean).join(".");
}

function fateOf(path: Path, value: unknown): Fate {
  const isProfile = path[0] === "profiles";
  // A key that is text goes to the address beside it alone, which stops by itself.
  if (isProfile && isSecretName(String(path[2])) && typeof value === "string") return "ignored";
  const fate = fates.get(nameOf(path)) ?? "stops";
  // No profile of an untrusted file is used.
  return isProfile && fate === "applies" ? "ignored" : fate;
}

/** The settings at and below a path of a file, of all its profiles too. */
function settingsOf(value: unknown, path: Path = [], match?: string): Setting[] {
  if (value === undefined) return [];
  if (!groups.has(nameOf(path))) {
    return [{ path, value, fate: fateOf(path, value), ...(match !== undefined && { match }) }];
  }
  const rule = typeof path.at(-1) === "number" ? (value as { match: string }).match : match;
  return Object.entries(value as object).flatMap(([key, each]) =>
    settingsOf(each, [...path, Array.isArray(value) ? Number(key) : key], rule),
  );
}

function without(content: ConfigContent, settings: readonly Setting[]): ConfigContent {
  const copy = structuredClone(content);
  for (const { path } of settings) {
    const holder = path
      .slice(0, -1)
      .reduce<unknown>((value, step) => (value as Record<string, unknown>)[step], copy);
    delete (holder as Record<string, unknown>)[String(path.at(-1))];
  }
  return copy;
}

/** The part of an untrusted file that applies, and the dotted keys of what does not. */
export interface Restricted {
  content: ConfigContent;
  dropped: string[];
}

/** For a command that sends requests: no profile of the file is used. */
export function restrictContent(content: ConfigContent): Restricted {
  const dropped = settingsOf(content).filter(({ fate }) => fate !== "applies");
  const { ingest } = without(content, dropped);
  if (ingest) delete ingest.frontMatter;
  return { content: ingest ? { ingest } : {}, dropped: dropped.map(({ path }) => dotted(path)) };
}

/** For a command that sends nothing. */
export function withoutTrusted(content: ConfigContent): Restricted {
  const dropped = settingsOf(content).filter(({ fate }) => fate === "needs trust");
  const { lint, state, ...rest } = without(content, dropped);
  const kept = {
    ...rest,
    ...(lint && Object.keys(lint).length > 0 && { lint }),
    ...(state && Object.keys(state).length > 0 && { state }),
  };
  return { content: kept, dropped: dropped.map(({ path }) => dotted(path)) };
}

/** A setting that needs trust. */
export interface Claim {
  /** `profiles.production.baseUrl` */
  key: string;
  /** For display: the address, the secret reference, or the value. */
  text: string;
}

function referenceText(secret: Secret): string {
  if (typeof secret === "string") return "";
  if ("env" in secret) return `reads the variable ${secret.env}`;
  if ("file" in secret) return `reads the file ${secret.file}`;
  return `runs ${secret.command.join(" ")}`;
}

/** The recipient of an entry of `notify`: only the origin of an address, whose rest may be a token. */
function notifyText(entry: NotifySettings[number]): string {
  if ("command" in entry) return `runs ${entry.command.join(" ")}`;
  const { url } = entry;
  if (typeof url !== "string") return referenceText(url);
  return URL.canParse(url) ? `notifies ${new URL(url).origin}` : "notifies an address";
}

/** The value for display; for an object only its keys, because its values may be secrets. */
function textOf({ path, value, match }: Setting): string {
  const member = path[0] === "profiles" ? String(path[2]) : "";
  if (isSecretName(member)) return referenceText(value as Secret);
  if (nameOf(path) === "notify") {
    return (value as NotifySettings).map(notifyText).join(", ");
  }
  if (nameOf(path) === "state.shared") {
    const { url, project } = value as NonNullable<StateSettings["shared"]>;
    return `${referenceText(url) || "names a database"}, project ${project}`;
  }
  if (member === "baseUrl" || member === "proxy") return withoutCredentials(value as string);
  if (["caFile", "clientCert", "clientKey"].includes(member)) return value as string;
  const isRecord = typeof value === "object" && value !== null && !Array.isArray(value);
  const text = isRecord ? Object.keys(value).join(", ") : JSON.stringify(value);
  return match === undefined ? text : `${text} for ${match}`;
}

const needsTrust = ({ fate }: Setting): boolean => fate === "stops" || fate === "needs trust";

/** All settings of a file that need trust. */
export function claimsOf(content: ConfigContent): Claim[] {
  const claims = settingsOf(content).filter(needsTrust);
  return claims.map((claim) => ({ key: dotted(claim.path), text: textOf(claim) }));
}

async function hashOf(content: ConfigContent): Promise<string> {
  const claims = settingsOf(content)
    .filter(needsTrust)
    .map(({ path, value, match }) => JSON.stringify([dotted(path), value, match]));
  // A profile more may be another one in effect.
  const names = JSON.stringify(Object.keys(content.profiles ?? {}).toSorted());
  // Loaded on demand: it is slow, and most runs have no project file.
  const { createHash } = await import("node:crypto");
  return createHash("sha256")
    .update([names, ...claims.toSorted()].join("\n"))
    .digest("hex");
}

/** Path of the file that records trust: real path of each project file to the hash of its claims. */
export function trustStore(machine: Machine): string {
  return join(stateFolder(machine), "trust.json");
}

function readStore(machine: Machine): Map<string, string> {
  const path = trustStore(machine);
  if (!existsSync(path)) return new Map();
  refuseSpecial(path);
  try {
    // Others who can write the store could trust their own files.
    checkPrivate(path, { uid: machine.uid, holdsKey: false, warn: () => {} });
    const { files } = JSON.parse(readFileSync(path, "utf8")) as { files: Record<string, string> };
    return new Map(Object.entries(files).filter(([, hash]) => typeof hash === "string"));
  } catch {
    // Treat a broken store as empty; the next trust replaces it.
    return new Map();
  }
}

/** Whether the user trusted this file with exactly its current claims. */
export async function isTrusted(file: ParsedFile, machine: Machine): Promise<boolean> {
  return readStore(machine).get(realpathSync(file.path)) === (await hashOf(file.content));
}

/** Records trust in the file with its current claims. Throws CliError `local` if that cannot be written. */
export async function rememberTrust(file: ParsedFile, machine: Machine): Promise<void> {
  const hash = await hashOf(file.content);
  await whileLocked(trustStore(machine), async () => {
    const files = readStore(machine);
    files.set(realpathSync(file.path), hash);
    const text = JSON.stringify({ version: 1, files: Object.fromEntries(files) }, null, 2);
    await Promise.resolve(writeWhole(trustStore(machine), `${text}\n`));
  });
}

/** Members of a file that a flag or variable of another name replaces. */
const replacedBy: Readonly<Record<string, readonly string[]>> = {
  defaultProfile: ["profile"],
  ccPairId: ["ccPairId", "connector"],
  connector: ["ccPairId", "connector"],
  shared: ["sharedState"],
};

/**
 * Whether flags or variables give the value of a dotted key of a file: then that of an untrusted file
 * has no effect. A rule sends some documents elsewhere, whatever the target of the others is; the keys
 * of front matter only have names of flags.
 */
function isGiven(key: string, given: Readonly<Record<string, unknown>>): boolean {
  if (/(?:^|\.)ingest\.(?:rules\[|frontMatter\.)/.test(key)) return false;
  const member = key.slice(key.lastIndexOf(".") + 1);
  return (replacedBy[member] ?? [member]).some((name) => given[name] !== undefined);
}

/** The dotted keys, or claims, that count: of an untrusted file no value applies that is given otherwise. */
export function notGiven<Each extends string | Claim>(
  all: readonly Each[],
  given: Readonly<Record<string, unknown>>,
): Each[] {
  return all.filter((each) => !isGiven(typeof each === "string" ? each : each.key, given));
}

/**
 * The error for every command that sends requests: an untrusted file would change the target or the
 * ids of an upload. Undefined if no file with claims lacks trust. `given`: values of flags and variables.
 */
export function refusedTrust(
  files: readonly (ParsedFile & { trusted: boolean })[],
  given: Readonly<Record<string, unknown>>,
): CliError | undefined {
  const file = files.find(
    ({ trusted, content }) => !trusted && notGiven(claimsOf(content), given).length > 0,
  );
  if (!file) return undefined;
  return new CliError(
    "not-configured",
    `${file.path} is not trusted: it sets addresses, keys, ids or the target`,
    {
      details: claimsOf(file.content).map((claim) => `${claim.key}: ${claim.text}`),
      hints: [
        "look at it, then trust it once: knowctl config trust",
        `or name it for this run: --config ${file.path}`,
        "in a pipeline that owns its checkout: KNOWCTL_TRUST_PROJECT=1, or trust-project: true for the action",
      ],
    },
  );
}

const mostAlternatives = 256;

/** Expands `{a,b}` as the matcher does; undefined for too many alternatives. */
function expandBraces(pattern: string): string[] | undefined {
  let open = [pattern];
  const done: string[] = [];
  while (open.length > 0) {
    if (open.length + done.length > mostAlternatives) return undefined;
    open = open.flatMap((each) => {
      const group = /\{([^{}]*)\}/.exec(each);
      if (!group) done.push(each);
      const parts = group?.[1]?.split(",") ?? [];
      return parts.map((part) => each.replace(group?.[0] ?? "", () => part));
    });
  }
  return done;
}

/** Whether a glob can only match below the folder it is used in. */
export function staysInside(pattern: string): boolean {
  const expanded = expandBraces(pattern);
  if (!expanded) return false;
  return expanded.every((each) => {
    if (/^!*(?:[@+?*!]?\()*(?:[/\\~]|[A-Za-z]:)/.test(each)) return false;
    // Extended globs `@(…)`, classes `[.]` and escapes could spell `..` as well.
    const plain = each.replace(/[!()|@+?*[\]]/g, "");
    const segments = [...plain.split(/[/\\]/), ...plain.replaceAll("\\", "").split("/")];
    return !segments.includes("..");
  });
}

/** Throws CliError `not-configured` when a pattern of an untrusted file leads out of the project. */
export function checkPatterns(file: ParsedFile): void {
  const { include = [], exclude = [], rules = [] } = file.content.ingest ?? {};
  const patterns: [Path, string][] = [
    ...include.map((each, index): [Path, string] => [["include", index], each]),
    ...exclude.map((each, index): [Path, string] => [["exclude", index], each]),
    ...rules.map((each, index): [Path, string] => [["rules", index, "match"], each.match]),
  ];
  for (const [path, pattern] of patterns) {
    if (staysInside(pattern)) continue;
    throw new CliError(
      "not-configured",
      `${whereIs(file, [...file.prefix, "ingest", ...path])}: the pattern "${pattern}" leads out of the project, and this file is not trusted`,
      {
        hints: [
          "write it relative to the project without ..",
          "or trust the file: knowctl config trust",
        ],
      },
    );
  }
}
