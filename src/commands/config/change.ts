import {
  changeDraft,
  openDraft,
  readDraft,
  renderDraft,
  saveDraft,
  type Draft,
} from "../../config/file/edit.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import { parseKey } from "../../config/values/validate.ts";
import { secretsOf } from "../../config/values/members.ts";
import type { ConfigContent } from "../../config/values/schema.ts";
import { nearest } from "../../nearest.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { createOutput, type Output } from "../../output/terminal/output.ts";
import { contentProblems } from "./check.ts";
import { checkedProfile, loadToShow, saveProject, targetFile } from "./files.ts";
import { createMachine } from "../../config/find/folders.ts";

export interface ChangeOptions extends GlobalFlags {
  /** Change the project file instead of the user file. */
  local?: boolean;
}

interface Opened {
  draft: Draft;
  path: string[];
  isProject: boolean;
}

function profileNames(draft: Draft): string[] {
  const profiles = readDraft(draft, ["profiles"]);
  return typeof profiles === "object" && profiles !== null ? Object.keys(profiles) : [];
}

async function open(context: Context, key: string, options: ChangeOptions): Promise<Opened> {
  const output = createOutput(context, options);
  const target = await targetFile(context, options);
  const draft = await openDraft(target.path, target.isPrivate, createMachine(context));
  // A short key refers to the profile in effect, which this change may create.
  const userOnly = options.local !== true;
  const { config: _named, ...flags } = options;
  const { profile } = await loadToShow(context, flags, output, { userOnly, mayBeNew: true });
  const path = parseKey(key, profile, profileNames(draft));
  if (path[0] === "profiles" && path[1] !== undefined) checkedProfile(path[1]);
  return { draft, path, isProject: target.isProject };
}

/** Saves the draft and says what was changed. */
async function save(output: Output, draft: Draft, isProject: boolean, changed: string) {
  const untrusted = isProject ? await saveProject(draft) : await saveDraft(draft);
  await output.note(changed);
  if (untrusted !== undefined) await output.note(untrusted);
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * The draft with a typed text as the value: as JSON, as text, or as the only item of a list, as the
 * schema wants it. Throws the error of JSON, if it is JSON, else of the text.
 */
async function withText(draft: Draft, path: readonly string[], text: string): Promise<Draft> {
  const parsed = fromJson(text);
  const isStructure = typeof parsed === "object" && parsed !== null;
  const json = parsed === undefined ? [] : [parsed];
  const failures = new Map<unknown, CliError>();
  for (const value of [...(isStructure ? [parsed, text] : [text, ...json]), [text]]) {
    const next = changeDraft(draft, path, value);
    try {
      await renderDraft(next);
      return next;
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      failures.set(value, error);
    }
  }
  throw failures.get(parsed ?? text);
}

const place = /^.*?:\d+:\d+: (?:[\w.[\]-]+: )?/;

// The text was never in a file, so line and column are useless: the error names only the key.
function withoutPlace(key: string, error: unknown): unknown {
  if (!(error instanceof CliError) || !place.test(error.message)) return error;
  return new CliError("usage", `${key}: ${error.message.replace(place, "")}`, {
    hints: ["see the allowed values: knowctl config schema"],
  });
}

/** Throws CliError `usage` for a key in an argument, and for a value that has no effect. */
function checkChange(key: string, draft: Draft, path: readonly string[]): void {
  const isBelow = (each: readonly string[]): boolean => path.every((step, at) => each[at] === step);
  const content = readDraft(draft, []) as ConfigContent;
  for (const [name, profile] of Object.entries(content.profiles ?? {})) {
    const stored = secretsOf(profile).find(
      (each) => typeof each.secret === "string" && isBelow(["profiles", name, ...each.path]),
    );
    if (!stored) continue;
    const full = ["profiles", name, ...stored.path].join(".");
    const message = `${key}: a key cannot be an argument: every process can read arguments`;
    throw new CliError("usage", message, {
      hints: [
        ...(stored.path[0] === "headers" ? [] : ["store it: knowctl login"]),
        `name a variable: knowctl config set ${full} '{"env": "NAME"}'`,
        `or a file: knowctl config set ${full} '{"file": "PATH"}'`,
      ],
    });
  }
  const kind = { isUser: draft.isPrivate, isNamed: !draft.isPrivate };
  const problem = contentProblems(content, kind).find((each) => isBelow(each.path));
  if (problem) throw new CliError("usage", `${key}: ${problem.message}`);
}

/** `config set KEY VALUE`: VALUE is a word, or JSON. */
export async function configSet(
  context: Context,
  [key = "", text = ""]: string[],
  options: ChangeOptions,
): Promise<void> {
  const { draft, path, isProject } = await open(context, key, options);
  const isStructure = typeof fromJson(text) === "object" && fromJson(text) !== null;
  if (path.length < 2 && path[0] !== "defaultProfile" && path[0] !== "$schema" && !isStructure) {
    throw new CliError("usage", `${key} is a group of settings, not a value`, {
      hints: ["set one of its members, as ingest.include"],
    });
  }
  const next = await withText(draft, path, text).catch((error: unknown) => {
    throw withoutPlace(key, error);
  });
  checkChange(key, next, path);
  const output = createOutput(context, options);
  await save(output, next, isProject, `${path.join(".")} set in ${draft.path}`);
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
  const { draft, path, isProject } = await open(context, key, options);
  if (readDraft(draft, path) === undefined) {
    throw new CliError("not-found", `${path.join(".")} is not set in ${draft.path}`, {
      hints: ["see where it is set: knowctl config show --origin"],
    });
  }
  const output = createOutput(context, options);
  const changed = `${path.join(".")} removed from ${draft.path}`;
  await save(output, changeDraft(draft, path, undefined), isProject, changed);
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
  const draft = await openDraft(target.path, target.isPrivate, createMachine(context));
  // The user file also applies where this project file does not.
  if (target.isPrivate && !profileNames(draft).includes(name)) {
    throw new CliError("not-found", `there is no profile "${name}" in ${draft.path}`, {
      hints: [
        `it is of this project; make it the default here: knowctl config use ${name} --local`,
      ],
    });
  }
  const next = changeDraft(draft, ["defaultProfile"], name);
  const changed = `${name} is now the default profile (${draft.path})`;
  await save(output, next, target.isProject, changed);
  const { source, where } = config.origins.get("profile") ?? { source: "default", where: "" };
  const goesFirst = source === "env" || (source === "project" && !where.startsWith(draft.path));
  if (goesFirst && config.profile !== name) {
    await output.warn(`here, the profile stays ${config.profile}, by ${where}`);
  }
}
