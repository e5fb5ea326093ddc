import {
  accessSync,
  closeSync,
  constants,
  copyFileSync,
  lstatSync,
  openSync,
  readSync,
  mkdtempSync,
  rmSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { openDatabase, type Database } from "../../../database.ts";
import { CliError, writeReason, codeOf, writeProblem } from "../../../errors.ts";
import { stateFailure, writeDenialOf } from "../state-failure.ts";
import { createState, type State } from "../state.ts";
import { hasState, isCorrupt, newStateMark, openState, type OpenedState } from "./state-file.ts";
import type { StateRules } from "./state-folder.ts";
import { prepareTables } from "./state-schema.ts";
import { tmpdir } from "node:os";

function makeTemporaryFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), "knowctl-"));
  } catch (error) {
    throw new CliError("local", `cannot write to ${tmpdir()}: ${writeProblem(codeOf(error))}`, {
      hints: ["set TMPDIR to another folder for temporary files"],
      cause: error,
    });
  }
}

/**
 * Opens a state in a private temporary file, which is removed on close. `open` creates the file
 * and opens it. Throws CliError `local`.
 */
async function openInTemporaryFile(open: (path: string) => Promise<State>): Promise<State> {
  const folder = makeTemporaryFolder();
  const remove = (): void => {
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // Some systems cannot remove open files; close() calls this again.
    }
  };
  try {
    const state = await open(join(folder, "state.db"));
    // Remove the name at once, so that no file remains however the process ends.
    remove();
    return {
      ...state,
      close() {
        state.close();
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}

/**
 * SQLite writes to a database only while its journal has content. Without it, the file is
 * complete and no process is writing it.
 */
function refuseJournal(path: string): void {
  for (const name of [`${path}-wal`, `${path}-journal`]) {
    if ((lstatSync(name, { throwIfNoEntry: false })?.size ?? 0) === 0) continue;
    throw new CliError("local", `the read-only state ${path} is in use, or its run was killed`, {
      hints: [
        "wait until the run that writes it has ended",
        "after a killed run: run any command, such as `knowctl state list`, where the folder is writable",
      ],
    });
  }
}

const pieceBytes = 1024 * 1024;

/** Whether two files have the same bytes. */
function areEqual(left: string, right: string): boolean {
  const [leftPiece, rightPiece] = [Buffer.alloc(pieceBytes), Buffer.alloc(pieceBytes)];
  const leftFile = openSync(left, "r");
  try {
    const rightFile = openSync(right, "r");
    try {
      for (let position = 0; ; position += pieceBytes) {
        const leftCount = readSync(leftFile, leftPiece, 0, pieceBytes, position);
        const rightCount = readSync(rightFile, rightPiece, 0, pieceBytes, position);
        if (leftCount !== rightCount) return false;
        if (!leftPiece.subarray(0, leftCount).equals(rightPiece.subarray(0, leftCount)))
          return false;
        if (leftCount === 0) return true;
      }
    } finally {
      closeSync(rightFile);
    }
  } finally {
    closeSync(leftFile);
  }
}

/**
 * Copies a state that no process is writing. Equal bytes in two readings, with no journal between
 * them, prove that the copy is not a mixture of two versions.
 */
function copyAtRest(path: string, copy: string): void {
  try {
    accessSync(path, constants.R_OK);
  } catch (error) {
    throw stateFailure(path, error);
  }
  try {
    refuseJournal(path);
    copyFileSync(path, copy);
    refuseJournal(path);
    if (areEqual(path, copy)) return;
  } catch (error) {
    if (error instanceof CliError) throw error;
    const message = `cannot copy the read-only state ${path} to ${dirname(copy)}: ${writeReason(error)}`;
    throw new CliError("local", message, {
      hints: ["free space in the temporary folder, or set TMPDIR to another folder"],
      cause: error,
    });
  }
  throw new CliError("local", `another run has changed the state ${path} just now`, {
    hints: ["run again"],
  });
}

/**
 * Opens the state in `folder` for a command that needs no record of its own. If this user cannot
 * write there, opens a temporary copy: SQLite cannot read a database in WAL mode without
 * creating files beside it. Throws CliError `local`, also when another run is writing the state.
 */
export async function openStateForReading(
  folder: string,
  now: () => number,
  rules: StateRules,
): Promise<OpenedState> {
  const path = join(folder, "state.db");
  if (!hasState(folder, rules) || writeDenialOf(path) === undefined) {
    return await openState(folder, now, rules);
  }
  let wasEmptied = false;
  const state = await openInTemporaryFile(async (copy) => {
    copyAtRest(path, copy);
    let database: Database | undefined;
    try {
      database = await openDatabase(copy);
      const hadTables = prepareTables(database, path);
      const isNew = lstatSync(join(folder, newStateMark), { throwIfNoEntry: false }) !== undefined;
      wasEmptied = !hadTables && !isNew;
      return createState(database, copy);
    } catch (error) {
      database?.close();
      if (!isCorrupt(error)) throw stateFailure(copy, error);
      throw new CliError("local", `the state ${path} is damaged`, {
        hints: ["restore the state from a backup, or make its folder writable and upload again"],
        cause: error,
      });
    }
  });
  return { state: { ...state, isCopy: true }, wasEmptied };
}
