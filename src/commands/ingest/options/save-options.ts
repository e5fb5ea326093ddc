import type { IngestOptions } from "../ingest-options.ts";
import { dirname, join } from "node:path";
import {
  changeDraft,
  openDraft,
  readDraft,
  renderDraft,
  saveDraft,
} from "../../../config/file/edit.ts";
import { createMachine, type Machine } from "../../../config/find/folders.ts";
import { isOn } from "../../../config/values/given.ts";
import { parseConfig } from "../../../config/file/parse.ts";
import { rememberTrust, untrusted } from "../../../config/trust.ts";
import type { ConfigFile } from "../../../config/values/layers.ts";
import type { Context } from "../../../context.ts";
import { CliError } from "../../../errors.ts";
import { createPrompt } from "../../prompt.ts";
import { savedOptions, type SavedOptions } from "./saved-options.ts";
import type { Session } from "../session.ts";

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

async function confirmChanges(
  context: Context,
  options: IngestOptions,
  { output }: Session,
  changes: readonly string[],
): Promise<void> {
  for (const each of changes) await output.note(each);
  if (options.yes) return;
  const prompt = createPrompt(context, options, output);
  if (!prompt.canAsk) {
    throw new CliError("usage", "--save-options would change values in the project file", {
      details: changes,
      hints: ["confirm the change with --yes"],
    });
  }
  if (await prompt.confirm("Change the project file?")) return;
  throw new CliError("usage", "the project file was not changed; nothing was sent");
}

/** Trusts the changed file, unless the environment grants the trust. */
async function trustAgain(
  path: string,
  file: ConfigFile | undefined,
  text: string,
  context: Context,
  machine: Machine,
): Promise<void> {
  if (file && isOn(context.env, "KNOWCTL_TRUST_PROJECT")) return;
  await rememberTrust(await parseConfig(path, text), machine);
}

/**
 * Saves the options of a command line in the project file in the root, so that plain
 * `knowctl ingest` repeats it. A new file is trusted. Changed values are shown and need a
 * confirmation. Throws CliError `not-configured` for an untrusted file, and `usage` without a
 * confirmation.
 */
export async function saveOptions(
  context: Context,
  session: Session,
  options: IngestOptions,
): Promise<void> {
  const { output, source } = session;
  const { settings, config, inputs, cwd } = source;
  const file = config.files.find(
    (each) => each.layer === "project" && dirname(each.path) === settings.root,
  );
  if (file && !file.trusted) throw untrusted(file);
  const machine = createMachine(context);
  const path = file?.path ?? join(settings.root, newName);
  const draft = await openDraft(path, false, machine);
  const place = { cwd, root: settings.root, configured: config.ingest };
  const saved: SavedOptions = savedOptions(inputs, options, place);
  let next = draft;
  const changes: string[] = [];
  const lines: string[] = [];
  for (const [key, value] of Object.entries(saved)) {
    const place = keyPathOf(config.profile, key, (each) => readDraft(draft, each) !== undefined);
    const [before, now] = [readDraft(draft, place), value].map((each) => JSON.stringify(each));
    if (before === now) continue;
    const name = place.join(".");
    if (before !== undefined) changes.push(`${name}: ${before} → ${now}`);
    lines.push(`  ${name} = ${now}`);
    next = changeDraft(next, place, value);
  }
  // ccPairId and connector replace each other.
  for (const [kind, other] of [
    ["ccPairId", "connector"],
    ["connector", "ccPairId"],
  ] as const) {
    const place = keyPathOf(config.profile, other, (each) => readDraft(draft, each) !== undefined);
    const before = saved[kind] === undefined ? undefined : readDraft(draft, place);
    if (before === undefined) continue;
    changes.push(`${place.join(".")}: ${JSON.stringify(before)} → removed`);
    next = changeDraft(next, place, undefined);
  }
  if (lines.length === 0 && changes.length === 0) {
    return await output.note(`${path} already contains these options`);
  }
  if (changes.length > 0) await confirmChanges(context, options, session, changes);
  await saveDraft(next);
  await trustAgain(path, file, await renderDraft(next), context, machine);
  await output.note(
    `${file ? "saved in" : "created"} ${path}; plain \`knowctl ingest\` repeats this upload:`,
  );
  for (const line of lines) await output.note(line);
}
