import { CliError } from "../../errors.ts";
import type { OwnerRules } from "../../ownership.ts";
import type { Environment } from "../find/folders.ts";
import type { GlobalFlags } from "../global-flags.ts";
import type { Layer } from "./layers.ts";
import { addressMembers, secretMembers } from "./members.ts";
import type { Profile } from "./schema.ts";

/** Profile members that are also flags and variables. */
const flagMembers = [...addressMembers, "dialect", "timeout"] as const;
/** Keys are variables, but never flags: argv is public. */
const variableMembers = [...flagMembers, ...secretMembers];

const words = (member: string): string[] => member.split(/(?=[A-Z])/);
const flagOf = (member: string): string => `--${words(member).join("-").toLowerCase()}`;
const variableOf = (member: string): string => `KNOWCTL_${words(member).join("_").toUpperCase()}`;

/** Whether a flag set the member, and no variable. */
function isFlag(flags: GlobalFlags, name: keyof GlobalFlags): boolean {
  return flags[name] !== undefined && flags.flagSources?.[name] !== "env";
}

export function flagLayer(flags: GlobalFlags, cwd: string): Layer {
  const names = flagMembers.filter((name) => isFlag(flags, name));
  return {
    source: "flag",
    values: Object.fromEntries(names.map((name) => [name, flags[name]])) as Profile,
    where: ([name]) => flagOf(String(name)),
    folder: cwd,
  };
}

/**
 * Values of variables, also of overridden ones: `config show --origin` lists them. Empty means unset.
 * cli/environment.ts has checked those that are flags too.
 */
export function environmentLayer(env: Environment, cwd: string): Layer {
  const values = variableMembers.flatMap((member) => {
    const text = env[variableOf(member)]?.trim();
    return text ? [[member, member === "timeout" ? Number(text) : text]] : [];
  });
  return {
    source: "env",
    values: Object.fromEntries(values) as Profile,
    where: ([name]) => variableOf(String(name)),
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
  const variable = variableOf(name);
  const word = flags[name] ?? (env[variable]?.trim() || undefined);
  if (word === undefined) return undefined;
  return isFlag(flags, name)
    ? { word, source: "flag", where: flagOf(name) }
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
  throw new CliError("usage", `${variable}: expected true or false`, {
    hints: ["correct the variable, or unset it"],
  });
}
