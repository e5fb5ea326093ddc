import { accessSync, constants, existsSync, statfsSync } from "node:fs";
import { dirname, join } from "node:path";
import { stateFolder } from "../../../config/find/folders.ts";
import { stateRules } from "../../state-rules.ts";
import { stateName } from "../../../config/find/project-mark.ts";
import { codeOf, writeProblem } from "../../../errors.ts";
import { countOf } from "../../../output/terminal/progress.ts";
import { countFailures, type FailureCount } from "../../../sync/state/failure-counts.ts";
import { hasState } from "../../../sync/state/file/state-file.ts";
import { machineOf } from "../../config/files.ts";
import { findProjectRoot } from "../../project-root.ts";
import type { Check } from "../check.ts";

/** Why no file can be created in `folder`, or undefined. Missing parents would be created. */
function whyNotWritable(folder: string): string | undefined {
  let at = folder;
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at);
  try {
    accessSync(at, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return `${at}: ${writeProblem(codeOf(error))}`;
  }
}

const minFreeBytes = 64 * 1024 * 1024;

function freeBytes(folder: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}

function describeFailures(failures: readonly FailureCount[]): string[] {
  return failures.map(({ httpStatus, count, last, retryable }) => {
    const kind = httpStatus === null ? "without a response of the service" : `with ${httpStatus}`;
    return `${countOf(count, "document")} failed ${kind} (${retryable ? "may succeed later" : "need a fix"}), last ${last}`;
  });
}

/** Checks that uploads, trust and sessions can be recorded. */
export const checkState: Check = {
  name: "state",
  needs: [],
  async run({ context, options, facts }) {
    const own = stateFolder(machineOf(context));
    const { folder: root } = findProjectRoot(context, [], options);
    const project = join(root, stateName);
    const problem = whyNotWritable(existsSync(project) ? project : root);
    if (problem !== undefined) {
      return {
        // Without a state there were no uploads yet, and perhaps none are planned.
        status: existsSync(project) ? "failure" : "warning",
        exit: "local",
        message: `uploads cannot be recorded in ${project} (${problem})`,
        fixes: ["make the folder writable, or use another: knowctl ingest --state DIR"],
      };
    }
    const ownProblem = whyNotWritable(own);
    if (ownProblem !== undefined) {
      return {
        status: "warning",
        message: `trust, sessions and history cannot be remembered in ${own} (${ownProblem})`,
        fixes: ["make the folder writable, or use another: XDG_STATE_HOME=DIR"],
      };
    }
    const free = freeBytes(root);
    if (free !== undefined && free < minFreeBytes) {
      return {
        status: "warning",
        message: `only ${Math.floor(free / 2 ** 20)} MiB are free in ${root}, where uploads are recorded`,
        fixes: ["free some space: an upload fails on a full disk"],
      };
    }
    facts.failures = hasState(project, stateRules(context)) ? await countFailures(project) : [];
    return {
      status: "ok",
      message: `${project} and ${own} are writable`,
      details: describeFailures(facts.failures),
    };
  },
};
