import { ownTargets } from "../target/recorded-target.ts";
import { tombstoneMark } from "../../../sync/state/records.ts";
import { defaultId } from "../../../documents/map/effective.ts";
import { createRealPlaces, exists } from "../../../documents/files/real-place.ts";
import { countOf, formatCount } from "../../../output/terminal/progress.ts";
import type { Plan } from "../../../sync/plan/plan.ts";
import type { Target } from "../../../sync/state/target.ts";
import type { Session } from "../session.ts";

/** Reports sent files that are now drafts or empty. Finds only documents with path-derived ids. */
async function printOptedOut(
  { output, source, state }: Pick<Session, "output" | "source" | "state">,
  table: Plan["table"],
  targets: readonly Target[],
): Promise<void> {
  let count = 0;
  for (const { path, part, content } of table.entries(["skipped"])) {
    if (part > 0 || content === undefined) continue;
    const id = defaultId(path, source.settings);
    const isSent = ({ key }: Target): boolean => {
      const sent = state.accepted(key, id);
      return sent?.path === path && sent.whole !== tombstoneMark;
    };
    if (targets.some(isSent)) count++;
  }
  if (count === 0) return;
  const [verb, documents] = count === 1 ? ["opts", "document is"] : ["opt", "documents are"];
  await output.note(
    `${countOf(count, "uploaded file")} ${verb} out now: the ${documents} still in the service; see \`knowctl status\``,
  );
}

/**
 * Reports how many sent files are gone or excluded. An upload removes no documents, so the
 * service still finds them.
 */
export async function printUnfound(
  session: Pick<Session, "output" | "source" | "state" | "targets">,
  { table }: Plan,
): Promise<void> {
  const { output, source, state } = session;
  if (source.since) return;
  const targets = ownTargets(state, session.targets, source.settings);
  // A document that another file yields now is not left behind.
  const isThere = state.database.prepare(
    `SELECT 1 AS yes FROM files f JOIN accepted a ON a.target = ? AND a.id = f.id
      WHERE f.path = ? AND a.path = f.path AND a.whole <> '${tombstoneMark}'
        AND NOT EXISTS (SELECT 1 FROM temp.plan p WHERE p.id = a.id) LIMIT 1`,
  );
  const placeOf = createRealPlaces(source.settings.root);
  let [excluded, gone] = [0, 0];
  for (const { path, isExcluded } of table.unfound()) {
    if (!targets.some(({ key }) => isThere.get(key, path))) continue;
    if (isExcluded || exists(placeOf(path))) excluded++;
    else gone++;
  }
  await printOptedOut(session, table, targets);
  if (excluded + gone === 0) return;
  const parts = [
    ...(excluded > 0 ? [`${formatCount(excluded)} excluded`] : []),
    ...(gone > 0 ? [`${formatCount(gone)} gone`] : []),
  ];
  const verb = excluded + gone === 1 ? "is" : "are";
  await output.note(
    `${countOf(excluded + gone, "uploaded file")} ${verb} no longer found (${parts.join(", ")}): the documents are still in the service; see \`knowctl status\``,
  );
}
