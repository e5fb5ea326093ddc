import type { VerifiedDocument } from "../../../checks/verify/decide.ts";
import type { Context } from "../../../context.ts";
import { createRealPlaces, exists } from "../../../documents/files/real-place.ts";
import { scopeOf } from "../../../documents/find/scope.ts";
import { CliError } from "../../../errors.ts";
import {
  emptyCounts,
  verifyResults,
  type VerifyCounts,
} from "../../../output/report/from/verified.ts";
import { countOf, followCount, formatCount } from "../../../output/terminal/progress.ts";
import { isInShard } from "../../../sync/plan/decide.ts";
import type { RunRequest } from "../../../sync/run/run-request.ts";
import { targetFor } from "../../../sync/state/target.ts";
import { isFound, isMissing, type VerifiableRecord } from "../../../sync/state/verified.ts";
import { readRecorded } from "../../verify/expected/expected.ts";
import { defaultWaitMs, openSentCheck } from "../../verify/expected/sent.ts";
import { whileAsking } from "../../connect.ts";
import { verifyProblem } from "../../verify/outcome.ts";
import type { IngestOptions } from "../ingest-options.ts";
import type { Report } from "../report/report.ts";
import type { UploadSession } from "../session.ts";
import { sentTargets } from "../target/pair.ts";

/** The check of `--verify`: of what a run sends, and of what earlier runs sent and did not check. */
export interface UploadCheck {
  /** Sends, and keeps each accepted document for its check. */
  keeping(send: RunRequest["upload"]): RunRequest["upload"];
  /** Checks the documents and reports each result. */
  run(report: Report): Promise<void>;
  /** What was not found: of what was sent now, and of what an earlier check did not find. */
  problems(): CliError[];
  close(): void;
}

/**
 * The documents of a run that their last check did not find: from stdin, or of its inputs and its
 * shard. One by one: there may be a million.
 */
function* unfoundOf(
  { source, state, targets }: UploadSession,
  { shard }: Pick<IngestOptions, "shard">,
  isStdin: boolean,
): Generator<VerifiableRecord> {
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
    const pair = ownPair === undefined ? undefined : Number(ownPair);
    return file !== undefined && targetFor(targets, pair)?.key === target;
  };
  for (const key of sentTargets(state, targets, source.config)) {
    for (const each of state.verified.list(key)) {
      // Most are found: only the others cost a look at the disk.
      const isOpen = each.isUnchecked || (each.verified && !isFound(each.verified.result));
      if (isOpen && isOurs(each)) yield each;
    }
  }
}

/** Number of documents by the result of their last check. */
interface UnfoundCounts {
  missing: number;
  hidden: number;
  unknown: number;
}

/** Counts documents that an earlier check did not find: without those that this run found so. */
function countUnfound(
  unfound: Iterable<VerifiableRecord>,
  now: VerifyCounts | undefined,
): UnfoundCounts {
  const counts = { missing: 0, hidden: 0, unknown: 0 };
  for (const { verified: { result } = { result: "" } } of unfound) {
    const name = isMissing(result) ? "missing" : result;
    if (name === "missing" || name === "hidden" || name === "unknown") counts[name]++;
  }
  // The state records the results of this run, too.
  const { missing, stale, hidden, unknown, "listed-only": listed } = now ?? emptyCounts();
  return {
    missing: Math.max(0, counts.missing - missing - listed - stale),
    hidden: Math.max(0, counts.hidden - hidden),
    unknown: Math.max(0, counts.unknown - unknown),
  };
}

