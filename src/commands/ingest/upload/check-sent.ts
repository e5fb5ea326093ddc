import type { Client } from "../../../api/client.ts";
import type { Context } from "../../../context.ts";
import { countOf, formatCount } from "../../../output/terminal/progress.ts";
import type { VerifyCounts } from "../../../output/verify.ts";
import type { RunRequest } from "../../../sync/run/run-request.ts";
import { targetFor, type Targets } from "../../../sync/state/target.ts";
import type { SentCheck } from "../../verify/sent.ts";
import type { IngestOptions } from "../ingest-options.ts";
import type { Report } from "../report/report.ts";
import type { UploadSession } from "../session.ts";

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

/** Checks what was sent, and reports each result. Undefined without `--verify` and where nothing was sent. */
export async function checkSent(
  context: Context,
  {
    check,
    output,
    report,
    progress,
  }: Pick<UploadSession, "output" | "progress"> & { check?: SentCheck | undefined; report: Report },
): Promise<VerifyCounts | undefined> {
  const count = check?.count() ?? 0;
  if (!check || count === 0 || context.signal.aborted) return undefined;
  await output.note(
    `checking ${countOf(count, "document")}: at least ${formatCount(2 * count)} requests`,
  );
  let done = 0;
  const { counts } = report;
  const fixed = { phase: "checking", total: count, counts, retries: 0, slowBecause: undefined };
  progress.follow(() => ({ ...fixed, done }));
  return await check.run(async (result) => {
    done++;
    await report.verified(result);
  });
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
  const { defaultWaitMs, openSentCheck } = await import("../../verify/sent.ts");
  const { client, concurrency, rate } = connected;
  const { verified } = state;
  const { wait: waitMs = defaultWaitMs } = options;
  const { versionKey } = source.settings;
  const limits = { concurrency, rate, waitMs };
  return await openSentCheck(context, { client, verified, versionKey, ...limits });
}
