import { existsSync, readdirSync, readFileSync } from "node:fs";
import { getEventListeners } from "node:events";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { IngestOptions } from "../../../../src/commands/ingest/ingest-options.ts";
import { ingestOnce } from "../../../../src/commands/ingest/ingest.ts";
import { watchUploads } from "../../../../src/commands/ingest/watch/watch.ts";
import { SignalReceived } from "../../../../src/context.ts";
import { openDatabase } from "../../../../src/database.ts";
import type { OpenWatcher, WatchRequest } from "../../../../src/documents/find/watch-folder.ts";
import { keepContext } from "../../../ran.ts";
import type { TestService } from "../../../service.ts";
import { createTestContext } from "../../../support.ts";

/** The watch at rest: no round runs. */
export interface Rest {
  /** Milliseconds that it will wait if nothing happens. */
  ms: number;
  /** Rounds that have ended. */
  rounds: number;
  /** What was printed since the last rest. */
  text: string;
  stdout: string;
  /** What the watcher was opened for; undefined before the first time. */
  watched: WatchRequest | undefined;
  /** How often a watcher was opened. */
  opened: number;
  /** Watchers that are open. */
  open: number;
  /** What waits for the signal of the process. */
  listeners: number;
  /** As the watcher, which saw a change `afterMs` from now on. */
  change(afterMs?: number, isRule?: boolean): void;
  blind(reason: string): void;
}

/** `end` ends the watch as Ctrl-C does; nothing lets the time pass, or the changes come. */
export type AtRest = (rest: Rest) => "end" | void | Promise<"end" | void>;

/**
 * Runs `ingest --watch` in this process with a clock of its own. `atRest` is called whenever it waits;
 * the watcher sees only what it is told. Resolves with what ended it, and all that was printed.
 */
export async function runWatch(
  { folder, env }: Pick<TestService, "folder" | "env">,
  options: IngestOptions,
  atRest: AtRest,
): Promise<{ error: unknown; stdout: string; stderr: string }> {
  const context = createTestContext({ cwd: folder, env });
  const startMs = Date.UTC(2026, 0, 5, 9);
  const settleMs = options.settle ?? 2000;
  let clockMs = 0;
  let [rounds, opened, open] = [0, 0, 0];
  let isIdle = false;
  let [seenText, seenOut] = [0, 0];
  let watched: WatchRequest | undefined;
  let coming: { atMs: number; run: () => void }[] = [];
  const later = (afterMs: number, run: () => void): void => {
    coming.push({ atMs: clockMs + afterMs, run });
    coming = coming.toSorted((a, b) => a.atMs - b.atMs);
  };
  const takeText = (): string => {
    const text = context.stderrText();
    const news = text.slice(seenText);
    seenText = text.length;
    return news;
  };
  const takeOut = (): string => {
    const news = context.stdoutText().slice(seenOut);
    seenOut += news.length;
    return news;
  };
  const openWatcher: OpenWatcher = async (request) => {
    watched = request;
    opened++;
    open++;
    return { close: async () => void open-- };
  };
  const sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
    signal?.throwIfAborted();
    // Within a round: retries of requests.
    if (!isIdle) return void (clockMs += Math.ceil(ms));
    const end = clockMs + ms;
    // A shorter one only waits for the end of a burst.
    if (coming.length === 0 && ms > settleMs) {
      const listeners = getEventListeners(context.signal, "abort").length;
      const news = { text: takeText(), stdout: takeOut() };
      const rest = { ms, rounds, ...news, watched, opened, open, listeners };
      const answer = await atRest({
        ...rest,
        change: (afterMs = 0, isRule = false) => later(afterMs, () => watched?.onChange(isRule)),
        blind: (reason) => watched?.onBlind(reason),
      });
      if (answer === "end") context.abort(new SignalReceived("SIGTERM", "terminated"));
      signal?.throwIfAborted();
    }
    const next = coming[0];
    if (!next || next.atMs > end) return void (clockMs = end);
    clockMs = Math.max(clockMs, next.atMs);
    coming.shift();
    next.run();
    signal?.throwIfAborted();
  };
  const watching = {
    ...keepContext(context, `ingest --watch ${JSON.stringify(options)}`),
    now: () => startMs + clockMs,
    elapsed: () => clockMs,
    sleep,
  };
  const upload: typeof ingestOnce = async (...args) => {
    isIdle = false;
    try {
      await ingestOnce(...args);
    } finally {
      rounds++;
      isIdle = true;
    }
  };
  let error: unknown;
  try {
    await watchUploads(watching, ["docs"], { ccPairId: 2, ...options }, upload, openWatcher);
  } catch (thrown) {
    error = thrown;
  }
  return { error, stdout: context.stdoutText(), stderr: context.stderrText() };
}

/** The texts of the documents that the service has, by id. */
export async function openStored(folder: string): Promise<() => ReadonlyMap<string, string>> {
  const path = join(dirname(folder), "sandbox", "sandbox.sqlite");
  const database = await openDatabase(path);
  onTestFinished(() => database.close());
  const all = database.prepare("SELECT id, sections FROM documents");
  return () => {
    const documents = [...all.all()].map((row): [string, string] => {
      const sections = JSON.parse(String(row["sections"])) as { text?: string }[];
      const text = sections.map((each) => each.text ?? "").join("\n");
      return [decodeURIComponent(String(row["id"])), text];
    });
    return new Map(documents.filter(([id]) => id.startsWith("docs/")));
  };
}

/** The Markdown files below `docs`. */
export function folderPaths(folder: string): string[] {
  const docs = join(folder, "docs");
  if (!existsSync(docs)) return [];
  const names = readdirSync(docs, { recursive: true, encoding: "utf8" });
  return names.filter((name) => name.endsWith(".md")).map((name) => `docs/${name}`);
}

/** Their texts, by path. */
export function folderTexts(folder: string): Map<string, string> {
  return new Map(
    folderPaths(folder).map((path) => [path, readFileSync(join(folder, path), "utf8")]),
  );
}
