import { CliError } from "../../errors.ts";
import type { State } from "../state/state.ts";
import type { SharedDatabase, SharedMachine } from "./address.ts";
import { bindState, countUnpushed } from "./bond.ts";
import { fetchRows } from "./fetch.ts";
import { createPusher } from "./push.ts";
import { documentKey } from "./rows.ts";
import { checkTables, findProject, type SharedProject } from "./tables.ts";

/** The shared record behind a local state, which is its copy. */
export interface SharedRecord {
  project: SharedProject;
  database: Pick<SharedDatabase, "query" | "transaction">;
  /** The local state; what it saves is pushed after each commit. */
  state: State;
  /** Rows that came from other machines at the start. */
  fetched: number;
  /** Pushes what is not pushed yet, also of earlier runs. Never throws: a failure is tried again later. */
  kick(): void;
  /** Pushes what is saved, and waits for it. Throws CliError where that cannot be done now. */
  flush(): Promise<void>;
  /** Fetches what other machines have pushed since the last fetch. Throws CliError. */
  fetch(): Promise<void>;
  /**
   * Pushes the rest, with some attempts. Returns the error of the end of a run that could not: how
   * many rows wait, and why.
   */
  finish(): Promise<CliError | undefined>;
  /** Whether the database has other projects. */
  hasOthers: boolean;
  /** The projects of the database that have documents of a service, by id; not this project. */
  othersWith(service: string, ids: readonly string[]): Promise<Map<string, string>>;
  /** Says that this run sends. Throws CliError `local` while another run removes. */
  lockToSend(): Promise<void>;
  /** Keeps other runs from sending until the end. Throws CliError `local` while one sends or removes. */
  lockToRemove(): Promise<void>;
  close(): Promise<void>;
}

const firstWaitMs = 250;
const longestWaitMs = 16_000;
const lastAttempts = 5;

/** The error of a run that ends with rows that are not pushed. */
function unpushedError(count: number, cause: unknown): CliError {
  const rows = count === 1 ? "1 row is" : `${count} rows are`;
  const why = cause instanceof Error ? `: ${cause.message}` : "";
  return new CliError("local", `${rows} not in the shared record yet${why}`, {
    hints: [
      "they are in the state of this machine: knowctl state push, or the next run, pushes them",
    ],
    cause,
  });
}

interface Pushing {
  kick(): void;
  flush(): Promise<void>;
  /** Waits until what is saved is pushed; not while pushes fail, so that an outage stops no run. */
  ensure(): Promise<void>;
  finish(): Promise<CliError | undefined>;
}

/** Pushes in the background, one batch after the other; after a failure it waits longer each time. */
function createPushing(
  push: () => Promise<boolean>,
  count: () => number,
  { sleep, signal }: SharedMachine,
): Pushing {
  let working: Promise<void> | undefined;
  let attempting: Promise<boolean> | undefined;
  let isAsked = false;
  let failures = 0;
  let last: unknown;
  // Ends the wait of a run that is over.
  const ending = new AbortController();
  const pushAll = async (): Promise<boolean> => {
    try {
      while (await push());
      failures = 0;
      return true;
    } catch (error) {
      failures++;
      last = error;
      return false;
    }
  };
  const attempt = (): Promise<boolean> =>
    (attempting ??= pushAll().finally(() => {
      attempting = undefined;
    }));
  const wait = async (stop: AbortSignal): Promise<void> => {
    await sleep(Math.min(firstWaitMs * 2 ** (failures - 1), longestWaitMs), stop).catch(() => {});
  };
  const work = async (): Promise<void> => {
    while (isAsked && !ending.signal.aborted) {
      isAsked = false;
      if (failures > 0) await wait(ending.signal);
      await attempt();
    }
  };
  const kick = (): void => {
    isAsked = true;
    working ??= work().finally(() => {
      working = undefined;
    });
  };
  const flush = async (): Promise<void> => {
    // One that has begun may lack what is saved since.
    await attempting;
    if (count() > 0 && !(await attempt())) throw last;
  };
  return {
    kick,
    flush,
    async ensure() {
      if (failures === 0) await flush().catch(() => {});
      // What could not be pushed is tried again.
      if (failures > 0) kick();
    },
    async finish() {
      ending.abort();
      await working;
      for (let left = lastAttempts; left > 0; left--) {
        if (count() === 0 || (await attempt())) return undefined;
        if (signal.aborted || left === 1) break;
        await wait(signal);
      }
      return unpushedError(count(), last);
    },
  };
}

