import { existsSync } from "node:fs";
import { valueAt } from "../../config/file/problems.ts";
import { createMachine, stateFolder } from "../../config/find/folders.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Config, Origin } from "../../config/load.ts";
import { claimsOf, restrictContent, trustStore } from "../../config/trust.ts";
import { describeSecret, maskValue } from "../../config/values/members.ts";
import { configJsonSchema, type Profile } from "../../config/values/schema.ts";
import { parseKey } from "../../config/values/validate.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { checkFormat, writeList, writeRecord, type Column } from "../../output/formats/formats.ts";
import { createOutput, type Output } from "../../output/terminal/output.ts";
import { loadToShow, userFile } from "./files.ts";

interface ProfileRow {
  current: boolean;
  profile: string;
  baseUrl: string;
  dialect: string;
  accessToken: string;
  apiKey: string;
  file: string;
  trusted: boolean;
}

const profileColumns: Column<ProfileRow>[] = [
  { name: "current", value: (row) => row.current, show: (value) => (value === true ? "*" : "") },
  { name: "profile", value: (row) => row.profile },
  { name: "baseUrl", value: (row) => row.baseUrl, isKept: true },
  { name: "dialect", value: (row) => row.dialect },
  { name: "accessToken", value: (row) => row.accessToken },
  { name: "apiKey", value: (row) => row.apiKey },
  { name: "file", value: (row) => row.file, cut: "start" },
  { name: "trusted", value: (row) => row.trusted, shown: false },
];

function profileRows(config: Config): ProfileRow[] {
  return config.files.flatMap((file) =>
    Object.entries(file.content.profiles ?? {}).map(([name, profile]: [string, Profile]) => ({
      current: name === config.profile,
      profile: name,
      baseUrl: String(maskValue(profile.baseUrl ?? "", "baseUrl")),
      dialect: profile.dialect ?? "",
      accessToken: describeSecret(profile.accessToken),
      apiKey: describeSecret(profile.apiKey),
      file: file.path,
      trusted: file.trusted,
    })),
  );
}

/** `config list`: lists every profile of every file. */
export async function configList(
  context: Context,
  _args: string[],
  options: GlobalFlags,
): Promise<void> {
  checkFormat(options);
  const output = createOutput(context, options);
  // The list is the remedy for an unknown profile.
  const config = await loadToShow(context, options, output, { mayBeNew: true });
  const rows = profileRows(config);
  const count = await writeList(output, options, profileColumns, rows);
  if (count > 0) return;
  await output.note(
    rows.length > 0
      ? "no profiles match"
      : "there are no profiles yet; create one: knowctl config init",
  );
}

/** A value in effect, safe to show. */
export interface ValueRow {
  key: string;
  value: unknown;
  source: Origin["source"];
  where: string;
  overrides: { source: string; where: string }[];
}

const valueColumns: Column<ValueRow>[] = [
  { name: "key", value: (row) => row.key },
  {
    name: "value",
    value: (row) => (typeof row.value === "object" ? JSON.stringify(row.value) : row.value),
  },
  { name: "source", value: (row) => row.source },
  { name: "where", value: (row) => row.where, cut: "start" },
  { name: "overrides", value: (row) => row.overrides.map((each) => each.where), cut: "start" },
];

/** The values in effect by their keys, secrets masked. */
function effective(config: Config): Record<string, unknown> {
  const { baseUrl, dialect, ...rest } = config.values;
  const values = { profile: config.profile, baseUrl, dialect, ...rest };
  return maskValue(values, "") as Record<string, unknown>;
}

// Metadata keys may hold dots: then the rest of the name is one step.
function valueOfName(values: unknown, name: string): unknown {
  const words = name.split(".");
  const paths = words.map((_word, index) => [
    ...words.slice(0, index),
    words.slice(index).join("."),
  ]);
  const path = paths.findLast((each) => valueAt(values, each) !== undefined);
  return path && valueAt(values, path);
}

/** Every value in effect with its origin, by key; secrets masked. */
export function valueRows(config: Config): ValueRow[] {
  const values = effective(config);
  const place = ({ source, where }: Origin) => ({ source, where });
  return [...config.origins]
    .map(([key, origin]) => ({
      key,
      value: valueOfName(values, key),
      ...place(origin),
      overrides: origin.overrides.map(place),
    }))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1));
}

