import { CliError } from "../../errors.ts";
import type { GlobalFlags } from "../global-flags.ts";
import type { Environment } from "../find/folders.ts";
import { givenWord } from "./given.ts";
import type { ConfigFile, Origin } from "./layers.ts";
import { nearest } from "./nearest.ts";
import { whereIs } from "../file/problems.ts";
import type { ConfigContent } from "./schema.ts";

/** A file with what of it is in effect. */
export interface Source {
  file: ConfigFile;
  content: ConfigContent;
}

export interface ChosenProfile {
  name: string;
  origin: Origin;
  /** `file:line:column` where a file says it. */
  place?: string;
}

function namesIn(sources: readonly Source[]): string[] {
  // Names of an untrusted file count as known: its addresses are refused later, by name.
  return [...new Set(sources.flatMap(({ file }) => Object.keys(file.content.profiles ?? {})))];
}

function unknownProfile(name: string, where: string, known: readonly string[]): CliError {
  const suggestion = nearest(name, known);
  const list = known.length > 0 ? `known are ${known.join(", ")}` : "no profile is configured";
  return new CliError("not-configured", `${where}: there is no profile "${name}"; ${list}`, {
    hints: [
      suggestion ? `did you mean --profile ${suggestion}?` : "see them: knowctl config list",
      `or make it: knowctl config init --profile ${name}`,
    ],
  });
}

/**
 * Which profile is in effect: flag, variable, `defaultProfile` of the project
 * file, of the user file; else the only one in effect; else `default`. `sources`
 * with the project file first. Throws CliError `not-configured` for an unknown one.
 */
export function chooseProfile(
  flags: GlobalFlags,
  env: Environment,
  sources: readonly Source[],
  options: { mayBeNew?: boolean | undefined } = {},
): ChosenProfile {
  const known = namesIn(sources);
  const given = givenWord(flags, env, "profile");
  const defaults = sources.flatMap(({ file, content }): ChosenProfile[] => {
    const name = content.defaultProfile;
    if (name === undefined) return [];
    const path = [...file.prefix, "defaultProfile"];
    const place = whereIs(file, path);
    const where = place.replace(/:\d+$/, "");
    return [{ name, place, origin: { source: file.layer, where, overrides: [] } }];
  });
  const own = [...new Set(sources.flatMap(({ content }) => Object.keys(content.profiles ?? {})))];
  const fallback: ChosenProfile = {
    name: own.length === 1 && own[0] !== undefined ? own[0] : "default",
    origin: {
      source: "default",
      where: own.length === 1 ? "the only profile" : "built-in",
      overrides: [],
    },
  };
  const chain = [
    ...(given
      ? [{ name: given.word, origin: { source: given.source, where: given.where, overrides: [] } }]
      : []),
    ...defaults,
    fallback,
  ];
  const chosen = chain[0] ?? fallback;
  const needed = chosen !== fallback && !options.mayBeNew;
  if (needed && !known.includes(chosen.name))
    throw unknownProfile(chosen.name, chosen.place ?? chosen.origin.where, known);
  const overrides = chain.slice(1).map(({ origin }) => origin);
  return { name: chosen.name, origin: { ...chosen.origin, overrides } };
}
