import { accessSync, constants, existsSync, statfsSync } from "node:fs";
import { dirname, join } from "node:path";
import { stateFolder } from "../../../config/find/folders.ts";
import { ownerRules } from "../../../config/values/given.ts";
import { stateName } from "../../../config/find/project-mark.ts";
import { codeOf } from "../../../errors.ts";
import { countOf } from "../../../output/terminal/progress.ts";
import { countFailures, type FailureCount } from "../../../sync/state/failure-counts.ts";
import { hasState } from "../../../sync/state/state-file.ts";
import { machineOf } from "../../config/files.ts";
import { findProjectRoot } from "../../project-root.ts";
import type { Check } from "../check.ts";

/** Why a file could not be made in `folder`, or undefined. Its missing parents would be made. */
function whyNotWritable(folder: string): string | undefined {
  let at = folder;
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at);
  try {
    accessSync(at, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return `${at}: ${codeOf(error) ?? "unknown failure"}`;
  }
}

const leastFreeBytes = 64 * 1024 * 1024;

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
    const kind = httpStatus === null ? "without an answer of the service" : `with ${httpStatus}`;
    return `${countOf(count, "document")} failed ${kind} (${retryable ? "may succeed later" : "need mending"}), last ${last}`;
  });
}

/** Whether what was uploaded, trusted and asked can be recorded. */
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
        // Where nothing was ever uploaded from, nothing may be meant to be.
        status: existsSync(project) ? "failure" : "warning",
        exit: "local",
        message: `what was uploaded cannot be recorded in ${project} (${problem})`,
        fixes: ["make the folder writable, or name another: knowctl ingest --state DIR"],
      };
    }
    const ownProblem = whyNotWritable(own);
    if (ownProblem !== undefined) {
      return {
        status: "warning",
        message: `trust, sessions and history cannot be remembered in ${own} (${ownProblem})`,
        fixes: ["make the folder writable, or name another: XDG_STATE_HOME=DIR"],
      };
    }
    const free = freeBytes(root);
    if (free !== undefined && free < leastFreeBytes) {
      return {
        status: "warning",
        message: `only ${Math.floor(free / 2 ** 20)} MiB are free where uploads are recorded (${root})`,
        fixes: ["free some space: a full disk ends an upload"],
      };
    }
    facts.failures = hasState(project, ownerRules(context)) ? await countFailures(project) : [];
    return {
      status: "ok",
      message: `${project} and ${own} can be written`,
      details: describeFailures(facts.failures),
    };
  },
};
