import type { GlobalFlags } from "../../../config/global-flags.ts";
import { droppedKeys } from "../../../documents/front-matter/values.ts";
import type { MappingOptions, ShapingOption } from "../../../documents/map/settings.ts";
import type { FormatName } from "../../../documents/formats/format.ts";
import { parseColumnMap } from "../../../documents/formats/rows.ts";
import { CliError } from "../../../errors.ts";
import type { RecordedOptions } from "../../../sync/state/options.ts";

/** Options whose flag has the same name and value. */
type PlainOption = Exclude<
  keyof MappingOptions,
  "useIgnoreFiles" | "metadata" | "tags" | "versionTag" | "columns" | "maxFileBytes"
>;

/** Flags that select files and control their mapping. */
export interface MappingFlags extends GlobalFlags, Pick<MappingOptions, PlainOption> {
  /** False for `--no-ignore`. */
  ignore?: boolean;
  metadata?: string[];
  tag?: string[];
  /** Select only files that changed since this commit. */
  since?: string;
  /** Format of named files, regardless of their extensions, or of stdin. */
  format?: FormatName;
  /** `field=column` for rows, separated by commas. */
  map?: string[];
  dropAccess?: boolean;
  /** Send documents that contain secrets. */
  allowSecrets?: boolean;
  /** False for `--no-lint`: check documents for secrets alone. */
  lint?: boolean;
  ccPairId?: number;
  connector?: string;
  /** Folder, or false for `--no-state`. */
  state?: string | boolean;
  /** For a retry: the options recorded with the failures, which replace the flags above. */
  recorded?: RecordedOptions;
  /** Without paths and a configured `include`: use the whole project root instead of failing. */
  wholeRoot?: boolean;
  /** Read the last commit of each file, if there is a git repository. */
  wantsCommits?: boolean;
  /** Named paths may have been removed. */
  mayBeRemoved?: boolean;
  /** Only the ids of documents count, and nothing of them is sent: no permission is missing. */
  idsOnly?: boolean;
  /** False: an unknown `defaultProfile` is only a warning. */
  needsProfile?: boolean;
}

/** The flag of each option that shapes documents. */
const flagOfOption = {
  idPrefix: "idPrefix",
  source: "source",
  sections: "sections",
  anchors: "anchors",
  maxSectionChars: "maxSectionChars",
  link: "link",
  linkStyle: "linkStyle",
  linkBase: "linkBase",
  links: "links",
  metadata: "metadata",
  tags: "tag",
  updatedAt: "updatedAt",
  owners: "owners",
  metaCommit: "metaCommit",
  columns: "map",
  images: "images",
  drafts: "drafts",
} as const satisfies Record<Exclude<ShapingOption, "versionTag">, keyof MappingFlags>;

/** Flags that shape documents. The configuration has a key of the same name, but `tags` for `tag`. */
export const shapingFlags = Object.values(flagOfOption);

/** Flags that select files. */
export const selectionFlags = [
  "include",
  "exclude",
  "ignore",
  "format",
] as const satisfies (keyof MappingFlags)[];

/** The flag as typed, e.g. `--id-prefix`. */
function flagText(name: (typeof shapingFlags)[number] | (typeof selectionFlags)[number]): string {
  if (name === "ignore") return "--no-ignore";
  return `--${name.replace(/[A-Z]/g, (big) => `-${big.toLowerCase()}`)}`;
}

/** The flags of `names` that are set. */
export function givenFlags(
  options: MappingFlags,
  names: readonly ((typeof shapingFlags)[number] | (typeof selectionFlags)[number])[],
): string[] {
  return names
    .filter((name) => (name === "ignore" ? options.ignore === false : options[name] !== undefined))
    .map(flagText);
}

/** A value as a shell takes it for one word. */
function asWord(value: string): string {
  if (/^[\p{L}\p{N}@%+=:,./_-]+$/u.test(value)) return value;
  return /["$`\\!]/.test(value) ? `'${value.replaceAll("'", String.raw`'\''`)}'` : `"${value}"`;
}

/** The recorded flags as they can be typed; "" for none. */
export function flagsText({ flags = {}, format }: RecordedOptions["settings"]): string {
  const isFlag = (name: string): name is keyof typeof flagOfOption => name in flagOfOption;
  const pairsOf = (value: object): string[] =>
    Object.entries(value).flatMap(([key, each]) => [each].flat().map((one) => `${key}=${one}`));
  const texts = Object.entries({ ...flags, format }).flatMap(([option, value]) => {
    if (value === undefined || value === false)
      return option === "useIgnoreFiles" && value === false ? ["--no-ignore"] : [];
    const name =
      option === "useIgnoreFiles" ? "ignore" : isFlag(option) ? flagOfOption[option] : option;
    const flag = flagText(name as Parameters<typeof flagText>[0]);
    if (value === true) return [flag];
    const values =
      typeof value === "object" && !Array.isArray(value) ? pairsOf(value) : [value].flat();
    return values.map((each) => `${flag} ${asWord(String(each))}`);
  });
  return texts.join(" ");
}

/** Parses `key=value` flags to an object; a repeated key becomes a list. */
function parseMetadata(pairs: readonly string[]): Record<string, string | string[]> {
  const result = new Map<string, string[]>();
  for (const pair of pairs) {
    const at = pair.indexOf("=");
    if (at < 1) {
      throw new CliError("usage", `--metadata: expected key=value, found "${pair}"`, {
        hints: ["for example --metadata team=platform"],
      });
    }
    const key = pair.slice(0, at);
    if (droppedKeys.has(key)) {
      throw new CliError("usage", `--metadata ${key}: the key is reserved`, {
        hints: ["choose another name"],
      });
    }
    result.set(key, [...(result.get(key) ?? []), pair.slice(at + 1)]);
  }
  return Object.fromEntries(
    [...result].map(([key, values]) => [key, values.length > 1 ? values : (values[0] ?? "")]),
  );
}

/** Converts flags to options. */
export function optionsOf(flags: MappingFlags): MappingOptions {
  const { include, exclude, ignore, metadata, map } = flags;
  const options = Object.entries(flagOfOption).map(([option, flag]) => [option, flags[flag]]);
  return {
    ...(Object.fromEntries(options) as MappingOptions),
    include,
    exclude,
    useIgnoreFiles: ignore === false ? false : undefined,
    metadata: metadata && parseMetadata(metadata),
    columns: map && parseColumnMap(map.join(",")),
  };
}
