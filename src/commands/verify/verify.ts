import { goOnAfterClosedPipe } from "../closed-pipe.ts";
import { placeText } from "../ingest/target/pair.ts";
import { createGate } from "../../api/retry/gate.ts";
import { outcomeOf, type VerifiedDocument } from "../../checks/verify/decide.ts";
import type { Context } from "../../context.ts";
import { countOf, followCount, formatCount } from "../../output/terminal/progress.ts";
import { reportFormat } from "../../output/formats/formats.ts";
import { checkReportFiles, writeReports, type ReportFiles } from "../../output/report/forms.ts";
import { emptyCounts, type VerifyCounts } from "../../output/report/from/verified.ts";
import {
  checkVerifyFormat,
  countsText,
  verifyReport,
  type VerifyRun,
} from "../../output/report/from/verify.ts";
import { ciPrefix } from "../../output/report/github.ts";
import { lineOf, writeData } from "../../output/report/json.ts";
import { writePeople } from "../../output/report/people.ts";
import type { Verification } from "../../sync/state/verified.ts";
import { createOutput, type Output } from "../../output/terminal/output.ts";
import { openSource, placeOf } from "../ingest/options/settings.ts";
import { followed, type Outcome } from "../outcome/follow.ts";
import { trafficOf } from "../outcome/measures.ts";
import { openSession, type Session } from "../ingest/session.ts";
import { findGitRoot } from "../project-root.ts";
import { chooseDocuments, type Chosen } from "./expected/chosen.ts";
import { statusOf, verifyProblem } from "./outcome.ts";
import { openReader } from "./look/readers.ts";
import { refuseUncheckable } from "./expected/sent.ts";
import { checkVerifyOptions, type VerifyOptions } from "./verify-options.ts";
import { verifyDocuments, type Verified, type VerifyRequest } from "./verifying.ts";

const savedAtOnce = 256;

/** Records the results of the profile's own view. */
function createRecord({ state }: Session): { add(verified: Verified): void; save(): void } {
  const batch: Verification[] = [];
  const save = (): void => state.verified.save(batch.splice(0));
  return {
    add({ document: { target, id }, result }) {
      if (target === undefined) return;
      batch.push({ target, id, result: result.result, atMs: Date.parse(result.verifiedAt) });
      if (batch.length >= savedAtOnce) save();
    },
    save,
  };
}

async function announce(
  { output, source, targets }: Session,
  count: number,
  { depth = "text", reader, explain, via }: VerifyOptions,
): Promise<void> {
  if (explain !== undefined) return;
  const isText = depth === "text" && !via;
  const least = formatCount(isText ? count * 2 : count);
  const more = [
    ...(isText ? ["one for each document and one for each of its chunks"] : []),
    ...(reader === undefined ? [] : ["as the reader, and again with the own key what it lacks"]),
  ];
  const detail = more.length === 0 ? "" : ` (${more.join("; ")})`;
  const about = isText ? "at least " : "";
  await output.note(
    `checking ${countOf(count, "document")}${placeText(source.config, targets.baseUrl)}: ${about}${least} requests${detail}`,
  );
}

function order(a: VerifiedDocument, b: VerifiedDocument): number {
  const [left, right] = [a.path ?? a.id, b.path ?? b.id];
  return left < right ? -1 : left > right ? 1 : a.id < b.id ? -1 : 1;
}

// Within this time after an upload, a busy service may still index.
const recentMs = 10 * 60_000;

interface Checked {
  counts: VerifyCounts;
  /** Whether a document that is not as expected was sent only recently. */
  isRecent: boolean;
}

/**
 * Runs the checks, writes them, and returns their outcome. A check that is stopped writes what it
 * has found, then throws its reason.
 */
