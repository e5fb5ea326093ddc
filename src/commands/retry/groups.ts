import type { RunReport } from "../../output/report/stored/record.ts";
import { CliError } from "../../errors.ts";
import type { RecordedOptions } from "../../sync/state/options.ts";
import type { State } from "../../sync/state/state.ts";
import { pairInKey } from "../../sync/state/target.ts";
import { isMissing, type VerifiableRecord } from "../../sync/state/verified.ts";
import { foreignOptions } from "../ingest/options/foreign-options.ts";
import type { Session } from "../ingest/session.ts";
import { sentTargets } from "../ingest/target/pair.ts";

/** Files to send again with the same options. */
export interface RetryGroup {
  /** Undefined where they are not recorded: a report hides the secrets of its run. */
  options: RecordedOptions | undefined;
  /** Their pair; undefined for that of the command. */
  ccPairId: number | undefined;
  /** Relative to the project root. */
  paths: string[];
}

/** Files by options and pair, and documents from stdin. */
export interface Failed {
  groups: RetryGroup[];
  /** Number of documents from stdin, which have no file. */
  fromStdin: number;
}

/** The number of different files: one may be missing in several pairs. */
export function countFiles({ groups }: Failed): number {
  return new Set(groups.flatMap(({ paths }) => paths)).size;
}

interface Failure {
  /** "" from stdin. */
  path: string;
  /** Number of the options; undefined when they are not recorded. */
  options?: number | undefined;
  ccPairId?: number;
  failedAtMs: number;
}

function group(
  failures: Iterable<Failure>,
  optionsOf: (number: number) => RecordedOptions | undefined,
): Failed {
  const groups = new Map<string, { first: Failure; paths: Set<string> }>();
  let fromStdin = 0;
  for (const first of failures) {
    const { path, options, ccPairId } = first;
    if (path === "" || path === "-") {
      fromStdin++;
      continue;
    }
    const key = `${options} ${ccPairId}`;
    const found = groups.get(key);
    if (found) found.paths.add(path);
    else groups.set(key, { first, paths: new Set([path]) });
  }
  const all = [...groups.values()].map(({ first: { options: number, ccPairId }, paths }) => ({
    options: number === undefined ? undefined : optionsOf(number),
    ccPairId,
    paths: [...paths],
  }));
  return { groups: all, fromStdin };
}

/** Of a file that failed in several runs the failures of the last one: its options count. */
function lastOfEach(failures: readonly Failure[]): Failure[] {
  const last = new Map<string, number>();
  for (const { path, failedAtMs } of failures) {
    last.set(path, Math.max(failedAtMs, last.get(path) ?? 0));
  }
  return failures.filter(({ path, failedAtMs }) => path === "" || failedAtMs === last.get(path));
}

/** The failures of a target in the state. */
export function failedInState(state: State, target: string): Failed {
  return group(lastOfEach([...state.listFailures(target)]), (number) => state.options.get(number));
}

function optionsInReport(value: unknown, name: string): RecordedOptions | undefined {
  // A report hides the secrets of its run: options without them would make other documents.
  if (value === undefined || JSON.stringify(value).includes("***")) return undefined;
  try {
    return foreignOptions(value);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    throw new CliError("usage", `${name}: not a valid report: ${error.message}`, error);
  }
}

/** The failures in a report. Throws CliError `usage` for options that no upload has. */
export function failedInReport({ failures, paths, options }: RunReport, name: string): Failed {
  const fromStdin = paths.includes("-");
  const all = failures.map(({ path, options: position = 0 }) => ({
    path: fromStdin && path === "stdin" ? "" : path,
    options: position,
    failedAtMs: 0,
  }));
  return group(all, (position) => optionsInReport(options[position], name));
}

/**
 * The documents that verify did not find since their upload, and their files by options and pair.
 * Throws CliError `usage` when no document was verified.
 */
export function missingInState({ state, targets, source }: Session): {
  failed: Failed;
  documents: readonly VerifiableRecord[];
} {
  const keys = sentTargets(state, targets, source.config);
  const records = keys.flatMap((key) => [...state.verified.list(key)]);
  if (records.every(({ verified }) => verified === undefined)) {
    throw new CliError("usage", "--missing: no uploaded document was verified", {
      hints: ["run `knowctl verify` first: it records what it finds"],
    });
  }
  const documents = records.filter(({ verified }) => isMissing(verified?.result ?? ""));
  const all = documents.map(({ path = "", options, target }) => ({
    path,
    options,
    ccPairId: pairInKey(target),
    failedAtMs: 0,
  }));
  return { failed: group(all, (number) => state.options.get(number)), documents };
}
