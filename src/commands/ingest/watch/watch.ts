import { resolve } from "node:path";
import type { Context } from "../../../context.ts";
import { realPath } from "../../../documents/files/root.ts";
import type { OpenWatcher } from "../../../documents/find/watch-folder.ts";
import { ApiError, CliError, isOutOfFiles, type ExitName } from "../../../errors.ts";
import { failureText } from "../../../output/ingest.ts";
import type { ShownPath } from "../../../output/paths.ts";
import type { ReportFailure, ReportHead } from "../../../output/report/stored/record.ts";
import { countOf, formatCount } from "../../../output/terminal/progress.ts";
import { goOnAfterClosedPipe } from "../../closed-pipe.ts";
import type { IngestOptions } from "../ingest-options.ts";
import type { DocumentSource } from "../options/settings.ts";
import { ingestFormat } from "../report/report.ts";
import { createMessages, createOnceSink, type WatchMessages } from "./messages.ts";
import { removeGone } from "./remove-gone.ts";
import { runRounds, type Cause, type RoundEnd } from "./rounds.ts";
import { createWatching, type Watching } from "./watching.ts";
import { createOutput } from "../../../output/terminal/output.ts";

/** What a watch follows of an upload. */
export interface UploadFollower {
  /** Before the files are listed; throws to refuse the upload. */
  onSource(source: DocumentSource): Promise<void>;
  /** After the summary. */
  onEnd(head: ReportHead, failures: Iterable<ReportFailure>): void;
}

/** An upload as `ingest` makes it. */
export type UploadOnce = (
  context: Context,
  paths: string[],
  options: IngestOptions,
  follower: UploadFollower,
) => Promise<void>;

const defaultEveryMs = 3_600_000;
const defaultSettleMs = 2_000;

/** In the first round only a person can end these; later the watch waits for that person. */
const endsStart: ReadonlySet<ExitName> = new Set(["usage", "not-configured", "auth", "not-found"]);

/** Where the root and the named paths really are: a link that takes their place leads elsewhere. */
function placesOf({ settings: { root }, inputs, cwd }: DocumentSource): Map<string, string> {
  const places = new Map([["the project root", root]]);
  for (const input of inputs) {
    const real = realPath(resolve(cwd, input));
    if (real !== undefined) places.set(input, real);
  }
  return places;
}

/** Refuses a root or path that has become another folder: its documents would get other ids. */
function refuseMoved(before: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): void {
  for (const [name, place] of now) {
    const old = before.get(name);
    if (old === undefined || old === place) continue;
    throw new CliError("usage", `${name} was ${old} and is now ${place}; nothing is sent`, {
      hints: ["put the folder back, or start the watch again to upload the other one"],
    });
  }
}

/**
 * A signal of one round: whatever waits for it goes with the round, and nothing gathers at the signal of
 * the process.
 */