/** The state with a push after each commit. */
function pushing(state: State, { kick, ensure }: Pushing): State {
  const { uploads } = state;
  const then =
    <Args extends unknown[]>(work: (...args: Args) => void) =>
    (...args: Args): void => {
      work(...args);
      kick();
    };
  return {
    ...state,
    save: then(state.save),
    // Else a machine that dies with its state leaves a record of a version that the service no longer
    // has, and a checkout with that version counts as sent.
    async doubt(documents) {
      await state.doubt(documents);
      if (documents.length > 0) await ensure();
    },
    dropAccepted: then(state.dropAccepted),
    uploads: { ...uploads, end: then(uploads.end) },
  };
}

const lockName = "hashtextextended('knowctl ' || $1, 0)";

async function takeLock(
  shared: SharedDatabase,
  project: SharedProject,
  mode: "" | "_shared",
): Promise<void> {
  const sql = `SELECT pg_try_advisory_lock${mode}(${lockName}) AS yes`;
  const [row] = await shared.hold(sql, [project.id]);
  if (row?.["yes"] === true) return;
  const other = mode === "" ? "sends or removes" : "removes";
  throw new CliError("local", `another run of project ${project.name} ${other} documents now`, {
    hints: ["wait until it has ended, then run this command again"],
  });
}

/** How far the clock of this machine is ahead of that of the database, in milliseconds. */
async function measureAhead({ query }: SharedDatabase, now: () => number): Promise<number> {
  const before = now();
  const [row] = await query("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS at");
  return Math.round((before + now()) / 2 - Number(row?.["at"]));
}

/**
 * Opens the record of a project for a local state: checks tables and project, makes the state a copy
 * of it, and fetches what is new there. `isWhole`: push everything again. The caller closes it, and
 * the database with it. Throws CliError: `not-configured` for tables or a project that are not there,
 * `usage` for another project, `local`.
 */
export async function openRecord(
  shared: SharedDatabase,
  state: State,
  name: string,
  machine: SharedMachine & { now: () => number },
  isWhole = false,
): Promise<SharedRecord> {
  const { now } = machine;
  await checkTables(shared);
  const project = await findProject(shared, name);
  if (!project) {
    throw new CliError("not-configured", `the shared record has no project ${name}`, {
      hints: [`check --state-project, or create it: knowctl state share --state-project ${name}`],
    });
  }
  bindState(state.database, project, isWhole);
  const [others] = await shared.query("SELECT 1 FROM knowctl_projects WHERE id <> $1 LIMIT 1", [
    project.id,
  ]);
  const aheadMs = await measureAhead(shared, now);
  const fetched = await fetchRows(shared, state, project.revision, aheadMs);
  const { push } = createPusher(shared, state, project.id, now);
  const background = createPushing(push, () => countUnpushed(state.database), machine);
  return {
    project,
    database: shared,
    fetched,
    ...background,
    async fetch() {
      const current = await findProject(shared, name);
      if (current) await fetchRows(shared, state, current.revision, aheadMs);
    },
    state: pushing(state, background),
    hasOthers: others !== undefined,
    async othersWith(service, ids) {
      if (ids.length === 0) return new Map();
      const byKey = new Map(ids.map((id) => [documentKey(service, id).toString("hex"), id]));
      const rows = await shared.query(
        `SELECT encode(r.document, 'hex') AS key, p.name AS name FROM knowctl_rows r
          JOIN knowctl_projects p ON p.id = r.project
          WHERE r.document = ANY ($1::bytea[]) AND r.project <> $2`,
        [ids.map((id) => documentKey(service, id)), project.id],
      );
      return new Map(rows.map((row) => [byKey.get(String(row["key"])) ?? "", String(row["name"])]));
    },
    lockToSend: () => takeLock(shared, project, "_shared"),
    lockToRemove: () => takeLock(shared, project, ""),
    close: () => shared.close(),
  };
}
