import { addressMembers, secretMembers } from "./values/members.ts";
import type { ConfigContent, IngestRule, IngestSettings } from "./values/schema.ts";

/** Settings of an untrusted project file that apply: they change neither target nor ids of an upload. */
const allowedIngest = [
  "include",
  "exclude",
  "sections",
  "link",
  "source",
  "metadata",
  "rules",
] as const;
const allowedRule = ["match", "metadata"] as const;

/**
 * Settings that shape neither ids nor the target nor a check. In an untrusted file those outside
 * allowedIngest are ignored with a warning. Any other key stops a command that sends requests,
 * also an unknown key of a later version.
 */
const harmlessIngest: readonly string[] = [
  ...allowedIngest,
  "ignore",
  "drafts",
  "concurrency",
  "rate",
  "linkStyle",
  "links",
  "anchors",
  "maxSectionChars",
  "tags",
  "updatedAt",
  "owners",
  "metaCommit",
  "componentAttributes",
];
const harmlessRule: readonly string[] = [...allowedRule, "tags", "source", "link", "sections"];
/** trust.ts checks addresses and secrets. */
const harmlessProfile: readonly string[] = [
  ...addressMembers,
  ...secretMembers,
  "timeout",
  "allowHttp",
  "allowInsecureTls",
  "chat",
  "ingest",
];
const harmlessFrontMatter: readonly string[] = [
  "title",
  "semanticIdentifier",
  "link",
  "source",
  "tags",
  "updatedAt",
  "createdAt",
  "owners",
  "secondaryOwners",
  "authors",
];

function pick<Value extends object, Key extends keyof Value>(
  value: Value,
  keys: readonly Key[],
): Value {
  return Object.fromEntries(
    keys.flatMap((key) => (value[key] === undefined ? [] : [[key, value[key]]])),
  ) as Value;
}

function keysOutside(value: object, keys: readonly string[], prefix: string): string[] {
  return Object.keys(value)
    .filter((key) => !keys.includes(key))
    .map((key) => prefix + key);
}

/** Reduces the content of an untrusted file to the settings that apply, and lists the dropped keys. */
export function restrictContent(content: ConfigContent): {
  content: ConfigContent;
  dropped: string[];
} {
  const ingest = content.ingest ?? {};
  const rules = ingest.rules?.map((rule): IngestRule => pick(rule, allowedRule));
  const allowed: IngestSettings = { ...pick(ingest, allowedIngest), ...(rules && { rules }) };
  const dropped = [
    ...keysOutside(content, ["$schema", "ingest"], ""),
    ...keysOutside(ingest, allowedIngest, "ingest."),
    ...(ingest.rules ?? []).flatMap((rule, index) =>
      keysOutside(rule, allowedRule, `ingest.rules[${index}].`),
    ),
  ];
  return { content: content.ingest ? { ingest: allowed } : {}, dropped };
}

/** Settings that decide what checks find, what a document says or which files are sent with it. */
const trustedIngest = [
  "allowSecrets",
  "requireAccess",
  "accessKeys",
  "hidden",
  "linkBase",
  "images",
  "versionTag",
] as const;
const trustedProfile = ["headers"] as const;

function omit<Value extends object>(value: Value, keys: readonly (keyof Value)[]): Value {
  const rest = { ...value };
  for (const key of keys) delete rest[key];
  return rest;
}

const keysAmong = (value: object | undefined, keys: readonly string[], prefix: string): string[] =>
  Object.keys(value ?? {})
    .filter((key) => keys.includes(key))
    .map((key) => prefix + key);

/**
 * Drops from an untrusted file what counts only from a trusted one, also for a command that sends
 * nothing, and lists the dropped keys: a checkout must not switch off the rules that it is checked by.
 */
export function withoutTrusted(content: ConfigContent): {
  content: ConfigContent;
  dropped: string[];
} {
  const { lint, ...rest } = content;
  const { ingest, profiles = {} } = rest;
  const dropped = [
    ...Object.keys(lint ?? {}).map((key) => `lint.${key}`),
    ...keysAmong(ingest, trustedIngest, "ingest."),
    ...Object.entries(profiles).flatMap(([name, profile]) => [
      ...keysAmong(profile, trustedProfile, `profiles.${name}.`),
      ...keysAmong(profile.ingest, trustedIngest, `profiles.${name}.ingest.`),
    ]),
  ];
  if (dropped.length === 0) return { content, dropped };
  const kept = Object.entries(profiles).map(([name, profile]) => [
    name,
    {
      ...omit(profile, trustedProfile),
      ...(profile.ingest && { ingest: omit(profile.ingest, trustedIngest) }),
    },
  ]);
  return {
    content: {
      ...rest,
      ...(ingest && { ingest: omit(ingest, trustedIngest) }),
      ...(rest.profiles && { profiles: Object.fromEntries(kept) as typeof profiles }),
    },
    dropped,
  };
}

/** A setting of a file that shapes ids, the target or a check. */
export interface Shaping {
  key: string;
  value: unknown;
  /** The value for display; for an object only its keys, because its values may be secrets. */
  text: string;
}

function textOf(value: unknown): string {
  const isRecord = typeof value === "object" && value !== null && !Array.isArray(value);
  return isRecord ? Object.keys(value).join(", ") : JSON.stringify(value);
}

function shapingEntries(
  value: object,
  harmless: readonly string[],
  prefix: string,
  match?: string,
): Shaping[] {
  return Object.entries(value)
    .filter(([key, each]) => each !== undefined && !harmless.includes(key))
    .map(([key, each]) => {
      if (match === undefined) return { key: prefix + key, value: each, text: textOf(each) };
      return { key: prefix + key, value: [match, each], text: `${textOf(each)} for ${match}` };
    });
}

function shapingIngest(ingest: IngestSettings, prefix: string): Shaping[] {
  const { rules = [], frontMatter = {}, ...plain } = ingest;
  return [
    ...shapingEntries(plain, harmlessIngest, prefix),
    ...shapingEntries(frontMatter, harmlessFrontMatter, `${prefix}frontMatter.`),
    ...rules.flatMap((rule, index) =>
      shapingEntries(rule, harmlessRule, `${prefix}rules[${index}].`, rule.match),
    ),
  ];
}

/** Settings of a file, in all its profiles, that shape ids, the target or a check. */
export function shapingOf({
  defaultProfile,
  ingest = {},
  lint = {},
  profiles = {},
}: ConfigContent): Shaping[] {
  return [
    ...shapingEntries({ defaultProfile }, [], ""),
    ...shapingEntries(lint, [], "lint."),
    ...shapingIngest(ingest, "ingest."),
    ...Object.entries(profiles).flatMap(([name, profile]) => [
      ...shapingEntries(profile, harmlessProfile, `profiles.${name}.`),
      ...shapingIngest(profile.ingest ?? {}, `profiles.${name}.ingest.`),
    ]),
  ];
}
