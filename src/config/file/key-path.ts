import { CliError } from "../../errors.ts";
import { isSecretName } from "../values/members.ts";
import { nearest } from "../../nearest.ts";
import { ConfigContent, Profile } from "../values/schema.ts";
import { knownKeys } from "../values/validate.ts";

const topKeys = Object.keys(ConfigContent.shape);
const profileKeys = Object.keys(Profile.shape);
// Users choose the names below these keys, and such names may hold dots.
const userNamed = new Set(["metadata", "tags", "headers"]);

function unknownKey(key: string, word: string, known: readonly string[]): CliError {
  const suggestion = nearest(word, known);
  return new CliError("usage", `unknown configuration key ${key}`, {
    hints: [
      suggestion
        ? `did you mean ${suggestion}?`
        : `known keys here: ${[...new Set(known)].join(", ")}`,
      "all keys: knowctl config schema",
    ],
  });
}

function checkStep(key: string, path: readonly string[], word: string): void {
  const known = knownKeys(path);
  const parent = path.at(-1) ?? "";
  const isFree = path.length === 1 && parent === "profiles";
  if (isFree || userNamed.has(parent) || known.includes(word)) return;
  throw unknownKey(key, word, known);
}

/**
 * Parses the key argument of `config get|set|unset`: `ingest.include`,
 * `profiles.production.baseUrl`, or a profile member alone (`baseUrl`), which means
 * the profile in effect. Throws CliError `usage` for an unknown key.
 */
export function parseKey(key: string, profile: string, profiles: readonly string[] = []): string[] {
  const words = key.split(".");
  const first = words[0] ?? "";
  const inProfile = !topKeys.includes(first) && profileKeys.includes(first);
  if (!inProfile && !topKeys.includes(first))
    throw unknownKey(key, first, [...topKeys, ...profileKeys]);
  const path: string[] = inProfile ? ["profiles", profile] : [];
  let rest = words;
  if (first === "profiles") {
    // Profile names may hold dots: the longest existing name wins.
    const tail = key.slice("profiles.".length);
    const named = profiles
      .filter((name) => tail === name || tail.startsWith(`${name}.`))
      .toSorted((a, b) => b.length - a.length)[0];
    const name = named ?? words[1];
    path.push("profiles", ...(name ? [name] : []));
    const after = name ? tail.slice(name.length + 1) : "";
    rest = after === "" ? [] : after.split(".");
  }
  for (let index = 0; index < rest.length; index++) {
    const parent = path.at(-1) ?? "";
    if (userNamed.has(parent)) {
      path.push(rest.slice(index).join("."));
      break;
    }
    const word = rest[index] ?? "";
    checkStep(key, path, word);
    path.push(word);
  }
  return path;
}

/** Whether a path names a secret, or an object that holds one. */
export function isSecretPath(path: readonly string[]): boolean {
  return path[0] === "profiles" && (isSecretName(path[2] ?? "") || path[2] === "headers");
}
