import { join } from "node:path";
import { openState } from "../../src/sync/state-file.ts";
import type { State } from "../../src/sync/state.ts";
import { temporaryFolder } from "../support.ts";

/** A fresh state in a folder of its own, removed after the test. */
export async function openTestState(): Promise<State> {
  return (await openState(join(temporaryFolder(), "state"), Date.now)).state;
}
