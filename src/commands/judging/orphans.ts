import { dialects } from "../../api/dialects.ts";
import type { Context } from "../../context.ts";
import { createRealPlaces, exists, realPathIn } from "../../documents/files/real-place.ts";
import { openYields } from "../../documents/inspect/open-inspector.ts";
import { createJudge, type Judge } from "../../sync/orphans/orphan-judge.ts";
import { listMissing, type Orphan } from "../../sync/orphans/orphans.ts";
import type { Plan } from "../../sync/plan/plan.ts";
import type { RecordedOptions } from "../../sync/state/options.ts";
import type { Target } from "../../sync/state/target.ts";
import type { Groups } from "./groups.ts";
import { orphanScope } from "../ingest/options/inputs.ts";
import type { DocumentSource } from "../ingest/options/settings.ts";
import type { Session } from "../ingest/session.ts";

type Searched = Pick<Session, "source" | "state" | "shaping"> & { groups?: Groups };

interface Options {
  settings: DocumentSource["settings"];
  options: RecordedOptions;
}

/**
 * The prefixes of a project's ids: that of its configuration, and those of its own uploads to a target.
 * No imported record counts: whoever wrote it chose its options and its id.
 */
function ownPrefixes({ source, state }: Searched, { key }: Target): readonly string[] {
  const configured = source.config.ingest.idPrefix;
  const rows = state.database
    .prepare(
      "SELECT DISTINCT options FROM accepted WHERE target = ? AND path > '' AND origin <> 'imported'",
    )
    .all(key);
  const prefixes = rows.map(({ options }) => {
    const settings = state.options.get(options === null ? undefined : Number(options))?.settings;
    return settings?.flags?.idPrefix ?? settings?.idPrefix ?? "";
  });
  if (configured !== undefined) prefixes.push(configured);
  // A state that holds nothing but imports: the paths are all that there is to go by.
  return prefixes.length > 0 ? [...new Set(prefixes)] : [""];
}

/** Creates the judge of files with the same options. */
function openJudge(
  context: Context,
  { source, state }: Searched,
  { table }: Plan,
  { settings, options, ownPrefixes }: Options & { ownPrefixes: readonly string[] },
): Judge {
  const { root } = settings;
  const placeOf = createRealPlaces(root);
  return createJudge({
    table,
    options,
    settings,
    ownPrefixes,
    recorded: state.options,
    isWhole: source.since === undefined,
    isInScope: orphanScope(source),
    placeOf,
    exists,
    realPathOf: (path) => realPathIn(root, placeOf(path)),
    openYields: (raw) => openYields(raw, context.workerScript),
  });
}

/**
 * Yields the documents of a target that the folder no longer yields, ordered by path. `plan` is a
 * dry plan of the session's files.
 */
export async function* findOrphans(
  context: Context,
  session: Searched,
  plan: Plan,
  target: Target,
): AsyncGenerator<Orphan> {
  const { source, shaping, groups } = session;
  const storesAlike = dialects[source.config.dialect].storedId !== undefined;
  const judges = new Map<Options, Judge>();
  const prefixes = ownPrefixes(session, target);
  const own: Options = { settings: source.settings, options: shaping.recorded };
  const byGroup = new Map(
    groups?.all.map((each) => [each, { settings: each.source.settings, options: each.recorded }]),
  );
  const judgeOf = (path: string): Judge => {
    const group = groups && (groups.of(path) ?? groups.all[0]);
    const options = (group && byGroup.get(group)) ?? own;
    let judge = judges.get(options);
    if (!judge)
      judges.set(
        options,
        (judge = openJudge(context, session, plan, { ...options, ownPrefixes: prefixes })),
      );
    return judge;
  };
  try {
    for (const missing of listMissing(plan.table, target.key, storesAlike)) {
      context.signal.throwIfAborted();
      const orphan = await judgeOf(missing.path).judge(missing);
      if (orphan) yield orphan;
    }
  } finally {
    for (const judge of judges.values()) await judge.close();
  }
}