function untilEnd(signal: AbortSignal): { signal: AbortSignal; end(): void } {
  const round = new AbortController();
  const stop = (): void => round.abort(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  return { signal: round.signal, end: () => signal.removeEventListener("abort", stop) };
}

/** Later rounds ask nobody: a question would stop them until somebody looks at the terminal. */
function laterContext(context: Context): Context {
  const { stdin } = context;
  const closed = {
    isTTY: false,
    get stream() {
      return stdin.stream;
    },
    [Symbol.asyncIterator]: () => stdin[Symbol.asyncIterator](),
  };
  return { ...context, stdin: closed };
}

interface UploadEnd {
  head: ReportHead;
  /** Documents that were not accepted, and may be later. */
  unsent: { count: number; first: string[]; ids: string[] };
}

const unsentShown = 3;
const unsentNamed = 1000;

function unsentOf(failures: Iterable<ReportFailure>, shown: ShownPath): UploadEnd["unsent"] {
  let count = 0;
  const first: string[] = [];
  const ids: string[] = [];
  for (const each of failures) {
    if (!each.retryable) continue;
    if (count++ < unsentShown) first.push(failureText(each, shown));
    if (count <= unsentNamed) ids.push(each.id ?? each.path);
  }
  return { count, first, ids };
}

const removesLater = "--prune removes nothing until the service has accepted all";

function unsentError(
  { count, first }: UploadEnd["unsent"],
  accepted: number,
  prunes: boolean,
): CliError {
  const more = count - first.length;
  const details = [...first, ...(more > 0 ? [`… and ${formatCount(more)} more`] : [])];
  const were = count === 1 ? "was" : "were";
  const others = accepted > 0 ? "; the service accepted others" : "";
  const message = `${countOf(count, "document")} ${were} not accepted${others}`;
  return new CliError("partial", message, { details, hints: prunes ? [removesLater] : [] });
}

/**
 * Uploads with each call. Throws what stopped an upload; documents that failed are in its head. Refuses
 * folders that are others than in the first call.
 */
function createUploads(
  paths: string[],
  options: IngestOptions,
  upload: UploadOnce,
  watching: Watching,
): (context: Context, isFirst: boolean) => Promise<UploadEnd> {
  let places: Map<string, string> | undefined;
  const prepare = async (source: DocumentSource, isFirst: boolean): Promise<void> => {
    if (options.prune && isFirst && !options.tombstone) {
      (await import("../../prune/prune.ts")).refuseUndeletable(source);
    }
    const now = placesOf(source);
    refuseMoved((places ??= now), now);
    await watching.follow(source);
  };
  return async (context, isFirst) => {
    let ended: UploadEnd | undefined;
    let shown: ShownPath = (path) => path;
    const follower: UploadFollower = {
      async onSource(source) {
        shown = source.shown;
        await prepare(source, isFirst);
      },
      onEnd(head, failures) {
        ended = { head, unsent: unsentOf(failures, shown) };
      },
    };
    const flags = isFirst ? options : { ...options, quiet: true, input: false };
    try {
      await upload(isFirst ? context : laterContext(context), paths, flags, follower);
    } catch (error) {
      // The documents failed, not the round: its line counts them.
      if (ended?.head.status !== "partial" || !(error instanceof CliError)) throw error;
      if (error.exit !== "partial") await createOutput(context, flags).warn(error.message);
    }
    if (!ended) throw new Error("an upload ended without a report");
    return ended;
  };
}

/** Throws what no retry can mend. */
function refuseHopeless(thrown: unknown, isFirst: boolean): void {
  if (!(thrown instanceof CliError) && !isOutOfFiles(thrown)) throw thrown;
  if (!(thrown instanceof CliError)) return;
  if (thrown.isLasting || (isFirst && endsStart.has(thrown.exit))) throw thrown;
}

/** Removes what is gone after a complete upload, and says how the round went. */
async function endRound(
  { head, unsent }: UploadEnd,
  messages: WatchMessages,
  isFirst: boolean,
  { prunes, remove }: { prunes: boolean; remove: () => Promise<number> },
): Promise<void> {
  const removed = head.status === "ok" ? await remove() : 0;
  if (!isFirst) await messages.round(head, removed, head.counts.failed - unsent.count);
  if (unsent.count === 0) return await messages.well();
  const accepted = head.counts.created + head.counts.updated;
  await messages.unsent(unsent.ids, accepted, unsentError(unsent, accepted, prunes));
}

interface RoundParts {
  upload: UploadOnce;
  watching: Watching;
  messages: WatchMessages;
}

/** The rounds of a watch, for runRounds(). */
function createRound(
  context: Context,
  paths: string[],
  options: IngestOptions,
  { upload, watching, messages }: RoundParts,
  everyMs: number,
): (cause: Cause) => Promise<RoundEnd> {
  const uploadNow = createUploads(paths, options, upload, watching);
  const once = createOnceSink(context.stderr);
  let isFirst = true;
  let wasWell = false;
  /** Resolves to whether documents wait for a retry. */
  const complete = async (inRound: Context): Promise<boolean> => {
    const end = await uploadNow(inRound, isFirst);
    context.signal.throwIfAborted();
    const prunes = options.prune === true;
    const remove = async (): Promise<number> =>
      prunes && wasWell ? await removeGone(laterContext(inRound), paths, options) : 0;
    await endRound(end, messages, isFirst, { prunes, remove });
    once.endRound(true);
    if (isFirst) await messages.started(everyMs);
    isFirst = false;
    return end.unsent.count > 0;
  };
  const fail = async (thrown: unknown): Promise<void> => {
    context.signal.throwIfAborted();
    refuseHopeless(thrown, isFirst);
    once.endRound(false);
    // The folder may be the reason: another one may have come in its place.
    if (!(thrown instanceof ApiError)) watching.expire();
    await messages.trouble(thrown);
  };
  return async (cause) => {
    if (cause === "check") watching.expire();
    const { signal, end } = untilEnd(context.signal);
    const hasUnsent = await complete({ ...context, stderr: once.sink, signal })
      .catch(fail)
      .finally(end);
    wasWell = hasUnsent === false;
    await watching.tellBlindness();
    const isTrouble = hasUnsent === undefined;
    return { isTrouble, hasUnsent: hasUnsent === true, hasEvents: watching.hasEvents() };
  };
}

/**
 * `ingest --watch`: uploads as `ingest` does, then again after each burst of changes and every
 * `options.every`, until a signal. Each round loads the configuration anew and stops sending where it
 * is no longer trusted. Throws the signal's reason; what a person must mend in the first round; what
 * no later round can use, such as a state of another version; and what is a bug. All other failures are
 * reported once, and the round is retried.
 */
export async function watchUploads(
  processContext: Context,
  paths: string[],
  options: IngestOptions,
  upload: UploadOnce,
  openWatcher: OpenWatcher,
): Promise<never> {
  const context = goOnAfterClosedPipe(processContext);
  const messages = createMessages(
    createOutput(context, options),
    ingestFormat(options) === "ndjson",
  );
  const watching = createWatching(context, options, openWatcher, messages);
  const times = {
    everyMs: options.every ?? defaultEveryMs,
    settleMs: options.settle ?? defaultSettleMs,
  };
  const round = createRound(context, paths, options, { upload, watching, messages }, times.everyMs);
  try {
    return await runRounds(times, context, watching.changes, round);
  } finally {
    await watching.close();
  }
}
