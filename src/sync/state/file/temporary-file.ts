import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CliError, codeOf, writeProblem } from "../../../errors.ts";
import type { State } from "../state.ts";

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
export async function openInTemporaryFile(open: (path: string) => Promise<State>): Promise<State> {
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
