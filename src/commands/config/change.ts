import {
  changeDraft,
  openDraft,
  readDraft,
  renderDraft,
  saveDraft,
  type Draft,
} from "../../config/file/edit.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import { isSecretPath, parseKey, isProfileName } from "../../config/values/validate.ts";
import { headerProblems } from "../../config/values/secrets.ts";
import { isSecretName } from "../../config/values/members.ts";
import { nearest } from "../../nearest.ts";
import { addressProblem } from "../../config/values/url.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { createOutput } from "../../output/terminal/output.ts";
import { loadToShow, machineOf, targetFile } from "./files.ts";

export interface ChangeOptions extends GlobalFlags {
  /** Change the project file instead of the user file. */
  local?: boolean;
}

interface Opened {
  draft: Draft;
  path: string[];
}

function profileNames(draft: Draft): string[] {
  const profiles = readDraft(draft, ["profiles"]);
  return typeof profiles === "object" && profiles !== null ? Object.keys(profiles) : [];
}

async function open(context: Context, key: string, options: ChangeOptions): Promise<Opened> {
  const output = createOutput(context, options);
  const target = await targetFile(context, options);
  const draft = await openDraft(target.path, target.isPrivate, machineOf(context));
  // A short key refers to the profile in effect, which this change may create.
  const userOnly = options.local !== true;
  const { config: _named, ...flags } = options;
  const { profile } = await loadToShow(context, flags, output, { userOnly, mayBeNew: true });
  const path = parseKey(key, profile, profileNames(draft));
  if (path[0] === "profiles" && path[1] !== undefined && !isProfileName(path[1])) {
    throw new CliError("usage", `"${path[1]}" is not a valid profile name`, {
      hints: ['use letters, digits, "-", "_" and "."'],
    });
  }
  return { draft, path };
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Possible values of a typed text, the most likely first; the schema decides. */
function candidateValues(text: string): unknown[] {
  const parsed = fromJson(text);
  const isStructure = typeof parsed === "object" && parsed !== null;
  const all = isStructure ? [parsed, text] : [text, ...(parsed === undefined ? [] : [parsed])];
  return [...all, [text]];
}

async function firstValid(draft: Draft, path: readonly string[], text: string): Promise<Draft> {
  let failure: unknown;
  for (const value of candidateValues(text)) {
    const next = changeDraft(draft, path, value);
    try {
      await renderDraft(next);
      return next;
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      failure ??= error;
    }
  }
  throw failure;
}

function keyInArguments(key: string, isHeader: boolean): CliError {
  return new CliError(
    "usage",
    `${key}: a key cannot be an argument: every process can read arguments`,
    {
      hints: [
        ...(isHeader ? [] : ["store it: knowctl login"]),
        `name a variable: knowctl config set ${key} '{"env": "NAME"}'`,
        `or a file: knowctl config set ${key} '{"file": "PATH"}'`,
      ],
    },
  );
}

/** Whether a typed value holds a key, at any depth. */
function holdsKey(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(
    ([name, inner]) =>
      (isSecretName(name) && typeof inner === "string") ||
      (name === "headers" && Object.values(inner ?? {}).some((each) => typeof each === "string")) ||
      holdsKey(inner),
  );
}

function checkAddress(key: string, draft: Draft, path: readonly string[]): void {
  const member = path[0] === "profiles" ? path[2] : undefined;
  if (path.length !== 3 || (member !== "baseUrl" && member !== "proxy")) return;
  const problem = addressProblem(member, readDraft(draft, path) as string);
  if (problem) throw new CliError("usage", `${key}: ${problem}`);
}

function checkHeaders(key: string, draft: Draft, path: readonly string[]): void {
  if (path[0] !== "profiles" || path[2] !== "headers") return;
  const [problem] = headerProblems(Object.keys(readDraft(draft, path.slice(0, 3)) as object));
  if (problem) throw new CliError("usage", `${key}: ${problem.message}`);
}

const place = /^.*?:\d+:\d+: (?:[\w.[\]-]+: )?/;

// The text was never in a file, so line and column are useless: the error names only the key.
function withoutPlace(key: string, error: unknown): unknown {
  if (!(error instanceof CliError) || !place.test(error.message)) return error;
  return new CliError("usage", `${key}: ${error.message.replace(place, "")}`, {
    hints: ["see the allowed values: knowctl config schema"],
  });
}

/** `config set KEY VALUE`: VALUE is a word, or JSON. */
export async function configSet(
  context: Context,
  [key = "", text = ""]: string[],
  options: ChangeOptions,
): Promise<void> {
  const { draft, path } = await open(context, key, options);
  const isReference = typeof fromJson(text) === "object" && fromJson(text) !== null;
  const isHeaders = path.length === 3 && path[2] === "headers";
  const given = isHeaders ? { headers: fromJson(text) } : fromJson(text);
  const holds = path[0] === "profiles" && path.length <= 3 && holdsKey(given);
  if (holds || (isSecretPath(path) && !isReference))
    throw keyInArguments(key, path[2] === "headers");
  if (path.length < 2 && path[0] !== "defaultProfile" && path[0] !== "$schema" && !isReference) {
    throw new CliError("usage", `${key} is a group of settings, not a value`, {
      hints: ["set one of its members, as ingest.include"],
    });
  }
  let next: Draft;
  try {
    next = await firstValid(draft, path, text);
  } catch (error) {
    throw withoutPlace(key, error);
  }
  checkAddress(key, next, path);
  checkHeaders(key, next, path);
  await saveDraft(next);
  const output = createOutput(context, options);
  await output.note(`${path.join(".")} set in ${draft.path}`);
  const isDefault = next.isPrivate && path.join(".") === "defaultProfile";
  const name = isDefault ? readDraft(next, path) : undefined;
  if (typeof name !== "string" || profileNames(next).includes(name)) return;
  await output.warn(
    `there is no profile "${name}" in ${draft.path} yet; create it: knowctl config init --profile ${name}`,
  );
}

/** `config unset KEY`. Throws CliError `not-found` if the key is not in the file. */
export async function configUnset(
  context: Context,
  [key = ""]: string[],
  options: ChangeOptions,
): Promise<void> {
  const { draft, path } = await open(context, key, options);
  if (readDraft(draft, path) === undefined) {
    throw new CliError("not-found", `${path.join(".")} is not set in ${draft.path}`, {
      hints: ["see where it is set: knowctl config show --origin"],
    });
  }
  await saveDraft(changeDraft(draft, path, undefined));
  await createOutput(context, options).note(`${path.join(".")} removed from ${draft.path}`);
}

/** `config use PROFILE`: makes it the default profile of the user file. */
export async function configUse(
  context: Context,
  [name = ""]: string[],
  options: ChangeOptions,
): Promise<void> {
  const output = createOutput(context, options);
  const { profile: _profile, ...flags } = options;
  const config = await loadToShow(context, flags, output, { mayBeNew: true });
  const names = [
    ...new Set(config.files.flatMap((file) => Object.keys(file.content.profiles ?? {}))),
  ];
  if (!names.includes(name)) {
    const suggestion = nearest(name, names);
    throw new CliError("not-found", `there is no profile "${name}"`, {
      details: names.map((each) => `known: ${each}`),
      hints: [suggestion ? `did you mean ${suggestion}?` : "create one: knowctl config init"],
    });
  }
  const target = await targetFile(context, options);
  const draft = await openDraft(target.path, target.isPrivate, machineOf(context));
  // The user file also applies where this project file does not.
  if (target.isPrivate && !profileNames(draft).includes(name)) {
    throw new CliError("not-found", `there is no profile "${name}" in ${draft.path}`, {
      hints: [
        `it is of this project; make it the default here: knowctl config use ${name} --local`,
      ],
    });
  }
  await saveDraft(changeDraft(draft, ["defaultProfile"], name));
  await output.note(`${name} is now the default profile (${draft.path})`);
  const { source, where } = config.origins.get("profile") ?? { source: "default", where: "" };
  const goesFirst = source === "env" || (source === "project" && !where.startsWith(draft.path));
  if (goesFirst && config.profile !== name) {
    await output.warn(`here, the profile stays ${config.profile}, by ${where}`);
  }
}
