import type { Context } from "../../context.ts";
import { parseSharedUrl } from "../../sync/shared/address.ts";
import { createProject, findProject, migrateTables } from "../../sync/shared/tables.ts";
import { loadSettings, openOutput } from "../connect.ts";
import { findProjectRoot } from "../project-root.ts";
import { confirmChange, createPrompt } from "../prompt.ts";
import { neededPlace, openShared, type SharedFlags } from "./shared.ts";

export interface StateShareOptions extends SharedFlags {
  yes?: boolean;
}

/**
 * `state share`: creates the tables of the shared record and this project in it. Asks before it
 * changes anything; does nothing that is done.
 */
export async function stateShare(
  context: Context,
  _args: string[],
  options: StateShareOptions,
): Promise<void> {
  const output = openOutput(context, options);
  const { start } = findProjectRoot(context, [], options);
  const settings = { sends: false, needsProfile: false, root: start };
  const config = await loadSettings(context, options, output, settings);
  const place = await neededPlace(config, options, output);
  const where = parseSharedUrl(place.url).place;
  const database = await openShared(context, place);
  try {
    const prompt = createPrompt(context, options, output);
    const question = (): string => `Share the state as project ${place.project} at ${where}?`;
    const what = `share the state as project ${place.project} at ${where}`;
    if (!(await confirmChange(prompt, options.yes, question, what))) {
      return await output.note("nothing was changed");
    }
    await migrateTables(database);
    if (!(await findProject(database, place.project))) await createProject(database, place.project);
    await output.note(`the state is shared as project ${place.project} at ${where}`);
  } finally {
    await database.close();
  }
}
