import { resolve } from "node:path";
import { findProject, findUserFile, readNamed } from "../../config/find/discover.ts";
import { checkPrivate } from "../../config/file/files.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import { givenWord, isOn } from "../../config/values/given.ts";
import { headerProblems } from "../../config/values/secrets.ts";
import { secretsOf } from "../../config/values/members.ts";
import { parseFound, type ParsedFile } from "../../config/file/parse.ts";
import { brokenConfig, schemaAdvice, whereIs, type Problem } from "../../config/file/problems.ts";
import type { FoundFile } from "../../config/find/places.ts";
import { claimsOf, rememberTrust } from "../../config/trust.ts";
import type { ConfigContent } from "../../config/values/schema.ts";
import { addressProblem } from "../../config/values/url.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { nearest } from "../../nearest.ts";
import { createOutput, type Output } from "../../output/terminal/output.ts";
import { createMachine } from "../../config/find/folders.ts";

/** A value that the schema allows and that is wrong. */
interface ContentProblem {
  path: string[];
  message: string;
  /** What to do instead of correcting the value. */
  advice?: string;
}

/** Bad addresses and headers, and members that have no effect in this kind of file. */
export function contentProblems(
  { profiles = {} }: ConfigContent,
  { isUser, isNamed }: { isUser: boolean; isNamed: boolean },
): ContentProblem[] {
  return Object.entries(profiles).flatMap(([name, profile]) => {
    const found: [path: string[], message: string | false | undefined][] = [
      ...(["baseUrl", "proxy"] as const).map((member): [string[], string | undefined] => [
        [member],
        addressProblem(member, profile[member]),
      ]),
      ...headerProblems(Object.keys(profile.headers ?? {})).map((each): [string[], string] => [
        ["headers", each.name],
        each.message,
      ]),
      [
        ["allowInsecureTls"],
        !isUser && profile.allowInsecureTls !== undefined && "applies only in the user file",
      ],
      [
        ["allowHttp"],
        !isUser && !isNamed && profile.allowHttp !== undefined && "has no effect in a project file",
      ],
      ...secretsOf(profile).map(({ path, secret }): [string[], string | false] => [
        path,
        !isUser &&
          typeof secret === "object" &&
          "command" in secret &&
          "a command applies only in the user file",
      ]),
    ];
    return found.flatMap(([path, message]) =>
      message ? [{ path: ["profiles", name, ...path], message }] : [],
    );
  });
}

/** The problem of a user file whose default profile is none of its own. */
function defaultProblem({ defaultProfile, profiles = {} }: ConfigContent): ContentProblem[] {
  if (defaultProfile === undefined || Object.hasOwn(profiles, defaultProfile)) return [];
  const names = Object.keys(profiles);
  const known = names.length === 0 ? "" : `; known profiles: ${names.join(", ")}`;
  const better = nearest(defaultProfile, names) ?? names[0];
  return [
    {
      path: ["defaultProfile"],
      message: `there is no profile "${defaultProfile}" in this file${known}`,
      advice:
        better === undefined
          ? `create the profile: knowctl config init --profile ${defaultProfile}`
          : `choose another: knowctl config use ${better}`,
    },
  ];
}

/** What is wrong in a file beyond the schema, which is no help then. */
function problemsIn(file: ParsedFile, kind: { isUser: boolean; isNamed: boolean }): Problem[] {
  const found = contentProblems(file.content, kind);
  const all = [...found, ...(kind.isUser ? defaultProblem(file.content) : [])];
  return all.map(({ path, message, advice }) => ({
    where: whereIs(file, [...file.prefix, ...path], true),
    message: `${path.join(".")}: ${message}`,
    advice: advice ?? `correct or remove the value in ${file.path}`,
  }));
}

interface Checked {
  found: FoundFile;
  isUser: boolean;
  isNamed: boolean;
}

async function filesToCheck(
  context: Context,
  name: string | undefined,
  options: GlobalFlags,
): Promise<Checked[]> {
  const machine = createMachine(context);
  const named = name ?? givenWord(options, context.env, "config")?.word;
  if (named !== undefined)
    return [{ found: await readNamed(named, context.cwd), isUser: false, isNamed: true }];
  const user = await findUserFile(machine);
  const trustAll = isOn(context.env, "KNOWCTL_TRUST_PROJECT");
  const project = await findProject(context.cwd, { machine, trustAll });
  if (project.refused) throw project.refused;
  return [
    ...(project.file ? [{ found: project.file, isUser: false, isNamed: false }] : []),
    ...(user ? [{ found: user, isUser: true, isNamed: false }] : []),
  ];
}

async function checkFile(
  { found, isUser, isNamed }: Checked,
  context: Context,
  output: Output,
): Promise<CliError | undefined> {
  try {
    const file = await parseFound(found);
    if (isUser) {
      const warnings: string[] = [];
      const holdsKey = Object.values(file.content.profiles ?? {}).some((profile) =>
        secretsOf(profile).some(({ secret }) => typeof secret === "string"),
      );
      checkPrivate(found.path, {
        uid: createMachine(context).uid,
        holdsKey,
        warn: (text) => warnings.push(text),
      });
      for (const warning of warnings) await output.warn(warning);
    }
    const problems = problemsIn(file, { isUser, isNamed });
    if (problems.length > 0) throw brokenConfig(problems);
    await output.note(`${found.path} is valid`);
    return undefined;
  } catch (error) {
    if (error instanceof CliError) return error;
    throw error;
  }
}

/** `config validate [FILE]`: reports every problem. Throws CliError `not-configured` if there is one. */
export async function configValidate(
  context: Context,
  [name]: string[],
  options: GlobalFlags,
): Promise<void> {
  const output = createOutput(context, options);
  const files = await filesToCheck(context, name, options);
  if (files.length === 0) await output.note("there is no configuration file to check");
  const errors: CliError[] = [];
  for (const file of files) {
    const error = await checkFile(file, context, output);
    if (error) errors.push(error);
  }
  const [first, ...rest] = errors.flatMap(({ message, details }) => [message, ...details]);
  if (first === undefined) return;
  const hints = errors.flatMap((error) => error.hints);
  const shown = hints.map((hint) =>
    hint === schemaAdvice ? "see the allowed values: knowctl config schema" : hint,
  );
  throw new CliError("not-configured", first, { details: rest, hints: [...new Set(shown)] });
}

/** `config trust [FILE]`: trusts the project file's current addresses, secret references, ids and target. */
export async function configTrust(
  context: Context,
  [name]: string[],
  options: GlobalFlags,
): Promise<void> {
  const output = createOutput(context, options);
  const machine = createMachine(context);
  const found =
    name === undefined
      ? await findProject(context.cwd, { machine, trustAll: false })
      : { file: await readNamed(resolve(context.cwd, name), context.cwd) };
  if ("refused" in found && found.refused) throw found.refused;
  if (!found.file) {
    throw new CliError("not-found", `there is no project file at or above ${context.cwd}`, {
      hints: ["pass the file: knowctl config trust FILE"],
    });
  }
  const file = await parseFound(found.file);
  const claims = claimsOf(file.content);
  for (const { key, text } of claims) await output.note(`${key}: ${text}`);
  await rememberTrust(file, machine);
  await output.note(`${file.path} is trusted until one of these values changes`);
}
