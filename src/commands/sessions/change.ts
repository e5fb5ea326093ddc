import { deleteSession, renameSession } from "../../api/sessions.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { titleText } from "../../output/chat/sources.ts";
import { countOf } from "../../output/terminal/progress.ts";
import { findSession } from "../chat/session/find-session.ts";
import { forgetSession, indexedSession, retitle } from "../chat/session/session-index.ts";
import { createPrompt, confirmChange } from "../prompt.ts";
import { whileAsking } from "../connect.ts";
import { withPlace, type Place } from "./place.ts";

export interface SessionsDeleteOptions extends GlobalFlags {
  yes?: boolean;
  /** Delete only from the index of this machine. */
  local?: boolean;
}

/** `sessions rename ID NAME`: changes the name on the service and in the index. */
export async function sessionsRename(
  context: Context,
  args: string[],
  options: GlobalFlags,
): Promise<void> {
  const [given = "", ...words] = args;
  const name = words.join(" ").trim();
  if (name === "") throw new CliError("usage", "the new name is empty");
  await withPlace(context, options, async (place) => {
    const { id, named } = await whileAsking(place, async () => {
      const found = await findSession(place, given);
      return { id: found, named: await renameSession(place.client, found, name) };
    });
    retitle(place.env, place.owner, id, named);
    await place.output.note(`renamed ${id} to ${titleText(named)}`);
  });
}

function describe({ env, owner }: Place, id: string): string {
  const title = indexedSession(env, owner, id)?.title;
  return title ? `${id}  ${titleText(title)}` : id;
}

/** Deletes sessions one after the other; returns the failures. A refused key stops at once. */
async function deleteAll(
  place: Place,
  ids: readonly string[],
  local: boolean,
): Promise<CliError[]> {
  const { client, env, owner, output } = place;
  const failures: CliError[] = [];
  for (const id of ids) {
    try {
      if (!local) await whileAsking(place, () => deleteSession(client, id));
    } catch (error) {
      if (!(error instanceof CliError) || error.exit === "auth") throw error;
      failures.push(error);
      // The service no longer has the session, so the index drops it too.
      if (error.exit === "not-found") forgetSession(env, owner, id);
      if (ids.length > 1) await output.warn(`${id}: ${error.message}`);
      continue;
    }
    forgetSession(env, owner, id);
    await output.note(local ? `removed ${id} from the index` : `deleted ${id}`);
  }
  return failures;
}

/**
 * `sessions delete ID...`: deletes sessions from the service and the index. Asks on a
 * terminal; otherwise --yes is required. Throws CliError `partial` if some sessions could
 * not be deleted.
 */
export async function sessionsDelete(
  context: Context,
  args: string[],
  options: SessionsDeleteOptions,
): Promise<void> {
  await withPlace(context, options, async (place) => {
    const { client, output } = place;
    const local = options.local === true;
    if (!local && client.dialect.paths.deleteSession === undefined) {
      throw new CliError(
        "not-found",
        `cannot delete a session: the ${client.dialect.name} dialect has no endpoint for it`,
        { hints: ["--local removes it only from the index of this machine"] },
      );
    }
    const ids: string[] = [];
    for (const given of args) {
      ids.push(await whileAsking(place, () => findSession(place, given)));
    }
    const wanted = [...new Set(ids)];
    if (options.yes !== true) for (const id of wanted) await output.problem(describe(place, id));
    const what = countOf(wanted.length, "session");
    const prompt = createPrompt(context, options, place.output);
    const question = (): string => `Delete ${what}? This cannot be undone.`;
    if (!(await confirmChange(prompt, options.yes, question, `delete ${what}`))) {
      await output.note("nothing was deleted");
      return;
    }
    const failures = await deleteAll(place, wanted, local);
    const [first] = failures;
    if (first === undefined) return;
    if (wanted.length === 1) throw first;
    const exit = failures.length < wanted.length ? "partial" : first.exit;
    throw new CliError(exit, `${failures.length} of ${wanted.length} sessions were not deleted`);
  });
}
