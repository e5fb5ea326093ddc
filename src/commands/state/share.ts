import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { countOf } from "../../output/terminal/progress.ts";
import { parseSharedUrl } from "../../sync/shared/address.ts";
import { countUnpushed, readBond, unbind } from "../../sync/shared/bond.ts";
import { createProject, findProject, migrateTables } from "../../sync/shared/tables.ts";
import { confirmChange, createPrompt } from "../prompt.ts";
import { guardWriting, withState, type OpenState, type StateFlags } from "./place.ts";
import { neededPlace, openRecordAt, openShared, type SharedFlags } from "./shared.ts";

interface SharedStateOptions extends StateFlags, SharedFlags {
  yes?: boolean;
  /** Push every record again. */
  all?: boolean;
}

/**
 * `state share`: creates the tables of the shared record and this project in it, and pushes what the
 * local state has. Asks before it changes anything; does nothing that is done.
 */
export async function stateShare(
  context: Context,
  _args: string[],
  options: SharedStateOptions,
): Promise<void> {
  await withState(context, options, "create", async (open) => {
    const { output, config, state } = open;
    const place = await neededPlace(config, options, output);
    const where = parseSharedUrl(place.url).place;
    const database = await openShared(context, place);
    try {
      const what = `share the state as project ${place.project} at ${where}`;
      const prompt = createPrompt(context, options, output);
      const question = (): string => `Share the state as project ${place.project} at ${where}?`;
      if (!(await confirmChange(prompt, options.yes, question, what))) {
        return await output.note("nothing was changed");
      }
      await migrateTables(database);
      if (!(await findProject(database, place.project))) {
        await createProject(database, place.project);
      }
    } finally {
      await database.close();
    }
    await pushState(context, open, options);
    await output.note(`the state is shared as project ${place.project} at ${where}`);
    if (state.countFiles(1) > 0) state.markRoot();
  });
}

/** Fetches and pushes; returns how many rows were pushed. Throws the error of rows that were not. */
async function pushState(
  context: Context,
  { output, config, state }: OpenState,
  options: SharedStateOptions,
): Promise<number> {
  const place = await neededPlace(config, options, output);
  const record = await openRecordAt(context, state, { place, isWhole: options.all === true });
  try {
    const count = countUnpushed(state.database);
    const problem = await record.finish();
    if (problem) throw problem;
    return count;
  } finally {
    await record.close();
  }
}

/** `state push`: pushes what the shared record lacks; with --all everything that the state has. */
export async function statePush(
  context: Context,
  _args: string[],
  options: SharedStateOptions,
): Promise<void> {
  await withState(context, options, "change", async (open) => {
    const count = await pushState(context, open, options);
    const rows = count === 1 ? "1 row" : countOf(count, "row");
    await open.output.note(count === 0 ? "the shared record has everything" : `pushed ${rows}`);
  });
}

/**
 * `state unshare`: the state of this machine is no copy of the shared record any more. Its records
 * stay, and so does the shared record. Throws CliError `not-found` for a state that is not shared.
 */
export async function stateUnshare(
  context: Context,
  _args: string[],
  options: SharedStateOptions,
): Promise<void> {
  await withState(context, options, "change", async (open) => {
    const { output, state } = open;
    const { database } = state;
    const bond = readBond(database);
    if (!bond) throw new CliError("not-found", "the state of this machine is not shared");
    const count = countUnpushed(database);
    const lost = count > 0 ? `; ${countOf(count, "row")} of it will never be pushed` : "";
    const prompt = createPrompt(context, options, output);
    const question = (): string =>
      `Keep this state apart from project ${bond.project} of the shared record${lost}?`;
    const what = `unshare the state from project ${bond.project}${lost}`;
    if (!(await confirmChange(prompt, options.yes, question, what))) {
      return await output.note("nothing was changed");
    }
    guardWriting(open, () => unbind(database));
    await output.note(
      `this state is on its own; project ${bond.project} of the shared record stays as it is`,
    );
  });
}
