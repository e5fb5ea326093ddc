import type { SandboxOptions } from "../options.ts";
import type { Database } from "../../database.ts";
import { catalogRoutes } from "../routes/catalog.ts";
import { chatRoutes } from "../routes/chat.ts";
import type { Clock } from "../clock.ts";
import { controlRoutes } from "../routes/control.ts";
import { defaultAttempts, noAttempts } from "./pairs/attempts.ts";
import { createCommits } from "./index/commits.ts";
import { connectorRoutes } from "../routes/pairs/connector-routes.ts";
import { defaultPairs } from "./pairs/connectors.ts";
import { openSandboxDatabase } from "./database.ts";
import { createDocumentStore } from "./documents.ts";
import { createFeedback } from "./feedback.ts";
import { feedbackRoutes } from "../routes/feedback-routes.ts";
import { createDocumentSets } from "./pairs/document-sets.ts";
import { documentSetRoutes } from "../routes/pairs/document-set-routes.ts";
import { fileRoutes } from "../routes/file-routes.ts";
import { createFiles } from "./files.ts";
import { createGroups } from "./groups.ts";
import { historyRoutes } from "../routes/history-routes.ts";
import { createIndexer } from "./index/indexer.ts";
import { ingestionRoutes } from "../routes/ingestion-routes.ts";
import type { LedgerWriter } from "./ledger.ts";
import { pageRoutes } from "../routes/page.ts";
import { createPairs } from "./pairs/pairs.ts";
import type { FaultSpec } from "../http/faults.ts";
import type { Framing } from "../chat/packets.ts";
import { createPlayer, type Player } from "../chat/play.ts";
import type { Route } from "../http/routes.ts";
import { createRuns, type Runs } from "../chat/runs.ts";
import type { Call } from "../http/call.ts";
import { documentRoutes } from "../routes/document-routes.ts";
import { createAccess, foreignPrivatePair } from "./access.ts";
import { createChunkStore } from "./index/chunks.ts";
import { questionTerms, searchPassages, type View } from "./index/search.ts";
import { searchRoutes } from "../routes/search/search-routes.ts";
import { sessionRoutes } from "../routes/session-routes.ts";
import { createSessions } from "./sessions.ts";
import { pairRoutes } from "../routes/pairs/pair-routes.ts";
import { statusRoutes } from "../routes/pairs/status-routes.ts";

export interface Service {
  routes: Route[];
  /** Resolves when every accepted document is indexed. */
  idle: () => Promise<void>;
  /** Stores the answers in progress, commits pending writes, closes the database. */
  close(): Promise<void>;
}

export type ServiceOptions = SandboxOptions & { clock: Clock; faults: FaultSpec };

const defaultModels = { sandbox: ["extractive"] };
const defaultSets = { Handbook: [2] };

function framingOf({ framing, dialect }: ServiceOptions): Framing {
  return framing ?? (dialect === "onyx" ? "ndjson" : "sse");
}

/** The source of answers in a few words, for the page. */
function describeAnswers({ play, model }: ServiceOptions): string {
  if (play) return "answers are recordings";
  return model ? `answers by ${model.model}` : "answers quote the documents";
}

function routesOf(
  database: Database,
  options: ServiceOptions,
  parts: {
    commits: ReturnType<typeof createCommits>;
    indexer: ReturnType<typeof createIndexer>;
    ledger: LedgerWriter;
    runs: Runs;
    play: Player | undefined;
  },
): Route[] {
  const { clock, faults, key, dialect = "standard" } = options;
  const { model, tokenDelayMs = 0 } = options;
  const models = options.models ?? (model ? { llm: [model.model] } : defaultModels);
  const now = (): number => clock.now();
  const documents = createDocumentStore(database);
  const files = createFiles(database, now, options.fileLooks);
  const sessions = createSessions(database, now);
  const feedback = createFeedback(database);
  const framing = framingOf(options);
  const pairs = createPairs(database, options.pairs ?? defaultPairs);
  const access = createAccess(pairs.records);
  const readers = (options.readers ?? []).map((reader) => reader.groups ?? []);
  const statuses = new Map<number, string>();
  const groups = createGroups(pairs.records, readers);
  const documentSets = createDocumentSets(database, options.documentSets ?? defaultSets);
  const chunks = createChunkStore(database);
  const viewOf = ({ caller }: Call): View => ({ pairs: access(caller), now: now() });
  const countSources = (): number =>
    new Set(pairs.records.map(({ connector }) => connector.source)).size;
  const privatePair = foreignPrivatePair(pairs.records);
  const shared = { dialect, documents, files, clock, ...parts };
  // The attempts are those of the seeded pairs.
  const history = options.attempts ?? (options.pairs ? noAttempts : defaultAttempts(clock.now()));
  return [
    ...ingestionRoutes({ ...shared, pairs: pairs.ids, privatePair }),
    ...documentRoutes({ database, chunks, viewOf }),
    ...chatRoutes({
      ...shared,
      database,
      framing,
      sessions,
      tokenDelayMs,
      models,
      model,
      documentSets,
      access,
    }),
    ...sessionRoutes({ sessions, feedback, runs: parts.runs, framing }),
    ...feedbackRoutes(sessions, feedback),
    ...historyRoutes(sessions, feedback),
    ...fileRoutes(files, dialect),
    ...searchRoutes({
      database,
      chunks,
      ledger: parts.ledger,
      documentSets,
      countSources,
      viewOf,
      providers: Object.keys(models),
    }),
    ...connectorRoutes({ pairs, groups, clock }),
    ...statusRoutes({ pairs: pairs.records, documents, history, statuses, clock }),
    ...pairRoutes({ ...shared, pairs, groups, statuses }),
    ...catalogRoutes({ pairs: pairs.records, groups, models, hasModel: model !== undefined }),
    ...documentSetRoutes(documentSets, pairs.records),
    ...pageRoutes(key),
    ...controlRoutes({
      dialect,
      answers: describeAnswers(options),
      pairs: pairs.records,
      documents,
      search: (words, filters) => searchPassages(database, questionTerms(words), filters, 200),
      faults,
    }),
  ];
}

/** Opens the database and creates all parts of the service. The caller closes it. */
export async function openService(options: ServiceOptions, ledger: LedgerWriter): Promise<Service> {
  // Create the player first: it refuses unplayable files before anything is open.
  const play = options.play && createPlayer(options.play, framingOf(options), options.clock);
  const database = await openSandboxDatabase(options.dataFolder);
  const commits = createCommits(database);
  const indexer = createIndexer(database, (text) => options.onLog?.(text));
  const runs = createRuns({ heartbeatMs: options.heartbeatMs });
  const routes = routesOf(database, options, { commits, indexer, ledger, runs, play });
  // Index documents that an earlier run left in the queue.
  indexer.notify();
  return {
    routes,
    async idle() {
      commits.flush();
      await indexer.idle();
    },
    async close() {
      await runs.close();
      commits.flush();
      indexer.stop();
      database.close();
    },
  };
}
