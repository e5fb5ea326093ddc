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
}

interface Candidate extends ChosenProfile {
  /** The file that names the profile, and `file:line:column`. */
  file?: ConfigFile;
  place?: string;
}

export interface ProfileRequest {
  /** Accept the name of a profile that does not exist yet (config init, login). */
  mayBeNew?: boolean | undefined;
  /** The command needs no profile: an unknown `defaultProfile` is reported here, and no profile applies. */
  warn?: ((message: string) => void) | undefined;
}

function namesIn(sources: readonly Source[]): string[] {
  // Profiles of an untrusted file are known, too: a later error names their addresses.
  return [...new Set(sources.flatMap(({ file }) => Object.keys(file.content.profiles ?? {})))];
}

/** How to mend a file whose `defaultProfile` is unknown. */
function defaultHints(name: string, file: ConfigFile, known: readonly string[]): string[] {
  const where = file.layer === "user" ? "" : " --local";
  if (known.length === 0) {
    const removal = file.named
      ? "or remove it from the file"
      : `or remove it: knowctl config unset defaultProfile${where}`;
    return [`create the profile: knowctl config init --profile ${name}`, removal];
  }
  const better = nearest(name, known);
  const other = better ?? "NAME";
  return [
    ...(better === undefined ? ["list the profiles: knowctl config list"] : []),
    file.named
      ? `make ${better ?? "another"} the defaultProfile of the file`
      : `make ${better ?? "one"} the default profile: knowctl config use ${other}${where}`,
    `or choose a profile for this command: --profile ${other}`,
    `or create it: knowctl config init --profile ${name}`,
  ];
}

function unknownProfile(
  { name, origin, place, file }: Candidate,
  known: readonly string[],
): CliError {
  const suggestion = nearest(name, known);
  const list =
    known.length > 0 ? `known profiles: ${known.join(", ")}` : "no profile is configured";
  const message = `${place ?? origin.where}: there is no profile "${name}"; ${list}`;
  const hints = file
    ? defaultHints(name, file, known)
    : [
        suggestion
          ? `did you mean --profile ${suggestion}?`
          : "list the profiles: knowctl config list",
        URL.canParse(name)
          ? "an address is no profile: name it with --base-url"
          : `or create it: knowctl config init --profile ${name}`,
      ];
  return new CliError("not-configured", message, { hints });
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
  options: ProfileRequest = {},
): ChosenProfile {
  const known = namesIn(sources);
  const given = givenWord(flags, env, "profile");
  const defaults = sources.flatMap(({ file, content }): Candidate[] => {
    const name = content.defaultProfile;
    if (name === undefined) return [];
    const path = [...file.prefix, "defaultProfile"];
    const place = whereIs(file, path);
    const where = place.replace(/:\d+$/, "");
    return [{ name, file, place, origin: { source: file.layer, where, overrides: [] } }];
  });
  const own = [...new Set(sources.flatMap(({ content }) => Object.keys(content.profiles ?? {})))];
  const fallback: Candidate = {
    name: own.length === 1 && own[0] !== undefined ? own[0] : "default",
    origin: {
      source: "default",
      where: own.length === 1 ? "the only profile" : "built-in",
      overrides: [],
    },
  };
  const chain: Candidate[] = [
    ...(given
      ? [{ name: given.word, origin: { source: given.source, where: given.where, overrides: [] } }]
      : []),
    ...defaults,
    fallback,
  ];
  const chosen = chain[0] ?? fallback;
  const needed = chosen !== fallback && !options.mayBeNew;
  if (needed && !known.includes(chosen.name)) {
    const problem = unknownProfile(chosen, known);
    if (!chosen.file || !options.warn) throw problem;
    options.warn([problem.message, "no profile applies", ...problem.hints.slice(0, 2)].join("; "));
  }
  const overrides = chain.slice(1).map(({ origin }) => origin);
  return { name: chosen.name, origin: { ...chosen.origin, overrides } };
}
