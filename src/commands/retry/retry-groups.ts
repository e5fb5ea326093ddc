import type { RunReport } from "../../output/report/stored/record.ts";
import { CliError } from "../../errors.ts";
import type { RecordedOptions } from "../../sync/state/options.ts";
import type { State } from "../../sync/state/state.ts";
import { foreignOptions } from "../ingest/options/foreign-options.ts";

/** Failed files with the same options. */
export interface RetryGroup {
  /** Undefined where they are not recorded: a report hides the secrets of its run. */
  options: RecordedOptions | undefined;
  /** Their pair; undefined for that of the command. */
  ccPairId?: number;
  /** Relative to the project root. */
  paths: string[];
}

/** Failed files by options, and failed documents from stdin. */
export interface Failed {
  groups: RetryGroup[];
  /** Number of failed documents from stdin, which have no file. */
  fromStdin: number;
}

interface Failure {
  path: string;
  /** Number of the options; undefined when they are not recorded. */
  options: number | undefined;
  failedAtMs: number;
}

function collect(
  failures: Iterable<Failure>,
  optionsOf: (number: number) => RecordedOptions | undefined,
): Failed {
  // A file that failed in several runs is sent with the options of the last run.
  const last = new Map<string, Failure>();
  let fromStdin = 0;
  for (const failure of failures) {
    const { path, failedAtMs } = failure;
    if (path === "" || path === "-") fromStdin++;
    else if (failedAtMs >= (last.get(path)?.failedAtMs ?? 0)) last.set(path, failure);
  }
  const paths = new Map<number | undefined, string[]>();
  for (const { path, options } of last.values()) {
    const group = paths.get(options);
    if (group) group.push(path);
    else paths.set(options, [path]);
  }
  const groups = [...paths].map(([options, group]) => ({
    options: options === undefined ? undefined : optionsOf(options),
    paths: group,
  }));
  return { groups, fromStdin };
}

function* failuresOf(state: State, target: string): Generator<Failure> {
  for (const { path, options, failedAtMs } of state.listFailures(target)) {
    yield { path, options, failedAtMs };
  }
}

/** The failures of a target in the state. */
export function failedInState(state: State, target: string): Failed {
  return collect(failuresOf(state, target), (number) => state.options.get(number));
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

/**
 * The failures in a report; documents from stdin get the path "", as in the state. Throws CliError
 * `usage` for options that no upload has.
 */
export function failedInReport({ failures, paths, options }: RunReport, name: string): Failed {
  const fromStdin = paths.includes("-");
  const all = failures.map(({ path, options: position = 0 }) => ({
    path: fromStdin && path === "stdin" ? "" : path,
    options: position,
    failedAtMs: 0,
  }));
  return collect(all, (position) => optionsInReport(options[position], name));
}
