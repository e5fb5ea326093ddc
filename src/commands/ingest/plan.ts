import { basename, dirname, join } from "node:path";
import { dialects } from "../../api/dialects.ts";
import { stateName } from "../../config/find/project-mark.ts";
import type { Context } from "../../context.ts";
import { listFiles } from "../../documents/find/find.ts";
import type { InspectSetup } from "../../documents/inspect/inspection.ts";
import { createRealPlaces, realPathIn } from "../../documents/find/real-place.ts";
import { realPath, relativeTo } from "../../documents/find/root.ts";
import { rangesOf, scopeOf } from "../../documents/find/scope.ts";
import { statFile } from "../../documents/find/stat-file.ts";
import { CliError } from "../../errors.ts";
import { buildPlan, type Plan } from "../../sync/plan/plan.ts";
import type { Shard } from "../../sync/plan/shard.ts";
import { seenText } from "../../sync/state/records.ts";
import { namedStateFolder } from "../../sync/state/state-folder.ts";
import type { Targets } from "../../sync/state/target.ts";
import { orphanScope } from "./orphans/orphan-scope.ts";
import { withoutReports, type ReportFiles } from "./report/report-files.ts";
import type { Session } from "./session.ts";
import type { DocumentSource, MappingFlags } from "./options/settings.ts";

/** A folder of this name marks its parent as the project root: the next run would take that one. */
function refuseOtherMark(folder: string, { settings: { root }, mark }: DocumentSource): void {
  const marked = realPath(dirname(folder)) ?? dirname(folder);
  if (basename(folder) !== stateName || marked === root) return;
  const isAbove = relativeTo(marked, root) !== undefined;
  if (isAbove ? mark === "flag" : relativeTo(root, marked) === undefined) return;
  throw new CliError("usage", `--state ${folder} would make ${marked} a project root`, {
    details: [`the root of this run is ${root}`],
    hints: [
      `name the state folder otherwise than ${stateName}, or leave --state out`,
      `or make that folder the root: --root ${marked}`,
    ],
  });
}

/**
 * Folder of the state store; undefined with `--no-state`. Throws CliError `usage` for one that
 * would give the same files another project root.
 */
export function stateFolder(source: DocumentSource, flags: MappingFlags): string | undefined {
  if (flags.state === false) return undefined;
  if (typeof flags.state !== "string") return join(source.settings.root, stateName);
  const folder = namedStateFolder(source.cwd, flags.state);
  refuseOtherMark(folder, source);
  return folder;
}

/** What looking at the files of `source` takes, here or in a worker thread; `keys` as in ownKeys(). */
export function inspectSetup(
  source: DocumentSource,
  targets: Targets,
  keys: readonly string[],
): InspectSetup {
  const { raw } = source;
  return { settings: raw, pair: targets.pair, dropAccess: raw.dropAccess, keys };
}

interface FolderPlanOptions {
  shard?: Shard | undefined;
  checksum?: boolean;
  force?: boolean;
  /** Files of this command's own that may lie among the documents. */
  files?: ReportFiles | undefined;
  /** These as in PlanRequest. */
  mostReadFirst?: number;
  onManyDue?: () => void;
}

/** Finds the files of the session's source and compares them with its state. */
export async function planFolder(
  context: Context,
  session: Pick<
    Session,
    "source" | "state" | "spool" | "inspector" | "targets" | "shaping" | "progress"
  >,
  options: FolderPlanOptions = {},
): Promise<Plan> {
  const { source, state, spool, inspector, targets, progress } = session;
  const { settings, inputs, cwd, since } = source;
  const counts = { created: 0, updated: 0, unchanged: 0, skipped: 0, failed: 0 };
  const fixed = { phase: "reading", total: undefined, counts, retries: 0, slowBecause: undefined };
  const isInScope = scopeOf(inputs, { cwd, settings });
  const isInReach = orphanScope(source);
  const realPlaceOf = createRealPlaces(settings.root);
  // A document that images are part of is recorded without a stamp to trust: it is read again.
  const mayShowImages = (path: string): boolean =>
    since?.changesImages === true && settings.images === "upload" && state.file(path)?.seen === "";
  let done = 0;
  progress.follow(() => ({ ...fixed, done }));
  return await buildPlan({
    root: settings.root,
    list: () => withoutReports(listFiles(inputs, source.find), settings.root, options.files),
    ranges: rangesOf(inputs, { cwd, settings }),
    isInScope: (path) => isInScope(path) && since?.isGone(path) !== false,
    isExcluded: (path) => settings.exclude?.matches(path) === true && isInReach(path),
    isTaken: since && ((listed) => since.isTaken(listed) || mayShowImages(listed.path)),
    format: settings.format,
    idPrefix: settings.idPrefix,
    factsOf: source.factsOf,
    state,
    inspector,
    targets,
    options: session.shaping,
    spool,
    shard: options.shard,
    onManyDue: options.onManyDue,
    ...(options.mostReadFirst === undefined ? {} : { mostReadFirst: options.mostReadFirst }),
    mappingKey: (path) => source.mappingKey(path),
    storedId: dialects[source.config.dialect].storedId,
    isCurrent(path) {
      const place = realPlaceOf(path);
      // Recorded under the path of a link by an earlier knowctl: its file has another path now.
      if (realPathIn(settings.root, place) !== path) return false;
      const found = statFile(path, place);
      const stamp = found.kind === "file" ? found.file.stamp : "";
      return state
        .filesOf(path)
        .some(({ seen }) => seen === seenText(stamp, source.mappingKey(path)));
    },
    shown: source.shown,
    checksum: options.checksum === true,
    force: options.force === true,
    signal: context.signal,
    onProgress(files) {
      done = files;
    },
    elapsed: context.elapsed,
  });
}