async function check(
  context: Context,
  session: Session,
  chosen: Chosen,
  request: Omit<VerifyRequest, "documents" | "client">,
  { options, files, outcome }: { options: VerifyOptions; files: ReportFiles; outcome: Outcome },
): Promise<Checked> {
  const { output, source, connected, progress } = session;
  if (!connected) throw new Error("no connection");
  const format = reportFormat(options);
  const counts = emptyCounts();
  const kept: VerifiedDocument[] = [];
  const keepsAll = format === "json" || options.explain !== undefined || files.reports.length > 0;
  const record = createRecord(session);
  if (session.state.isCopy && !request.reader) {
    await output.note("the state is read-only: the results are not recorded");
  }
  let done = 0;
  let isRecent = false;
  let stopped: { reason: unknown } | undefined;
  followCount(progress, "checking", () => done, chosen.count);
  try {
    const { documents, textsOf } = chosen;
    const { client } = connected;
    await verifyDocuments(context, { ...request, documents, textsOf, client }, async (each) => {
      done++;
      const { result } = each;
      counts[result.result]++;
      if (!request.reader) record.add(each);
      if (format === "ndjson") await output.json(lineOf("verified", result));
      const isExpected = outcomeOf(result.result, request.expectsHidden) === "expected";
      if (keepsAll || !isExpected || output.verbose) kept.push(result);
      const { sentAtMs = 0 } = each.document;
      if (!isExpected && context.now() - sentAtMs < recentMs) isRecent = true;
    });
  } catch (error) {
    stopped = { reason: error };
  } finally {
    record.save();
    await progress.stop();
  }
  if (stopped && done === 0) throw stopped.reason;
  kept.sort(order);
  const unchecked = stopped ? chosen.count - done : 0;
  const run: VerifyRun = output.secrets.redactAll({
    status: statusOf(counts, request.expectsHidden, chosen.failed.length + unchecked),
    expected: request.expectsHidden ? "hidden" : undefined,
    summary: { ...counts, documents: done },
    documents: kept,
    unread: chosen.failed,
    unchecked,
    traffic: trafficOf(request.gate),
    isFine: ({ result }) => outcomeOf(result, request.expectsHidden) === "expected",
  });
  const whole = outcome.complete(verifyReport(run));
  const hasAll = output.verbose || options.explain !== undefined;
  if (format === "text") {
    const report = verifyReport({ ...run, unread: [] }, hasAll);
    const style = options.explain === undefined ? "lines" : "evidence";
    await writePeople(output, report, source.shown, style);
  } else await writeData(output, options, whole.data, true);
  const left = stopped ? `, ${formatCount(unchecked)} not checked` : "";
  await output.note(countsText(counts) + left);
  const { root } = source.settings;
  const prefix = ciPrefix(root, findGitRoot(context, root), context.env);
  await writeReports(output, context.env, whole, files, prefix);
  if (stopped) throw stopped.reason;
  return { counts, isRecent };
}

/** Each document is one question to the assistant. Throws CliError `usage` for a no. */
async function allowChat(
  context: Context,
  options: VerifyOptions,
  output: Output,
  calls: number,
): Promise<void> {
  const { createAllowance } = await import("../search/allow.ts");
  const cost = `${countOf(calls, "model call")}, one for each document`;
  await createAllowance(context, options, output)({ name: "chat", calls, cost }, []);
}

const defaultDepth = "text";

/**
 * `knowctl verify`: checks for each uploaded document whether the index holds it, in the version
 * that was sent, for the profile's key or another reader. Throws CliError `checks-failed` when a
 * document is not as uploaded, `partial` when one cannot be decided, `usage` when there is nothing
 * to check, `not-found` where the service cannot tell, `auth` where the key may not ask.
 */
export const verify = followed("verify", verifyPaths);

async function verifyPaths(
  system: Context,
  paths: string[],
  options: VerifyOptions,
  outcome: Outcome,
): Promise<void> {
  const context = goOnAfterClosedPipe(system);
  const output = createOutput(context, options);
  checkVerifyOptions(paths, options);
  checkVerifyFormat(options);
  const files = checkReportFiles(options, context.cwd);
  const inputs = options.explain === undefined ? paths : [options.explain];
  const flags = { ...options, idsOnly: true, wholeRoot: true, mayBeRemoved: true };
  const source = await openSource(context, inputs, flags, output, true);
  await outcome.begin(placeOf(source, options));
  if (!options.via) refuseUncheckable(source.config.dialect);
  const request = { ...options, dryRun: true, readsService: true, records: true };
  const session = await openSession(context, output, source, request);
  try {
    const reader = await openReader(context, output, session, options);
    try {
      const chosen = await chooseDocuments(context, session, options);
      if (options.via === "chat") await allowChat(context, options, output, chosen.count);
      await announce(session, chosen.count, options);
      for (const each of chosen.failed) await output.error(each);
      const { depth = defaultDepth, wait: waitMs = 0, expect } = options;
      const expectsHidden = expect === "hidden";
      const { concurrency = 8, rate } = session.connected ?? {};
      const via = options.via === "assisted" ? undefined : options.via;
      const { signal } = context;
      const gate = createGate({
        ceiling: concurrency,
        ratePerSecond: rate,
        clock: context,
        signal,
      });
      const limits = { depth, via, waitMs, concurrency, gate, expectsHidden, reader };
      const { counts, isRecent } = await check(context, session, chosen, limits, {
        options,
        files,
        outcome,
      });
      const unread = chosen.failed.length;
      const { isRecorded } = chosen;
      const problem = verifyProblem(counts, expectsHidden, { unread, isRecent, isRecorded });
      if (problem) throw problem;
      const unpushed = await session.settle();
      if (unpushed) throw unpushed;
    } finally {
      await reader?.close();
    }
  } finally {
    await session.close();
  }
}
