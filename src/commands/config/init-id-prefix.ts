import { realpathSync } from "node:fs";
import { basename, join } from "node:path";
import { findProject, readNamed } from "../../config/find/discover.ts";
import { changeDraft, openDraft, readDraft, saveDraft } from "../../config/file/edit.ts";
import { parseConfig } from "../../config/file/parse.ts";
import { prefixOf, type FoundFile } from "../../config/find/places.ts";
import { isTrusted, rememberTrust } from "../../config/trust.ts";
import type { Context } from "../../context.ts";
import { remoteName } from "../../git/remote-name.ts";
import type { Output } from "../../output/terminal/output.ts";
import { findGitRoot } from "../project-root.ts";
import type { Prompt } from "../prompt.ts";
import { machineOf } from "./files.ts";

const member = ["ingest", "idPrefix"];
const none = "-";

const parse = (found: FoundFile) => parseConfig(found.path, found.text, prefixOf(found.path));

/** `handbook/` for the project in `folder`: by its git remote, else by the folder; "" without a name. */
async function proposedPrefix(context: Context, folder: string): Promise<string> {
  const remote = await remoteName(folder, context.env, { signal: context.signal });
  const name = (remote ?? basename(folder)).replace(/[^\p{L}\p{N}._-]+/gu, "-");
  return /[\p{L}\p{N}]/u.test(name) ? `${name}/` : "";
}

async function askPrefix(context: Context, prompt: Prompt, output: Output, folder: string) {
  await output.note(
    "Ids of documents count in the whole service: a prefix keeps those of this project apart.",
  );
  const question = `Id prefix of documents from ${folder} ("${none}" for none)`;
  const remedy = { exit: "usage", flag: "--id-prefix" } as const;
  return await prompt.ask(question, remedy, (await proposedPrefix(context, folder)) || none);
}

/**
 * Writes `ingest.idPrefix` to the project file: of --id-prefix, else as a person answers on a terminal.
 * A file that this creates, or that was trusted, is trusted afterwards. `isSet`: another file has one.
 */
export async function initIdPrefix(
  context: Context,
  given: string | undefined,
  prompt: Prompt,
  output: Output,
  isSet: boolean,
): Promise<void> {
  if (given === "" || (given === undefined && (!prompt.canAsk || isSet))) return;
  const machine = machineOf(context);
  const cwd = realpathSync(context.cwd);
  const folder = findGitRoot(context, cwd) ?? cwd;
  // Documents of all projects lie below the home folder.
  if (given === undefined && folder === realpathSync(machine.home)) return;
  const { file: found, refused } = await findProject(cwd, { machine, trustAll: false });
  if (refused) throw refused;
  const path = found?.path ?? join(folder, ".cliconfig.json");
  const draft = await openDraft(path, false, machine);
  if (given === undefined && readDraft(draft, member) !== undefined) return;
  const prefix = given ?? (await askPrefix(context, prompt, output, folder));
  if (prefix === none || prefix === "") return;
  const keepsTrust = !found || (await isTrusted(await parse(found), machine));
  await saveDraft(changeDraft(draft, member, prefix));
  if (keepsTrust) await rememberTrust(await parse(await readNamed(path, cwd)), machine);
  await output.note(
    `ids of documents from ${folder} begin with ${prefix} (ingest.idPrefix in ${path})`,
  );
  if (!keepsTrust) await output.note(`trust ${path} before you upload: knowctl config trust`);
}
