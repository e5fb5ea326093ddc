import { join } from "node:path";
import { changeDraft, openDraft, readDraft } from "../../../config/file/edit.ts";
import { parseConfig } from "../../../config/file/parse.ts";
import { createMachine } from "../../../config/find/folders.ts";
import type { Context } from "../../../context.ts";
import type { Output } from "../../../output/terminal/output.ts";
import type { IngestOptions } from "../ingest-options.ts";
import { plannedBaseUrl } from "../session.ts";
import { checkInFile, optionsForFile } from "./options-for-file.ts";
import type { DocumentSource } from "./settings.ts";

const newName = ".cliconfig.json";

/** Path of an option in the file: in the profile if it is set there, else for all profiles. */
function keyPathOf(
  profile: string,
  key: string,
  isInProfile: (path: string[]) => boolean,
): string[] {
  const own = ["profiles", profile, "ingest", key];
  return isInProfile(own) ? own : ["ingest", key];
}

// One of them replaces the other.
const otherTarget: Readonly<Record<string, string>> = {
  ccPairId: "connector",
  connector: "ccPairId",
};

/**
 * `ingest --print-config`: prints the project file with which plain `knowctl ingest` repeats this
 * command line: profile and address, target, paths and options. Sends nothing, writes no file.
 * Throws CliError `usage` for a flag that a project file cannot hold.
 */
export async function printConfig(
  context: Context,
  output: Output,
  source: DocumentSource,
  options: IngestOptions,
): Promise<void> {
  const { settings, config, inputs, cwd } = source;
  checkInFile(inputs, options);
  const { profile, values } = config;
  const found = config.files.find(({ layer, named }) => layer === "project" && !named);
  const path = found?.path ?? join(settings.root, newName);
  let draft = await openDraft(path, false, createMachine(context));
  const set = (place: string[], value: unknown): void => {
    draft = changeDraft(draft, place, value);
  };
  const has = (place: string[]): boolean => readDraft(draft, place) !== undefined;
  set(["defaultProfile"], profile);
  const baseUrl = plannedBaseUrl(config);
  if (baseUrl !== "") set(["profiles", profile, "baseUrl"], baseUrl);
  if (values.dialect !== "standard") set(["profiles", profile, "dialect"], values.dialect);
  const place = { cwd, root: settings.root, configured: config.ingest };
  for (const [key, value] of Object.entries(optionsForFile(inputs, options, place))) {
    const other = otherTarget[key];
    if (other !== undefined) set(keyPathOf(profile, other, has), undefined);
    set(keyPathOf(profile, key, has), value);
  }
  const text = `${JSON.stringify(readDraft(draft, []), null, 2)}\n`;
  await parseConfig(join(settings.root, newName), text);
  await output.json(text);
  await output.note(
    `save this as ${join(settings.root, newName)}, then \`knowctl config trust\`: plain \`knowctl ingest\` repeats the command`,
  );
}
