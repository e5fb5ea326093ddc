import { CliError } from "../../errors.ts";
import type { GlobalFlags } from "../global-flags.ts";
import type { Environment } from "../find/folders.ts";
import { givenWord } from "./given.ts";
import type { ConfigFile, Origin } from "./layers.ts";
import { nearest } from "../../nearest.ts";
import { whereIs } from "../file/problems.ts";
import type { ConfigContent } from "./schema.ts";

/** A configuration file with the content in effect. */
export interface Source {
  file: ConfigFile;
  content: ConfigContent;
}

export interface ChosenProfile {
  name: string;
  origin: Origin;
  /** `file:line:column` if a file names the profile. */
  place?: string;
}

function namesIn(sources: readonly Source[]): string[] {
  // Profiles of an untrusted file are known, too: a later error names their addresses.
  return [...new Set(sources.flatMap(({ file }) => Object.keys(file.content.profiles ?? {})))];
}

function unknownProfile(name: string, where: string, known: readonly string[]): CliError {
  const suggestion = nearest(name, known);
  const list =
    known.length > 0 ? `known profiles: ${known.join(", ")}` : "no profile is configured";
  return new CliError("not-configured", `${where}: there is no profile "${name}"; ${list}`, {
    hints: [
      suggestion
        ? `did you mean --profile ${suggestion}?`
        : "list the profiles: knowctl config list",
      `or create it: knowctl config init --profile ${name}`,
    ],
  });
}

/**
 * Chooses the profile in effect: flag, variable, `defaultProfile` of the project file, then
 * of the user file; else the only profile in effect; else `default`. `sources` lists the
 * project file first. Throws CliError `not-configured` for an unknown profile.
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
