import type { Client } from "../../../api/client.ts";
import type { Context } from "../../../context.ts";
import { CliError } from "../../../errors.ts";
import { countOf, followCount, formatCount } from "../../../output/terminal/progress.ts";
import type { VerifyCounts } from "../../../output/report/from/verify.ts";
import { verifyResults } from "../../../output/schemas/checks.ts";
import type { Shard } from "../../../sync/plan/shard.ts";
import { createLog } from "../../../sync/state/log.ts";
import type { VerifiableRecord } from "../../../sync/state/verified.ts";
import type { RunRequest } from "../../../sync/run/run-request.ts";
import { targetFor, type Targets } from "../../../sync/state/target.ts";
import type { ExpectedText } from "../../verify/expected/expected.ts";
import type { SentCheck } from "../../verify/expected/sent.ts";
import type { IngestOptions } from "../ingest-options.ts";
import type { RunScope, UnfoundCounts } from "../../retry/missing.ts";
import type { Report } from "../report/report.ts";
import type { UploadSession } from "../session.ts";

interface Run {
  stream?: unknown;
  options: { shard?: Shard };
}

const scopeOfRun = ({ stream, options }: Run): RunScope => ({
  isStdin: stream !== undefined,
  shard: options.shard,
});

/** Sends, and keeps each accepted document for its check. */
export function keepingSent(
  send: RunRequest["upload"],
  check: SentCheck,
  { client, targets, now }: { client: Client; targets: Targets; now: () => number },
): RunRequest["upload"] {
  return async (body, document, spentMs) => {
    const result = await send(body, document, spentMs);
    const { id, path, ownPair } = document;
    const target = targetFor(targets, ownPair);
    const usual = client.dialect.storedId?.(id) ?? id;
    const there = result.document_id ?? usual;
    // Responses are redacted: an id may contain a secret of the profile.
    const storedId = there === client.secrets.redact(usual) ? usual : there;
    const from = { path: path === "" ? undefined : path, sentAtMs: now() };
    const to = { target: target?.key, ccPairId: target?.ccPairId };
    check.add({ id, storedId, ...from, ...to }, body);
    return result;
  };
}

/** An upload whose documents are checked with `--verify`. */
export type CheckedUpload = Pick<UploadSession, "output" | "progress"> & {
  check?: SentCheck | undefined;
  report: Report;
};

/** Shows the checks on the progress line. Call the returned function after each. */
function followChecks({ report: { counts }, progress }: CheckedUpload, total: number): () => void {
  let done = 0;
  followCount(progress, "checking", () => done, total, counts);
  return () => void done++;
}

async function checkOwn(
  context: Context,
  upload: CheckedUpload,
): Promise<VerifyCounts | undefined> {
  const { check, output, report } = upload;
  const count = check?.count() ?? 0;
  if (!check || count === 0 || context.signal.aborted) return undefined;
  await output.note(
    `checking ${countOf(count, "document")}: at least ${formatCount(2 * count)} requests`,
  );
  const done = followChecks(upload, count);
  return await check.run(async (result) => {
    done();
    await report.verified(result);
  });
}

// Files are read in batches, for a memory that does not grow with the number of documents. A file
// of rows is read again for each batch, hence large ones.
const readAtOnce = 10_000;

async function* textsOf(
  context: Context,
  session: UploadSession,
  records: Iterable<VerifiableRecord>,
): AsyncGenerator<ExpectedText> {
  const { readRecorded } = await import("../../verify/expected/expected.ts");
  let batch: VerifiableRecord[] = [];
  for (const each of records) {
    batch.push(each);
    if (batch.length < readAtOnce) continue;
    yield* readRecorded(context, session, batch);
    batch = [];
  }
  yield* readRecorded(context, session, batch);
}

/**
 * Checks the documents of this run that an earlier run sent, to be checked or after a check did not
 * find them, and that no check came to since. Undefined for none. Call it after the check of what
 * this run sent.
 */
