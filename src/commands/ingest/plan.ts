import { followCount } from "../../output/terminal/progress.ts";
import { dialects } from "../../api/dialects.ts";
import type { Context } from "../../context.ts";
import { listFiles } from "../../documents/find/find.ts";
import { createRealPlaces, realPathIn } from "../../documents/files/real-place.ts";
import { rangesOf, scopeOf } from "../../documents/find/scope.ts";
import { statFile } from "../../documents/files/source-file.ts";
import { buildPlan, type Plan } from "../../sync/plan/plan.ts";
import type { Shard } from "../../sync/plan/decide.ts";
import { seenText } from "../../sync/state/records.ts";
import { orphanScope } from "./options/inputs.ts";
import type { ReportFiles } from "../../output/report/forms.ts";
import { withoutReports } from "./report/report.ts";
import type { Session } from "./session.ts";
import type { FilesDigest } from "./upload/claim.ts";

export interface FolderPlanOptions {
  shard?: Shard | undefined;
  checksum?: boolean;
  force?: boolean;
  /** Report files of this command, which may lie among the documents. */
  files?: ReportFiles | undefined;
  /** Whether the command sends documents, or with --dry-run would. */
  sends?: boolean;
  /** See PlanRequest; by default as the session. */
  isDry?: boolean;
  onManyPending?: () => void;
  /** Follows what is listed, to compare it with other workers of the run. */
  digest?: FilesDigest | undefined;
  onPlanned?: ((body: Uint8Array) => void) | undefined;
}

/** Finds the files of the session's source and compares them with the state. */
export async function planFolder(
  context: Context,
  session: Pick<
    Session,
    "source" | "state" | "isDry" | "inspector" | "targets" | "shaping" | "progress"
  >,
  options: FolderPlanOptions = {},
): Promise<Plan> {
  const { source, state, inspector, targets, progress } = session;
  const { settings, inputs, since } = source;
  const isUnnamed = inputs.length === 0 || (source.isWhole === true && inputs.includes("."));
  const isInScope = scopeOf(inputs, source.find);
  const isInReach = orphanScope(source);
  const realPlaceOf = createRealPlaces(settings.root);
  let done = 0;
  followCount(progress, "reading", () => done);
  return await buildPlan({
    root: settings.root,
    list() {
      const listed = source.list?.() ?? listFiles(inputs, source.find);
      const documents = withoutReports(listed, settings.root, options.files);
      return options.digest?.follow(documents, settings.root) ?? documents;
    },
    ranges: rangesOf(inputs, source.find),
    isInScope: (path) => isInScope(path) && since?.isGone(path) !== false,
    isExcluded: (path) => settings.exclude?.matches(path) === true && isInReach(path),
    isSelected:
      since &&
      ((listed, parts) =>
        since.isSelected(listed) || (parts !== undefined && since.changesParts(parts))),
    formatFor: source.formatFor ?? (() => settings.format),
    idPrefix: settings.idPrefix,
    factsOf: source.factsOf,
    state,
    inspector,
    targets,
    options: session.shaping,
    isDry: options.isDry ?? session.isDry,
    shard: options.shard,
    onManyPending: options.onManyPending,
    onPlanned: options.onPlanned,
    mappingKey: (path) => source.mappingKey(path),
    storedId: dialects[source.config.dialect].storedId,
    isCurrent(path) {
      const place = realPlaceOf(path);
      // The file moved, and a link took its place: its document has another id now.
      if (realPathIn(settings.root, place) !== path) return false;
      const found = statFile(path, place);
      const stamp = found.kind === "file" ? found.file.stamp : "";
      return state
        .filesOf(path)
        .some(({ seen }) => seen === seenText(stamp, source.mappingKey(path)));
    },
    readsWholeRoot: isUnnamed && settings.include.length === 0,
    sends: options.sends === true,
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
