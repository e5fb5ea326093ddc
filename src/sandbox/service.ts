import { systemClock } from "./clock.ts";
import type { Framing } from "./chat/packets.ts";
import { createPlayer } from "./chat/play.ts";
import { createRuns } from "./chat/runs.ts";
import type { FaultSpec } from "./http/faults.ts";
import type { SandboxOptions } from "./options.ts";
import { type Caller, createAccess, createGroups } from "./store/access.ts";
import { createCommits, openSandboxDatabase } from "./store/database.ts";
import { createDocumentStore } from "./store/documents.ts";
import { createFiles } from "./store/files.ts";
import { createChunkStore, type View } from "./store/index/search.ts";
import { createIndexer } from "./store/index/indexer.ts";
import { createLedger } from "./store/ledger.ts";
import { defaultAttempts, noAttempts, defaultPairs } from "./store/seeds.ts";
import { createDocumentSets, createPairs } from "./store/pairs.ts";
import { createFeedback, createSessions } from "./store/sessions.ts";

/**
 * The state of the fake service and its settings. One record, because every group of endpoints
 * reads some of it; what is below the endpoints takes its parts.
 */
export type Service = Awaited<ReturnType<typeof openService>>;

/** The settings, with their defaults. */
function settingsOf(options: SandboxOptions) {
  const { dialect = "standard", clock = systemClock, model, tokenDelayMs = 0 } = options;
  const framing: Framing = options.framing ?? (dialect === "onyx" ? "ndjson" : "sse");
  // A copy: the page changes it while the sandbox runs.
  const faults: FaultSpec = { ...options.faults };
  return {
    dialect,
    clock,
    model,
    tokenDelayMs,
    framing,
    faults,
    key: options.key,
    anonymous: options.anonymous === true,
    /** Model names per provider; the first of each is its default. */
    models: options.models ?? (model ? { llm: [model.model] } : { sandbox: ["extractive"] }),
    /** Answers every question from recordings. Throws CliError `usage` for unplayable files. */
    play: options.play && createPlayer(options.play, framing, clock),
    log: (line: string) => options.onLog?.(line),
  };
}

/** Opens the database and creates all parts of the service. The caller closes it. */
export async function openService(options: SandboxOptions) {
  const settings = settingsOf(options);
  const { clock } = settings;
  const now = (): number => clock.now();
  const database = await openSandboxDatabase(options.dataFolder);
  const commits = createCommits(database);
  const indexer = createIndexer(database, settings.log);
  const runs = createRuns({ heartbeatMs: options.heartbeatMs });
  const pairs = createPairs(database, options.pairs ?? defaultPairs);
  const access = createAccess(pairs.records);
  const readers = (options.readers ?? []).map((reader) => reader.groups ?? []);
  // Index documents that an earlier run left in the queue.
  indexer.notify();
  return {
    ...settings,
    ledger: createLedger(options.ledger ?? "full", (each) => options.onDocument?.(each)),
    database,
    commits,
    indexer,
    runs,
    pairs,
    /** Statuses of pairs that a caller set; kept until the sandbox ends. */
    statuses: new Map<number, string>(),
    // The attempts are those of the seeded pairs.
    history: options.attempts ?? (options.pairs ? noAttempts : defaultAttempts(now())),
    groups: createGroups(pairs.records, readers),
    documentSets: createDocumentSets(database, options.documentSets ?? { Handbook: [2] }),
    documents: createDocumentStore(database),
    chunks: createChunkStore(database),
    files: createFiles(database, now, options.fileLooks),
    sessions: createSessions(database, now),
    feedback: createFeedback(database),
    /** What a caller can see. */
    viewOf: (caller: Caller): View => ({ pairs: access(caller), now: now() }),
    /** Resolves when every accepted document is indexed. */
    async idle() {
      commits.flush();
      await indexer.idle();
    },
    /** Stores the answers in progress, commits pending writes, closes the database. */
    async close() {
      await runs.close();
      commits.flush();
      indexer.stop();
      database.close();
    },
  };
}