// This command shows an untrusted file in full; a command that sends something restricts it.
async function warnUntrusted(config: Config, output: Output): Promise<void> {
  const project = config.files.find((file) => file.layer === "project" && !file.trusted);
  if (!project) return;
  const keys = config.refused
    ? claimsOf(project.content).map(({ key }) => key)
    : restrictContent(project.content).dropped;
  if (keys.length === 0) return;
  const what = config.refused
    ? `fail because it sets ${keys.join(", ")}`
    : `ignore ${keys.join(", ")}`;
  await output.warn(
    `${project.path} is not trusted: commands that send ${what}; trust it once: knowctl config trust`,
  );
}

/** `config show`: the values in effect, secrets masked; with `--origin` also their sources. */
export async function configShow(
  context: Context,
  _args: string[],
  options: GlobalFlags & { origin?: boolean },
): Promise<void> {
  checkFormat(options);
  const output = createOutput(context, options);
  const config = await loadToShow(context, options, output, { needsProfile: false });
  await warnUntrusted(config, output);
  if (options.origin === true) await writeList(output, options, valueColumns, valueRows(config));
  else await writeRecord(output, options, effective(config));
}

/** `config get KEY`: prints one value, a word unchanged and anything else as JSON. */
export async function configGet(
  context: Context,
  [key = ""]: string[],
  options: GlobalFlags,
): Promise<void> {
  const output = createOutput(context, options);
  const config = await loadToShow(context, options, output, { needsProfile: false });
  await warnUntrusted(config, output);
  const names = config.files.flatMap((file) => Object.keys(file.content.profiles ?? {}));
  const path = key === "profile" ? ["defaultProfile"] : parseKey(key, config.profile, names);
  const inEffect = path[0] === "profiles" && path[1] === config.profile ? path.slice(2) : path;
  const fromFiles = config.files
    .map((file) => valueAt(file.content, path))
    .find((value) => value !== undefined);
  const values = { ...effective(config), defaultProfile: config.profile };
  const value = valueAt(values, inEffect) ?? maskValue(fromFiles, path.at(-1) ?? "");
  if (value === undefined) {
    throw new CliError("not-found", `${key} is not set`, {
      hints: [
        "list the values: knowctl config show --origin",
        `set it: knowctl config set ${key} VALUE`,
      ],
    });
  }
  if (typeof value === "object") await output.json(`${JSON.stringify(value)}\n`);
  else await output.line(String(value));
}

interface PathRow {
  kind: string;
  path: string;
  exists: boolean;
}

const pathColumns: Column<PathRow>[] = [
  { name: "kind", value: (row) => row.kind },
  { name: "path", value: (row) => row.path, cut: "start" },
  { name: "exists", value: (row) => row.exists },
];

/** `config path`: lists the paths of configuration and state. */
export async function configPath(
  context: Context,
  _args: string[],
  options: GlobalFlags,
): Promise<void> {
  checkFormat(options);
  const output = createOutput(context, options);
  const machine = createMachine(context);
  // Works with a broken file too: this command shows which file to fix.
  const project = await loadToShow(context, options, output).then(
    (config) => config.files.find((file) => file.layer === "project")?.path,
    async (error: unknown) => {
      if (!(error instanceof CliError)) throw error;
      await output.warn(error.message);
      return undefined;
    },
  );
  const paths: [kind: string, path: string][] = [
    ["user", userFile(machine)],
    ...(project ? [["project", project] as [string, string]] : []),
    ["state", stateFolder(machine)],
    ["trust", trustStore(machine)],
  ];
  const rows = paths.map(([kind, path]) => ({ kind, path, exists: existsSync(path) }));
  await writeList(output, options, pathColumns, rows);
}

/** `config schema`: the JSON Schema of a configuration file. */
export async function configSchema(
  context: Context,
  _args: string[],
  options: GlobalFlags,
): Promise<void> {
  await createOutput(context, options).json(`${JSON.stringify(configJsonSchema(), null, 2)}\n`);
}
