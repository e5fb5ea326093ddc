import { isWithoutSqlite } from "../../database.ts";
import type { State } from "./state.ts";
import { openTemporaryState } from "./state-file.ts";
import { noUnfinishedRuns } from "./unfinished.ts";

/** A state that knows nothing and keeps nothing; whatever needs its database throws `missing`. */
function recordlessState(missing: unknown): State {
  const nothing = (): void => {};
  const fail = (): never => {
    throw missing;
  };
  return {
    isRecordless: true,
    database: { exec: fail, prepare: fail, transaction: fail, close: nothing },
    file: () => undefined,
    filesOf: () => [],
    openParts: nothing,
    dropPartsBeyond: nothing,
    accepted: () => undefined,
    acceptedOf: () => new Map(),
    unfinished: noUnfinishedRuns,
    options: { store: () => 0, find: () => undefined, get: () => undefined },
    countFiles: () => 0,
    knows: () => false,
    listAccepted: () => [].values(),
    listFailures: () => [].values(),
    dropAccepted: nothing,
    targetsOf: () => [],
    save: nothing,
    doubt: nothing,
    markRoot: nothing,
    sync: nothing,
    clearFailures: nothing,
    close: nothing,
  };
}

/**
 * A state for a command that only plans, without any records: it does not need SQLite. Throws
 * CliError `local` for any other fault of the database.
 */
export async function openPlanningState(): Promise<State> {
  try {
    return await openTemporaryState();
  } catch (error) {
    if (!isWithoutSqlite(error)) throw error;
    return recordlessState(error);
  }
}
