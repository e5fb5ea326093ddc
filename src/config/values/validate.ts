import type { core } from "zod/mini";
import { CliError } from "../../errors.ts";
import { nearest } from "../../nearest.ts";
import { dotted, valueAt, whereIs, type Path, type Problem, type Tree } from "../file/problems.ts";
import { isSecretName } from "./members.ts";
import {
  ChatSettings,
  ConfigContent,
  FrontMatterSettings,
  IngestRule,
  IngestSettings,
  LintSettings,
  Profile,
  profileName,
} from "./schema.ts";

/** The JSON type of the value at a path. Never the value itself: it may be a secret. */
function typeAt(content: unknown, path: Path): string {
  const value = valueAt(content, path);
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  return Array.isArray(value) ? "list" : typeof value;
}

const typeNames: Record<string, string> = { int: "whole number", array: "list", record: "object" };

const messages: { [Code in core.$ZodIssue["code"]]?: (issue: never, found: string) => string } = {
  invalid_type: (issue: core.$ZodIssueInvalidType, found) =>
    `expected ${typeNames[issue.expected] ?? issue.expected}, found ${found}`,
  invalid_value: (issue: core.$ZodIssueInvalidValue) =>
    `expected one of ${issue.values.map(String).join(", ")}`,
  too_small: (issue: core.$ZodIssueTooSmall) =>
    issue.origin === "number" ? `expected at least ${issue.minimum}` : "may not be empty",
  too_big: (issue: core.$ZodIssueTooBig) => `expected at most ${issue.maximum}`,
};

function messageFor(issue: core.$ZodIssue, content: unknown): string {
  const write = messages[issue.code];
  if (write) return write(issue as never, typeAt(content, issue.path as Path));
  if (issue.code === "invalid_format") {
    if (issue.path.at(-1) === "model") return "expected PROVIDER/VERSION";
    if (issue.path.at(-1) === "linkBase")
      return "expected an address like https://docs.example.com/";
    return "expected a name like prod-eu";
  }
  return issue.message;
}

/** Keys that are allowed at a path, for the "did you mean". */
function knownKeys(path: Path): string[] {
  if (path.length === 0) return Object.keys(ConfigContent.shape);
  if (path.length === 2 && path[0] === "profiles") return Object.keys(Profile.shape);
  if (path.at(-1) === "chat") return Object.keys(ChatSettings.shape);
  if (path.at(-1) === "ingest") return Object.keys(IngestSettings.shape);
  if (path.at(-1) === "frontMatter") return Object.keys(FrontMatterSettings.shape);
  if (path[0] === "lint") {
    return path.length === 1 ? Object.keys(LintSettings.shape) : ["paths", "rules"];
  }
  return typeof path.at(-1) === "number" ? Object.keys(IngestRule.shape) : [];
}

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

const topKeys = Object.keys(ConfigContent.shape);
const profileKeys = Object.keys(Profile.shape);
// Users choose the names below these keys, and such names may hold dots.
const userNamed = new Set(["metadata", "tags", "headers"]);

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

function checkStep(key: string, path: readonly string[], word: string): void {
  const known = knownKeys(path);
  const parent = path.at(-1) ?? "";
  const isFree = path.length === 1 && parent === "profiles";
  if (isFree || userNamed.has(parent) || known.includes(word)) return;
  throw unknownArgument(key, word, known);
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
    throw unknownArgument(key, first, [...topKeys, ...profileKeys]);
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
