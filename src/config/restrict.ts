import { CliError } from "../errors.ts";
import { addressMembers, secretMembers } from "./values/members.ts";
import type { Path } from "./file/nodes.ts";
import { whereIs } from "./file/problems.ts";
import type { ParsedFile } from "./file/parse.ts";
import type { ConfigContent, IngestRule, IngestSettings } from "./values/schema.ts";

/** What of an untrusted project file takes effect: it can neither aim nor rename an upload. */
const freeIngest = [
  "include",
  "exclude",
  "sections",
  "link",
  "source",
  "metadata",
  "rules",
] as const;
const freeRule = ["match", "metadata"] as const;

/**
 * What else changes neither ids nor the target nor a check: it is left out of an untrusted file
 * with a warning. Any other key stops a command that sends, keys of later versions too.
 */
const mildIngest: readonly string[] = [
  ...freeIngest,
  "ignore",
  "drafts",
  "concurrency",
  "rate",
  "linkBase",
  "anchors",
  "maxSectionChars",
  "tags",
  "images",
  "updatedAt",
  "owners",
  "metaCommit",
];
const mildRule: readonly string[] = [...freeRule, "tags", "source", "link", "sections"];
/** Addresses and secrets are judged by themselves (trust.ts). */
const mildProfile: readonly string[] = [
  ...addressMembers,
  ...secretMembers,
  "timeout",
  "allowHttp",
  "allowInsecureTls",
  "chat",
  "ingest",
];
const mildFrontMatter: readonly string[] = [
  "title",
  "link",
  "source",
  "tags",
  "updatedAt",
  "owners",
  "secondaryOwners",
];

function pick<Value extends object, Key extends keyof Value>(
  value: Value,
  keys: readonly Key[],
): Value {
  return Object.fromEntries(
    keys.flatMap((key) => (value[key] === undefined ? [] : [[key, value[key]]])),
  ) as Value;
}

function others(value: object, keys: readonly string[], prefix: string): string[] {
  return Object.keys(value)
    .filter((key) => !keys.includes(key))
    .map((key) => prefix + key);
}

/** The content of an untrusted file reduced to what may apply, and the keys that were left out. */
export function restrictContent(content: ConfigContent): {
  content: ConfigContent;
  dropped: string[];
} {
  const ingest = content.ingest ?? {};
  const rules = ingest.rules?.map((rule): IngestRule => pick(rule, freeRule));
  const free: IngestSettings = { ...pick(ingest, freeIngest), ...(rules && { rules }) };
  const dropped = [
    ...others(content, ["$schema", "ingest"], ""),
    ...others(ingest, freeIngest, "ingest."),
    ...(ingest.rules ?? []).flatMap((rule, index) =>
      others(rule, freeRule, `ingest.rules[${index}].`),
    ),
  ];
  return { content: content.ingest ? { ingest: free } : {}, dropped };
}

/** A key of a file that shapes ids, the target or a check. */
export interface Shaping {
  key: string;
  value: unknown;
  /** The value for people; of an object the keys, since its values may be secrets. */
  text: string;
}

function textOf(value: unknown): string {
  const isRecord = typeof value === "object" && value !== null && !Array.isArray(value);
  return isRecord ? Object.keys(value).join(", ") : JSON.stringify(value);
}

function strict(value: object, mild: readonly string[], prefix: string, match?: string): Shaping[] {
  return Object.entries(value)
    .filter(([key, each]) => each !== undefined && !mild.includes(key))
    .map(([key, each]) => {
      if (match === undefined) return { key: prefix + key, value: each, text: textOf(each) };
      return { key: prefix + key, value: [match, each], text: `${textOf(each)} for ${match}` };
    });
}

function shapingIngest(ingest: IngestSettings, prefix: string): Shaping[] {
  const { rules = [], frontMatter = {}, ...plain } = ingest;
  return [
    ...strict(plain, mildIngest, prefix),
    ...strict(frontMatter, mildFrontMatter, `${prefix}frontMatter.`),
    ...rules.flatMap((rule, index) =>
      strict(rule, mildRule, `${prefix}rules[${index}].`, rule.match),
    ),
  ];
}

/** Settings of a file that shape ids, the target or a check, in all of its profiles. */
export function shapingOf({
  defaultProfile,
  ingest = {},
  profiles = {},
}: ConfigContent): Shaping[] {
  return [
    ...strict({ defaultProfile }, [], ""),
    ...shapingIngest(ingest, "ingest."),
    ...Object.entries(profiles).flatMap(([name, profile]) => [
      ...strict(profile, mildProfile, `profiles.${name}.`),
      ...shapingIngest(profile.ingest ?? {}, `profiles.${name}.ingest.`),
    ]),
  ];
}

const mostAlternatives = 256;

// `{a,b}` written out, as the matcher will; undefined when there are too many.
function alternatives(pattern: string): string[] | undefined {
  let open = [pattern];
  const done: string[] = [];
  while (open.length > 0) {
    if (open.length + done.length > mostAlternatives) return undefined;
    const next: string[] = [];
    for (const each of open) {
      const group = /\{([^{}]*)\}/.exec(each);
      if (!group) done.push(each);
      else {
        const before = each.slice(0, group.index);
        const after = each.slice(group.index + group[0].length);
        for (const part of (group[1] ?? "").split(",")) next.push(before + part + after);
      }
    }
    open = next;
  }
  return done;
}

/** Whether a glob can only match below the folder it is used in. */
export function staysInside(pattern: string): boolean {
  const expanded = alternatives(pattern);
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
    ...include.map((each, index): [Path, string] => [["ingest", "include", index], each]),
    ...exclude.map((each, index): [Path, string] => [["ingest", "exclude", index], each]),
    ...rules.map((each, index): [Path, string] => [
      ["ingest", "rules", index, "match"],
      each.match,
    ]),
  ];
  for (const [path, pattern] of patterns) {
    if (staysInside(pattern)) continue;
    throw new CliError(
      "not-configured",
      `${whereIs(file, [...file.prefix, ...path])}: the pattern "${pattern}" leads out of the project, and this file is not trusted`,
      {
        hints: [
          "write it relative to the project without ..",
          "or trust the file: knowctl config trust",
        ],
      },
    );
  }
}
