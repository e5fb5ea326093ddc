import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "../../src/database.ts";
import * as stateFile from "../../src/sync/state/file/state-file.ts";
import type { StateRules } from "../../src/sync/state/file/state-folder.ts";
import type { State } from "../../src/sync/state/state.ts";
import { temporaryFolder } from "../support.ts";

/** Rules under which no owner is asked for. */
export const anyOwner: StateRules = { uid: -1, trustAll: false, findTracked: () => undefined };

/** openState() of a folder whose owner does not matter. */
export async function openState(folder: string, now: () => number): Promise<stateFile.OpenedState> {
  return await stateFile.openState(folder, now, anyOwner);
}

/** hasState() of a folder whose owner does not matter. */
export function hasState(folder: string): boolean {
  return stateFile.hasState(folder, anyOwner);
}

/** A fresh state in a folder of its own, removed after the test. */
export async function openTestState(): Promise<State> {
  return (await openState(join(temporaryFolder(), "state"), Date.now)).state;
}

/**
 * Makes a state as a process leaves it that has ended: without a journal. In a process that goes
 * on, libsql closes a database only when its statements are collected.
 */
export async function endUse(folder: string): Promise<void> {
  const path = join(folder, "state.db");
  const database = await openDatabase(path);
  database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").all();
  database.close();
  const bytes = readFileSync(path);
  for (const name of [path, `${path}-wal`, `${path}-shm`]) rmSync(name, { force: true });
  writeFileSync(path, bytes, { mode: 0o600 });
}
