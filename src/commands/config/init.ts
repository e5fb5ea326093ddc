import {
  changeDraft,
  openDraft,
  readDraft,
  saveDraft,
  type Draft,
} from "../../config/file/edit.ts";
import { expandPath } from "../../config/find/folders.ts";
import { parseBaseUrl } from "../../config/values/url.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { writeError, createOutput, type Output } from "../../output/terminal/output.ts";
import { createPrompt, type Prompt } from "../prompt.ts";
import type { RunLine } from "../try/try.ts";
import { machineOf, userFile } from "./files.ts";
import { testConnection } from "./init-connection.ts";
import {
  askMissing,
  doubtfulAnswer,
  readKnown,
  type Answers,
  type InitOptions,
} from "./init-questions.ts";

function originOf(address: unknown): string | undefined {
  try {
    return typeof address === "string" ? parseBaseUrl(address).origin : undefined;
  } catch {
    return undefined;
  }
}

function withAnswers(
  draft: Draft,
  answers: Answers,
  options: InitOptions,
  context: Context,
): Draft {
  const at = (member: string): string[] => ["profiles", answers.profile, member];
  const moved = originOf(readDraft(draft, at("baseUrl"))) !== originOf(answers.baseUrl);
  let next = changeDraft(draft, at("baseUrl"), answers.baseUrl);
  next = changeDraft(next, at("dialect"), answers.dialect);
  next = changeDraft(next, at("apiKey"), answers.apiKey);
  // A key that was stored for another address must not be sent to this one.
  if (moved || answers.accessToken)
    next = changeDraft(next, at("accessToken"), answers.accessToken);
  if (options.proxy !== undefined) next = changeDraft(next, at("proxy"), options.proxy);
  for (const member of ["caFile", "clientCert", "clientKey"] as const) {
    const given = options[member];
    if (given === undefined) continue;
    next = changeDraft(next, at(member), expandPath(given, context.cwd, machineOf(context).home));
  }
  if (options.timeout !== undefined) next = changeDraft(next, at("timeout"), options.timeout);
  if (readDraft(next, ["defaultProfile"]) !== undefined) return next;
  return changeDraft(next, ["defaultProfile"], answers.profile);
}

/** The failure of a test, with what to do about it here instead of its own hints. */
function askedAgain(error: CliError, doubtful: "baseUrl" | "apiKey"): CliError {
  const hint =
    doubtful === "apiKey"
      ? "enter another key; the address is kept"
      : "correct the address; the key is kept";
  const hints = [`${hint} (Ctrl-C ends, and nothing is saved)`];
  return new CliError(error.exit, error.message, { details: error.details, hints });
}

/**
 * Asks and tests the connection until it works; an answer in doubt is asked again, the others stay.
 * Undefined for a person without a service who wants to try a local one.
 */
async function connectAsking(
  context: Context,
  options: InitOptions,
  prompt: Prompt,
  output: Output,
): Promise<Answers | undefined> {
  let known = await readKnown(context, options, prompt);
  let before: string | undefined;
  for (;;) {
    const answers = await askMissing(prompt, output, known, before);
    if (answers === undefined) return undefined;
    for (const key of [answers.apiKey, answers.accessToken]) {
      if (key !== undefined && key !== "sandbox") output.secrets.add(key);
    }
    try {
      return { ...answers, dialect: await testConnection(context, options, answers, output) };
    } catch (error) {
      const doubtful = error instanceof CliError ? doubtfulAnswer(error, answers) : undefined;
      if (doubtful === undefined) throw error;
      await writeError(output, askedAgain(error as CliError, doubtful));
      const { [doubtful]: wrong, ...others } = answers;
      known = others;
      before = doubtful === "baseUrl" ? wrong : undefined;
    }
  }
}

/**
 * `config init`: creates a profile in the user file. Asks on a terminal for address, key and name;
 * without one it reads flags, variables or stdin. Tests the connection, saves, and gives the project
 * of the working directory an id prefix. `runLine` runs `knowctl try` for a person without a service.
 */
export async function configInit(
  context: Context,
  options: InitOptions,
  runLine: RunLine,
): Promise<void> {
  const output = createOutput(context, options);
  const draft = await openDraft(userFile(machineOf(context)), true, machineOf(context));
  const prompt = createPrompt(context, options, output);
  const answers = await connectAsking(context, options, prompt, output);
  if (answers === undefined) {
    const { tryOut } = await import("../try/try.ts");
    return await tryOut(context, [], options, runLine);
  }
  const next = withAnswers(draft, answers, options, context);
  await saveDraft(next);
  const { profile } = answers;
  await output.note(
    `profile ${profile} saved, with its key, in ${draft.path} (readable only by you)`,
  );
  const current = readDraft(next, ["defaultProfile"]);
  if (current !== profile) {
    await output.note(
      `the default profile is ${String(current)}; change it: knowctl config use ${profile}`,
    );
  }
  const isSet = readDraft(next, ["ingest", "idPrefix"]) !== undefined;
  const { initIdPrefix } = await import("./init-id-prefix.ts");
  await initIdPrefix(context, options.idPrefix, prompt, output, isSet);
  await output.note("next: knowctl connectors list");
}
