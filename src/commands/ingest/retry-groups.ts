import type { RunReport } from "../../output/report/record.ts";
import { parseOptions, type RecordedOptions } from "../../sync/options.ts";
import type { State } from "../../sync/state.ts";

/** Failed files whose documents are shaped by the same options. */
export interface RetryGroup {
  /** Undefined where an earlier knowctl recorded the failures. */
  options: RecordedOptions | undefined;
  /** Relative to the project root. */
  paths: string[];
}

/** What failed: the files by their options, and documents that have no file. */
export interface Failed {
  groups: RetryGroup[];
  fromStdin: number;
}

interface Failure {
  path: string;
  /** Tells options apart; undefined where they are not recorded. */
  options: number | undefined;
}

function collect(
  failures: Iterable<Failure>,
  optionsOf: (number: number) => RecordedOptions | undefined,
): Failed {
  const paths = new Map<number | undefined, Set<string>>();
  let fromStdin = 0;
  for (const { path, options } of failures) {
    if (path === "" || path === "-") fromStdin++;
    else {
      const group = paths.get(options);
      if (group) group.add(path);
      else paths.set(options, new Set([path]));
    }
  }
  const groups = [...paths].map(([options, group]) => ({
    options: options === undefined ? undefined : optionsOf(options),
    paths: [...group],
  }));
  return { groups, fromStdin };
}

function* failuresOf(state: State, target: string): Generator<Failure> {
  for (const { path, options } of state.listFailures(target)) yield { path, options };
}

/** What the state has as failed for a target. */
export function failedInState(state: State, target: string): Failed {
  return collect(failuresOf(state, target), (number) => state.options.get(number));
}

/** What a report has as failed; what came from stdin has no path here, as in the state. */
export function failedInReport({ failures, paths, options = [] }: RunReport): Failed {
  const fromStdin = paths.includes("-");
  const all = failures.map(({ path, options: position = 0 }) => ({
    path: fromStdin && path === "stdin" ? "" : path,
    options: position,
  }));
  return collect(all, (position) => parseOptions(options[position]));
}
