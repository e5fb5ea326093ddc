import type { Sink } from "../../../context.ts";
import { ApiError, CliError, messageOf, type ExitName } from "../../../errors.ts";
import { countsText } from "../../../output/ingest.ts";
import { lineOf } from "../../../output/report/json.ts";
import type { ReportHead } from "../../../output/report/stored/record.ts";
import { neutraliseLine } from "../../../output/terminal/neutralise.ts";
import type { Output } from "../../../output/terminal/output.ts";
import { countOf, formatDuration } from "../../../output/terminal/progress.ts";

/** More different messages of one round pass each time: memory stays flat. */
const mostRemembered = 1000;

/**
 * Passes on what a round writes, unless the last complete round has written the same: a file that
 * stays broken is reported once. `endRound(true)`: the round is complete, so what it did not write is
 * over.
 */
export function createOnceSink(sink: Sink): { sink: Sink; endRound(isComplete: boolean): void } {
  let said = new Set<string>();
  let written = new Set<string>();
  return {
    sink: {
      ...sink,
      async write(text) {
        const key = String(text);
        // A progress line, which is redrawn, ends without a line break.
        if (written.size < mostRemembered && key.endsWith("\n")) written.add(key);
        if (!said.has(key)) await sink.write(text);
      },
    },
    endRound(isComplete) {
      said = isComplete ? written : new Set([...said, ...written].slice(0, mostRemembered));
      written = new Set();
    },
  };
}

const ofService: ReadonlySet<ExitName> = new Set([
  "unreachable",
  "rate-limited",
  "timeout",
  "server-error",
]);

/**
 * What failures of one outage have in common. A service that fails now resets, now answers with 503;
 * which request it is, and after how many attempts, differs as well.
 */
function kindOf(error: unknown): string {
  if (!(error instanceof ApiError)) return messageOf(error);
  return ofService.has(error.exit) ? "service" : error.exit;
}

/** What a watch says of its rounds, beside what the uploads say themselves. */
export interface WatchMessages {
  /** After the first round. */
  started(everyMs: number): Promise<void>;
  /**
   * A complete round; silent where it neither sent nor removed anything, and no document is `broken`:
   * trouble() reports those that may be accepted later.
   */
  round(head: ReportHead, removed: number, broken: number): Promise<void>;
  /** A failed round: once for each failure of an outage. */
  trouble(error: unknown): Promise<void>;
  /**
   * A round after which documents wait for a retry: those of an outage where the service accepted
   * nothing, else each document once. `ids` are the first ones.
   */
  unsent(ids: readonly string[], accepted: number, error: CliError): Promise<void>;
  /** After a round without trouble; silent where there was none before. */
  well(): Promise<void>;
  /** A change of the watch itself. */
  note(message: string): Promise<void>;
}

/** A time as a person types it for a flag: `1h`, `1h30m`, `10m`, `5s`. */
function intervalText(ms: number): string {
  return formatDuration(ms).replace(/(?<=[a-z])0+[a-z]$|\.0(?=s$)/, "");
}

/** What goes wrong for a while, by kind, so that each kind is said once. */
function createTrouble() {
  const kinds = new Set<string>();
  let since = Infinity;
  return {
    has: (kind: string): boolean => kinds.has(kind),
    /** When it began; Infinity where nothing is wrong. */
    sinceMs: (): number => since,
    /** Returns whether one of the kinds is new. */
    begin(now: readonly string[], nowMs: number): boolean {
      since = Math.min(since, nowMs);
      const news = now.filter((kind) => !kinds.has(kind)).slice(0, mostRemembered - kinds.size);
      for (const kind of news) kinds.add(kind);
      return news.length > 0;
    },
    end(): void {
      kinds.clear();
      since = Infinity;
    },
  };
}

type Trouble = ReturnType<typeof createTrouble>;

/** `events`: as objects on stdout, one line each, beside the lines for people on stderr. */
export function createMessages(output: Output, events: boolean): WatchMessages {
  const outage = createTrouble();
  // A document that fails while others are accepted is no outage of the service.
  const failing = createTrouble();
  const time = (): string => new Date(output.now()).toTimeString().slice(0, 8);
  const emit = async (event: string, message: string): Promise<void> => {
    if (!events) return;
    const at = new Date(output.now()).toISOString();
    await output.json(lineOf("watch", { event, at, message }));
  };
  /** Writes what began, unless each kind of it was written before. */
  const tell = async (
    trouble: Trouble,
    kinds: readonly string[],
    error: unknown,
  ): Promise<void> => {
    if (!trouble.begin(kinds, output.now())) return;
    const known = error instanceof CliError ? error : undefined;
    const message = messageOf(error);
    await output.warn(`${time()} ${neutraliseLine(message)}`);
    for (const detail of known?.details ?? []) await output.problem("  ", neutraliseLine(detail));
    for (const hint of known?.hints ?? []) await output.problem("  → ", neutraliseLine(hint));
    await output.problem("  trying again in 5s, then less often");
    await emit("trouble", message);
  };
  const tellEnd = async (trouble: Trouble, sinceMs = trouble.sinceMs()): Promise<void> => {
    trouble.end();
    if (sinceMs === Infinity) return;
    const message = `well again after ${formatDuration(output.now() - sinceMs)}`;
    await output.note(`${time()} ${message}`);
    await emit("well", message);
  };
  return {
    async started(everyMs) {
      const message = `watching for changes, with a full check every ${intervalText(everyMs)}`;
      await output.note(`${message}; Ctrl-C ends`);
      await emit("watching", message);
    },
    async round(head, removed, broken) {
      const { created, updated } = head.counts;
      if (created + updated + removed + broken === 0) return;
      const gone = removed === 0 ? "" : `, ${countOf(removed, "document")} removed`;
      const took = formatDuration(head.seconds * 1000);
      await output.note(`${time()} ${countsText(head.counts, false)}${gone} in ${took}`);
    },
    trouble: async (error) => await tell(outage, [kindOf(error)], error),
    async unsent(ids, accepted, error) {
      if (accepted > 0) await tellEnd(outage);
      const isAlone = accepted > 0 || ids.every((id) => failing.has(id));
      await (isAlone ? tell(failing, ids, error) : tell(outage, ["service"], error));
    },
    async well() {
      const sinceMs = Math.min(outage.sinceMs(), failing.sinceMs());
      failing.end();
      await tellEnd(outage, sinceMs);
    },
    async note(message) {
      await output.note(`${time()} ${neutraliseLine(message)}`);
      await emit("note", message);
    },
  };
}
