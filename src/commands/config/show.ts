import { parseKey } from "../../config/values/validate.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Config } from "../../config/load.ts";
import { valueAt } from "../../config/file/problems.ts";
import { describeSecret, maskValue } from "../../config/values/members.ts";
import { claimsOf, restrictContent } from "../../config/trust.ts";
import type { Profile } from "../../config/values/schema.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { checkFormat, writeList, writeRecord, type Column } from "../../output/formats/formats.ts";
import { createOutput, type Output } from "../../output/terminal/output.ts";
import { loadToShow } from "./files.ts";
import { effective, valueRows, type ValueRow } from "./values.ts";

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
  { name: "current", show: (value) => (value === true ? "*" : "") },
  { name: "profile" },
  { name: "baseUrl" },
  { name: "dialect" },
  { name: "accessToken" },
  { name: "apiKey" },
  { name: "file", cut: "start" },
  { name: "trusted", shown: false },
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

const valueColumns: Column<ValueRow>[] = [
  { name: "key" },
  {
    name: "value",
    value: (row) => (typeof row.value === "object" ? JSON.stringify(row.value) : row.value),
  },
  { name: "source" },
  { name: "where", cut: "start" },
  { name: "overrides", value: (row) => row.overrides.map((each) => each.where), cut: "start" },
];

// This command shows an untrusted file in full; a command that sends something restricts it.
async function warnUntrusted(config: Config, output: Output): Promise<void> {
  const project = config.files.find((file) => file.layer === "project" && !file.trusted);
  if (!project) return;
  if (config.refused) {
    const keys = claimsOf(project.content).map(({ key }) => key);
    await output.warn(
      `${project.path} is not trusted: commands that send fail because it sets ${keys.join(", ")}; trust it once: knowctl config trust`,
    );
    return;
  }
  const { dropped } = restrictContent(project.content);
  if (dropped.length === 0) return;
  await output.warn(
    `${project.path} is not trusted: commands that send ignore ${dropped.join(", ")}; trust it once: knowctl config trust`,
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

function notSet(key: string): CliError {
  return new CliError("not-found", `${key} is not set`, {
    hints: [
      "list the values: knowctl config show --origin",
      `set it: knowctl config set ${key} VALUE`,
    ],
  });
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
  if (value === undefined) throw notSet(key);
  if (typeof value === "object") await output.json(`${JSON.stringify(value)}\n`);
  else await output.line(String(value));
}
