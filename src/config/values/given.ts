import { CliError } from "../../errors.ts";
import type { OwnerRules } from "../../ownership.ts";
import type { Environment } from "../find/folders.ts";
import type { GlobalFlags } from "../global-flags.ts";
import type { Layer } from "./layers.ts";
import type { DialectName, Profile } from "./schema.ts";

/** Profile members that are also flags and variables. Keys are never flags: argv is public. */
const flagNames = {
  baseUrl: "--base-url",
  dialect: "--dialect",
  timeout: "--timeout",
  caFile: "--ca-file",
  clientCert: "--client-cert",
  clientKey: "--client-key",
  proxy: "--proxy",
} as const;

const variableNames = {
  baseUrl: "KNOWCTL_BASE_URL",
  dialect: "KNOWCTL_DIALECT",
  timeout: "KNOWCTL_TIMEOUT",
  caFile: "KNOWCTL_CA_FILE",
  clientCert: "KNOWCTL_CLIENT_CERT",
  clientKey: "KNOWCTL_CLIENT_KEY",
  clientKeyPassphrase: "KNOWCTL_CLIENT_KEY_PASSPHRASE",
  proxy: "KNOWCTL_PROXY",
  accessToken: "KNOWCTL_ACCESS_TOKEN",
  apiKey: "KNOWCTL_API_KEY",
} as const;

type FlagMember = keyof typeof flagNames;
type VariableMember = keyof typeof variableNames;

function isFlag(flags: GlobalFlags, name: FlagMember | "profile" | "config"): boolean {
  return flags[name] !== undefined && flags.flagSources?.[name] !== "env";
}

export function flagLayer(flags: GlobalFlags, cwd: string): Layer {
  const names = (Object.keys(flagNames) as FlagMember[]).filter((name) => isFlag(flags, name));
  return {
    source: "flag",
    values: Object.fromEntries(names.map((name) => [name, flags[name]])) as Profile,
    where: ([name]) => flagNames[name as FlagMember],
    folder: cwd,
  };
}

const hints = ["correct the variable, or unset it"];

function readTimeout(text: string): number {
  const seconds = /^\d{1,6}(\.\d+)?$/.test(text) ? Number(text) : 0;
  if (seconds >= 0.001 && seconds <= 86_400) return seconds;
  throw new CliError("usage", "KNOWCTL_TIMEOUT: expected a number of seconds from 0.001 to 86400", {
    hints,
  });
}

function readDialect(text: string): DialectName {
  if (text === "standard" || text === "onyx") return text;
  throw new CliError("usage", "KNOWCTL_DIALECT: expected standard or onyx", { hints });
}

/** Values of variables, also of overridden ones: `config show --origin` lists them. Empty means unset. */
export function environmentLayer(env: Environment, cwd: string): Layer {
  const values: Record<string, unknown> = {};
  for (const name of Object.keys(variableNames) as VariableMember[]) {
    const text = env[variableNames[name]]?.trim();
    if (!text) continue;
    if (name === "timeout") values[name] = readTimeout(text);
    else values[name] = name === "dialect" ? readDialect(text) : text;
  }
  return {
    source: "env",
    values: values as Profile,
    where: ([name]) => variableNames[name as VariableMember],
    folder: cwd,
  };
}

export const builtInLayer: Layer = {
  source: "default",
  values: { dialect: "standard" },
  where: () => "built-in",
  folder: ".",
};

/** The value of a flag or its variable, and which of the two set it. */
export function givenWord(
  flags: GlobalFlags,
  env: Environment,
  name: "profile" | "config",
): { word: string; source: "flag" | "env"; where: string } | undefined {
  const variable = `KNOWCTL_${name.toUpperCase()}`;
  const word = flags[name] ?? (env[variable]?.trim() || undefined);
  if (word === undefined) return undefined;
  return isFlag(flags, name)
    ? { word, source: "flag", where: `--${name}` }
    : { word, source: "env", where: variable };
}

/** Which owners' files of a checkout are used: the current user's, or all (KNOWCTL_TRUST_PROJECT). */
export function ownerRules({ uid, env }: { uid: number; env: Environment }): OwnerRules {
  return { uid, trustAll: isOn(env, "KNOWCTL_TRUST_PROJECT") };
}

const yes = new Set(["1", "true", "yes", "on"]);
const no = new Set(["", "0", "false", "no", "off"]);

/** Whether a switch variable is on. Throws CliError `usage` for a value that is neither on nor off. */
export function isOn(env: Environment, variable: string): boolean {
  const word = (env[variable] ?? "").trim().toLowerCase();
  if (yes.has(word)) return true;
  if (no.has(word)) return false;
  throw new CliError("usage", `${variable}: expected true or false`, { hints });
}