async function checkEarlier(
  context: Context,
  upload: CheckedUpload & UploadSession,
  scope: RunScope,
): Promise<VerifyCounts | undefined> {
  const { check, output, report } = upload;
  if (!check || context.signal.aborted) return undefined;
  // The checks write to the tables that uncheckedOfRun() reads.
  // Imported on demand: most uploads check nothing.
  const { uncheckedOfRun } = await import("../../retry/missing.ts");
  const unchecked = createLog<VerifiableRecord>(upload.state.database, "unchecked");
  let count = 0;
  for (const each of uncheckedOfRun(upload, scope)) {
    unchecked.add(each);
    count++;
  }
  if (count === 0) return undefined;
  await output.note(
    `checking ${countOf(count, "document")} that an earlier run sent and did not check: at least ${formatCount(2 * count)} requests`,
  );
  const done = followChecks(upload, count);
  return await check.runOthers(textsOf(context, upload, unchecked.list()), async (result) => {
    done();
    await report.verified(result);
  });
}

/**
 * Checks what was sent, and what earlier runs sent and did not check. Reports each result.
 * Undefined without `--verify` and where there is nothing of the kind.
 */
export async function checkSent(
  context: Context,
  upload: CheckedUpload & UploadSession & Run,
): Promise<VerifyCounts | undefined> {
  if (!upload.check) return undefined;
  const own = await checkOwn(context, upload);
  const others = await checkEarlier(context, upload, scopeOfRun(upload));
  if (!own || !others) return own ?? others;
  for (const name of verifyResults) own[name] += others[name];
  return own;
}

/** Opens the check of `--verify`; before the first document is sent. */
export async function openCheck(
  context: Context,
  {
    connected,
    state,
    source,
    options,
  }: Pick<UploadSession, "connected" | "state" | "source"> & {
    options: Pick<IngestOptions, "verify" | "wait">;
  },
): Promise<SentCheck | undefined> {
  if (!options.verify) return undefined;
  const { defaultWaitMs, openSentCheck } = await import("../../verify/expected/sent.ts");
  const { client, concurrency, rate } = connected;
  const { verified, database } = state;
  const { wait: waitMs = defaultWaitMs } = options;
  const { versionKey } = source.settings;
  const limits = { concurrency, rate, waitMs };
  return await openSentCheck(context, { client, database, verified, versionKey, ...limits });
}

/**
 * Counts the documents of this run that it did not check and an earlier check did not find. Undefined
 * for none, and without `--verify`. Call it after checkSent(), with its result.
 */
export async function countStillUnfound(
  session: Pick<UploadSession, "state" | "targets" | "source"> &
    Run & { check?: SentCheck | undefined },
  verified: VerifyCounts | undefined,
): Promise<UnfoundCounts | undefined> {
  if (!session.check) return undefined;
  // Imported on demand: most uploads check nothing.
  const { countUnfound } = await import("../../retry/missing.ts");
  const all = countUnfound(session, scopeOfRun(session));
  if (!all || !verified) return all;
  // The state records the results of this run, too.
  const left = {
    missing: Math.max(0, all.missing - verified.missing - verified["listed-only"] - verified.stale),
    hidden: Math.max(0, all.hidden - verified.hidden),
    unknown: Math.max(0, all.unknown - verified.unknown),
  };
  return left.missing + left.hidden + left.unknown > 0 ? left : undefined;
}

function unfoundProblem({ missing, hidden, unknown }: UnfoundCounts, isStdin: boolean): CliError {
  const all = [
    { count: missing, where: "not in the index" },
    { count: hidden, where: "hidden" },
    { count: unknown, where: "undecided" },
  ].filter(({ count }) => count > 0);
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
 * What `--verify` did not find: of what was sent now, and of what an earlier check did not find.
 * `checks-failed` comes before `partial`.
 */
export async function foundProblems(
  verified: VerifyCounts | undefined,
  unfound: UnfoundCounts | undefined,
  isStdin: boolean,
): Promise<CliError[]> {
  const problems: CliError[] = [];
  if (verified) {
    const { verifyProblem } = await import("../../verify/outcome.ts");
    const problem = verifyProblem(verified, false);
    if (problem) problems.push(problem);
  }
  if (unfound) problems.push(unfoundProblem(unfound, isStdin));
  // What is known to be missing comes before what is not known.
  return problems.toSorted((a, b) => Number(a.exit === "partial") - Number(b.exit === "partial"));
}
