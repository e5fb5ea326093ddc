import { sentTargets } from "../ingest/target/recorded-target.ts";
import { createRealPlaces, exists } from "../../documents/files/real-place.ts";
import { scopeOf } from "../../documents/find/scope.ts";
import { CliError } from "../../errors.ts";
import { countOf } from "../../output/terminal/progress.ts";
import { isInShard, type Shard } from "../../sync/plan/shard.ts";
import { isFound, isMissing, type VerifiableRecord } from "../../sync/state/verified.ts";
import { pairInKey, targetFor } from "../../sync/state/target.ts";
import type { Session } from "../ingest/session.ts";
import type { Failed, RetryGroup } from "./retry-groups.ts";

/** The documents to send again. */
export interface MissingDocuments {
  failed: Failed;
  documents: readonly VerifiableRecord[];
}

/** The uploaded documents of the targets of a session, with their last checks. */
function* verifiableRecords({
  state,
  targets,
  source,
}: Pick<Session, "state" | "targets" | "source">): Generator<VerifiableRecord> {
  for (const key of sentTargets(state, targets, source.config)) yield* state.verified.list(key);
}

const isMissed = ({ verified }: VerifiableRecord): boolean => isMissing(verified?.result ?? "");

/** Number of documents by the result of their last check. */
export interface UnfoundCounts {
  missing: number;
  hidden: number;
  unknown: number;
}

/** The documents of a run: from stdin, or of its inputs and its shard. */
export interface RunScope {
  isStdin: boolean;
  shard: Shard | undefined;
}

/** The documents of a run that their last check did not find. One by one: there may be a million. */
function* unfoundOfRun(
  session: Pick<Session, "state" | "targets" | "source">,
  { isStdin, shard }: RunScope,
): Generator<VerifiableRecord> {
  const { source, state } = session;
  const isInInputs = isStdin ? () => false : scopeOf(source.inputs, source.find);
  const placeOf = createRealPlaces(source.settings.root);
  const yields = state.database.prepare(
    "SELECT cc_pair_id FROM files WHERE path = ? AND part = ? AND id = ?",
  );
  // Whether an orphan is found does not matter: its file is deleted, a draft, or has another id.
  const isOurs = ({ target, path, part, id }: VerifiableRecord): boolean => {
    if (shard && !isInShard(id, shard)) return false;
    if (path === undefined) return isStdin;
    if (!isInInputs(path) || !exists(placeOf(path))) return false;
    const file = yields.get(path, part, id);
    const ownPair = file?.["cc_pair_id"] ?? undefined;
    // With rules, the records of all pairs are listed.
    return (
      file !== undefined &&
      targetFor(session.targets, ownPair === undefined ? undefined : Number(ownPair))?.key ===
        target
    );
  };
  for (const each of verifiableRecords(session)) {
    // Most are found: only the others cost a look at the disk.
    const isOpen = each.isUnchecked || (each.verified && !isFound(each.verified.result));
    if (isOpen && isOurs(each)) yield each;
  }
}

/** The documents of a run that an earlier run sent, and that no check came to since. */
export function* uncheckedOfRun(
  session: Pick<Session, "state" | "targets" | "source">,
  scope: RunScope,
): Generator<VerifiableRecord> {
  for (const each of unfoundOfRun(session, scope)) if (each.isUnchecked) yield each;
}

/** Counts the documents of a run whose last check since their upload did not find them. Undefined for none. */
export function countUnfound(
  session: Pick<Session, "state" | "targets" | "source">,
  scope: RunScope,
): UnfoundCounts | undefined {
  const counts = { missing: 0, hidden: 0, unknown: 0 };
  for (const each of unfoundOfRun(session, scope)) {
    const result = isMissed(each) ? "missing" : each.verified?.result;
    if (result === "missing" || result === "hidden" || result === "unknown") counts[result]++;
  }
  return counts.missing + counts.hidden + counts.unknown > 0 ? counts : undefined;
}

/**
 * The documents that verify did not find since their upload, by their options and pair. Throws CliError
 * `usage` when no document was verified.
 */
export function missingInState(session: Session): MissingDocuments {
  const { state } = session;
  const records = [...verifiableRecords(session)];
  if (records.every(({ verified }) => verified === undefined)) {
    throw new CliError("usage", "--missing: no uploaded document was verified", {
      hints: ["run `knowctl verify` first: it records what it finds"],
    });
  }
  const documents = records.filter(isMissed);
  const groups = new Map<string, { group: RetryGroup; paths: Set<string> }>();
  for (const { target, path, options } of documents) {
    if (path === undefined) continue;
    const key = `${options} ${target}`;
    const known = groups.get(key);
    if (known) known.paths.add(path);
    else {
      const group = { options: state.options.get(options), ccPairId: pairInKey(target), paths: [] };
      groups.set(key, { group, paths: new Set([path]) });
    }
  }
  const fromStdin = documents.filter(({ path }) => path === undefined).length;
  const all = [...groups.values()].map(({ group, paths }) => ({ ...group, paths: [...paths] }));
  return { failed: { groups: all, fromStdin }, documents };
}

/** Makes the plan send documents again that count as unchanged. */
export function markMissing({ state }: Session, documents: readonly VerifiableRecord[]): void {
  state.doubt(documents.map(({ target, id }) => ({ target, id })));
}

/** Error for documents that a retry cannot send. */
export function missingFromStdin(count: number): CliError {
  return new CliError("partial", `${countOf(count, "missing document")} came from stdin`, {
    hints: ["documents from stdin are not stored: send them again with `knowctl ingest -`"],
  });
}
