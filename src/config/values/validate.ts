import type { core } from "zod/mini";
import { CliError, issueText } from "../../errors.ts";
import { nearest } from "../../nearest.ts";
import { dotted, valueAt, whereIs, type Path, type Problem, type Tree } from "../file/problems.ts";
import { ConfigContent, Profile, profileName } from "./schema.ts";

/** The JSON type of the value at a path. Never the value itself: it may be a secret. */
function typeAt(content: unknown, path: Path): string {
  const value = valueAt(content, path);
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  return Array.isArray(value) ? "list" : typeof value;
}

function messageFor(issue: core.$ZodIssue, content: unknown): string {
  if (issue.code === "invalid_format") {
    if (issue.path.at(-1) === "model") return "expected PROVIDER/VERSION";
    if (issue.path.at(-1) === "linkBase")
      return "expected an address like https://docs.example.com/";
    return "expected a name like prod-eu";
  }
  return issueText(issue, typeAt(content, issue.path as Path));
}

/** What a schema of zod says about its parts. */
interface Part {
  _zod: {
    def: {
      type: string;
      shape?: Record<string, Part>;
      innerType?: Part;
      element?: Part;
      valueType?: Part;
    };
  };
}

/** The part of the schema at a path; undefined where it has none. */
function partAt(path: Path): Part["_zod"]["def"] | undefined {
  let part: Part | undefined = ConfigContent as unknown as Part;
  for (const step of path) {
    while (part?._zod.def.innerType) part = part._zod.def.innerType;
    const { shape, element, valueType }: Partial<Part["_zod"]["def"]> = part?._zod.def ?? {};
    part = shape ? shape[String(step)] : (element ?? valueType);
  }
  while (part?._zod.def.innerType) part = part._zod.def.innerType;
  return part?._zod.def;
}

/** Keys that are allowed at a path, for the "did you mean". */
const knownKeys = (path: Path): string[] => Object.keys(partAt(path)?.shape ?? {});

function unknownKey(path: Path, key: string): string {
  if (key === "$import") return `${dotted(path)}: importing another file is not possible`;
  const ofProfile = path.length === 1 ? nearest(key, Object.keys(Profile.shape)) : undefined;
  const suggestion =
    nearest(key, knownKeys(path.slice(0, -1))) ?? (ofProfile && `profiles.NAME.${ofProfile}`);
  return `unknown key ${dotted(path)}${suggestion ? `; did you mean "${suggestion}"?` : ""}`;
}

type Checked = { content: ConfigContent } | { problems: Problem[] };

interface Parsed {
  path: string;
  text: string;
  tree: Tree;
}

/** Checks a parsed file against the schema. `prefix` is the path of the configuration in it. */
export function validateConfig(file: Parsed, prefix: Path): Checked {
  const value = valueAt(file.tree.value, prefix) ?? {};
  const result = ConfigContent.safeParse(value);
  if (result.success) return { content: result.data };
  // Report unknown keys first: a mistyped key is often why another key is missing.
  const isUnknown = (issue: core.$ZodIssue): boolean => issue.code === "unrecognized_keys";
  const issues = result.error.issues.toSorted(
    (a, b) => Number(isUnknown(b)) - Number(isUnknown(a)),
  );
  const problems = issues.flatMap((issue): Problem[] => {
    const path = issue.path as Path;
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => ({
        where: whereIs(file, [...prefix, ...path, key], true),
        message: unknownKey([...path, key], key),
      }));
    }
    if (issue.code === "invalid_key") {
      const what = path.includes("headers") ? "the name of a header" : "a profile name";
      const message = `${dotted(path)}: ${what} may hold letters, digits, "-", "_" and "."`;
      return [{ where: whereIs(file, [...prefix, ...path], true), message }];
    }
    const full = [...prefix, ...path];
    const message = messageFor(issue, value);
    return [
      {
        where: whereIs(file, full),
        message: path.length > 0 ? `${dotted(path)}: ${message}` : message,
      },
    ];
  });
  return { problems };
}

/** Whether `name` may name a profile. */
export function isProfileName(name: string): boolean {
  return profileName.test(name);
}

function unknownArgument(key: string, word: string, known: readonly string[]): CliError {
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

/** The path of a profile that a key begins with, and the words after it. */
function profilePath(key: string, profiles: readonly string[]): [path: string[], rest: string[]] {
  const tail = key.slice("profiles.".length);
  // Names may hold dots: the longest existing one wins.
  const named = profiles
    .filter((name) => tail === name || tail.startsWith(`${name}.`))
    .toSorted((a, b) => b.length - a.length)[0];
  const name = named ?? tail.split(".", 1)[0] ?? "";
  if (name === "") return [["profiles"], []];
  const after = tail.slice(name.length + 1);
  return [["profiles", name], after === "" ? [] : after.split(".")];
}

/**
 * Parses the key argument of `config get|set|unset`: `ingest.include`,
 * `profiles.production.baseUrl`, or a profile member alone (`baseUrl`), which means
 * the profile in effect. Throws CliError `usage` for an unknown key.
 */
export function parseKey(key: string, profile: string, profiles: readonly string[] = []): string[] {
  const [topKeys, profileKeys] = [knownKeys([]), knownKeys(["profiles", ""])];
  const words = key.split(".");
  const [first = ""] = words;
  const isOwn = !topKeys.includes(first) && profileKeys.includes(first);
  if (!isOwn && !topKeys.includes(first))
    throw unknownArgument(key, first, [...topKeys, ...profileKeys]);
  const own: string[] = isOwn ? ["profiles", profile] : [];
  const [path, rest] = first === "profiles" ? profilePath(key, profiles) : [own, words];
  for (const [index, word] of rest.entries()) {
    // Users choose the names in a record, and such names may hold dots.
    if (partAt(path)?.type === "record") return [...path, rest.slice(index).join(".")];
    const known = knownKeys(path);
    if (!known.includes(word)) throw unknownArgument(key, word, known);
    path.push(word);
  }
  return path;
}
