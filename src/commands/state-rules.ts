import { ownerRules } from "../config/values/given.ts";
import type { Context } from "../context.ts";
import { findTracked } from "../git/tracked.ts";
import type { StateRules } from "../sync/state/file/state-folder.ts";

/** Which states a command uses: those of this user that git does not track. */
export function stateRules(context: Pick<Context, "uid" | "env">): StateRules {
  const asked = new Map<string, ReturnType<typeof findTracked>>();
  return {
    ...ownerRules(context),
    findTracked(folder, names) {
      // A command opens its state in several steps; the index of a large repository is read once.
      if (!asked.has(folder)) asked.set(folder, findTracked(folder, names));
      return asked.get(folder);
    },
  };
}
