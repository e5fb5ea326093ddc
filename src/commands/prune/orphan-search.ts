import { dialects } from "../../api/dialects.ts";
import type { Context } from "../../context.ts";
import { createRealPlaces, exists, realPathIn } from "../../documents/find/place/real-place.ts";
import { openYields } from "../../documents/find/yields.ts";
import { createJudge } from "../../sync/orphans/orphan-judge.ts";
import { listMissing, type Orphan } from "../../sync/orphans/orphans.ts";
import type { Plan } from "../../sync/plan/plan.ts";
import type { Target } from "../../sync/state/target.ts";
import { orphanScope } from "./orphan-scope.ts";
import type { Session } from "../ingest/session.ts";

/**
 * Yields the documents of a target that the folder no longer yields, ordered by path. `plan` is a
 * dry plan of the session's files.
 */
export async function* findOrphans(
  context: Context,
  session: Pick<Session, "source" | "state" | "shaping">,
  plan: Plan,
  target: Target,
): AsyncGenerator<Orphan> {
  const { source, state, shaping } = session;
  const storesAlike = dialects[source.config.dialect].storedId !== undefined;
  const { root } = source.settings;
  const placeOf = createRealPlaces(root);
  const judge = createJudge({
    table: plan.table,
    options: shaping.recorded,
    settings: source.settings,
    recorded: state.options,
    isWhole: source.since === undefined,
    isInScope: orphanScope(source),
    placeOf,
    exists,
    realPathOf: (path) => realPathIn(root, placeOf(path)),
    openYields: (settings) => openYields(settings, context.workerScript),
  });
  try {
    for (const missing of listMissing(plan.table, target.key, storesAlike)) {
      context.signal.throwIfAborted();
      const orphan = await judge.judge(missing);
      if (orphan) yield orphan;
    }
  } finally {
    await judge.close();
  }
}
