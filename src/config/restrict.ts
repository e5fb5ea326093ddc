import { CliError } from "../errors.ts";
import type { Path } from "./nodes.ts";
import { whereIs } from "./problems.ts";
import type { ParsedFile } from "./parse.ts";
import type { ConfigContent, IngestRule, IngestSettings } from "./schema.ts";

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

/** Settings that guard an upload: leaving one out would weaken what the user relies on. */
const guardKeys = ["requireAccess", "accessKeys"] as const;

/** The guards of a file, top level and profiles, by key path. */
export function guardsOf(content: ConfigContent): { key: string; value: unknown }[] {
  const places: [string, IngestSettings | undefined][] = [
    ["ingest", content.ingest],
    ...Object.entries(content.profiles ?? {}).map(
      ([name, { ingest }]): [string, IngestSettings | undefined] => [
        `profiles.${name}.ingest`,
        ingest,
      ],
    ),
  ];
  return places.flatMap(([place, ingest]) =>
    guardKeys.flatMap((key) =>
      ingest?.[key] === undefined ? [] : [{ key: `${place}.${key}`, value: ingest[key] }],
    ),
  );
}

/** Throws CliError `not-configured` where a file that is not trusted holds a guard of uploads. */
export function refuseUntrustedGuards(
  files: readonly { path: string; trusted: boolean; content: ConfigContent }[],
): void {
  for (const { path, trusted, content } of files) {
    const guards = trusted ? [] : guardsOf(content).map(({ key }) => key);
    if (guards.length === 0) continue;
    throw new CliError(
      "not-configured",
      `${path} is not trusted, and ${guards.join(", ")} counts only from a trusted file; nothing was sent`,
      {
        hints: [
          "look at it, then trust it once: knowctl config trust",
          `or name it for this run: --config ${path}`,
          "in a pipeline that owns its checkout: KNOWCTL_TRUST_PROJECT=1",
        ],
      },
    );
  }
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
