import { isWithoutSqlite } from "../../../database.ts";
import type { State } from "../state.ts";
import { openTemporaryState } from "./state-file.ts";
import { noUploads } from "../uploads.ts";
import { noVerifiedStore } from "../verified.ts";

/** Creates a state without records. Any use of its database throws `missing`. */
function createRecordlessState(missing: unknown): State {
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
    uploads: noUploads,
    verified: noVerifiedStore,
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
 * Opens a state without records, for a command that only plans. It works without SQLite. Throws
 * CliError `local` for any other database error.
 */
export async function openPlanningState(): Promise<State> {
  try {
    return await openTemporaryState();
  } catch (error) {
    if (!isWithoutSqlite(error)) throw error;
    return createRecordlessState(error);
  }
}