function unfoundProblem(
  { missing, hidden, unknown }: UnfoundCounts,
  isStdin: boolean,
): CliError | undefined {
  const all = [
    { count: missing, where: "not in the index" },
    { count: hidden, where: "hidden" },
    { count: unknown, where: "undecided" },
  ].filter(({ count }) => count > 0);
  if (all.length === 0) return undefined;
  const parts = all.map(({ count, where }, index) => {
    if (index > 0) return `${formatCount(count)} ${where}`;
    const runs = count === 1 ? "of an earlier run was" : "of earlier runs were";
    return `${countOf(count, "document")} ${runs} ${where}`;
  });
  const message = `${parts.join(", ")} when last checked`;
  const hints = ["`knowctl verify` checks them again"];
  if (missing > 0 && isStdin) {
    hints.push("send them again with --force, or `knowctl state forget ID` what you send no more");
  } else if (missing > 0) hints.push("`knowctl retry --missing` sends them again");
  return new CliError(missing + hidden > 0 ? "checks-failed" : "partial", message, { hints });
}

/**
 * The problems of a check. `now` are the documents sent now; it also counts those that an earlier
 * check did not find. `checks-failed` comes before `partial`: what is known to be missing before what is not known.
 */
export function foundProblems(
  now: VerifyCounts | undefined,
  earlier: UnfoundCounts,
  isStdin: boolean,
): CliError[] {
  const problems = [now && verifyProblem(now, false), unfoundProblem(earlier, isStdin)];
  return problems
    .filter((each) => each !== undefined)
    .toSorted((a, b) => Number(a.exit === "partial") - Number(b.exit === "partial"));
}

/**
 * Opens the check of `--verify`, before the first document is sent. Throws where the service or the
 * key cannot tell. The caller closes it.
 */
export async function openUploadCheck(
  context: Context,
  session: UploadSession,
  options: Pick<IngestOptions, "wait" | "shard">,
  isStdin: boolean,
): Promise<UploadCheck> {
  const { connected, state, source, targets, output, progress } = session;
  const { client, concurrency, rate } = connected;
  const request = {
    client,
    database: state.database,
    verified: state.verified,
    versionKey: source.settings.versionKey,
    concurrency,
    rate,
    waitMs: options.wait ?? defaultWaitMs,
  };
  const check = await whileAsking({ ...connected, output }, () => openSentCheck(context, request));
  let found: VerifyCounts | undefined;
  const unfound = (): Iterable<VerifiableRecord> => unfoundOf(session, options, isStdin);

  /** Announces and follows the checks of `count` documents, and adds up their results. */
  const checkAll = async (
    count: number,
    which: string,
    { counts, verified }: Report,
    run: (onResult: (result: VerifiedDocument) => Promise<void>) => Promise<VerifyCounts>,
  ): Promise<void> => {
    if (count === 0 || context.signal.aborted) return;
    await output.note(
      `checking ${countOf(count, "document")}${which}: at least ${formatCount(2 * count)} requests`,
    );
    let done = 0;
    followCount(progress, "checking", () => done, count, counts);
    const results = await run(async (result) => {
      done++;
      await verified(result);
    });
    found ??= emptyCounts();
    for (const name of verifyResults) found[name] += results[name];
  };

  return {
    close: check.close,
    keeping: (send) => async (body, document, spentMs) => {
      const result = await send(body, document, spentMs);
      const { id, path, ownPair } = document;
      const target = targetFor(targets, ownPair);
      const usual = client.dialect.storedId?.(id) ?? id;
      const there = result.document_id ?? usual;
      // Responses are redacted: an id may contain a secret of the profile.
      const storedId = there === client.secrets.redact(usual) ? usual : there;
      const from = { path: path === "" ? undefined : path, sentAtMs: context.now() };
      const to = { target: target?.key, ccPairId: target?.ccPairId };
      check.add({ id, storedId, ...from, ...to }, body);
      return result;
    },
    async run(report) {
      await checkAll(check.count(), "", report, check.run);
      if (context.signal.aborted) return;
      const earlier = [...unfound()].filter(({ isUnchecked }) => isUnchecked);
      const which = " that an earlier run sent and did not check";
      await checkAll(earlier.length, which, report, (onResult) =>
        check.runOthers(readRecorded(context, session, earlier), onResult),
      );
    },
    problems: () => foundProblems(found, countUnfound(unfound(), found), isStdin),
  };
}
