import type { RunOptions } from "../../../sync/plan/plan-request.ts";
import { differenceOf } from "../../../sync/state/option-difference.ts";
import { optionsJson, type RecordedOptions } from "../../../sync/state/options.ts";
import type { State } from "../../../sync/state/state.ts";
import type { DocumentSource } from "./settings.ts";

/** The options of a session, and their relation to recorded options. */
export interface Shaping extends RunOptions {
  recorded: RecordedOptions;
}

/** Opens the options of a session. The first access to `number` stores them, except in a dry run. */
export function openShaping(
  { options }: DocumentSource,
  pairFromFlag: boolean,
  state: State,
  dryRun: boolean,
): Shaping {
  const recorded = { ...options, pairFromFlag };
  const json = optionsJson(recorded);
  let number: number | undefined;
  const differences = new Map<number, string>();
  return {
    recorded,
    get number() {
      number ??= dryRun ? state.options.find(json) : state.options.store(json);
      return number;
    },
    differenceFrom(earlier) {
      let difference = differences.get(earlier);
      if (difference === undefined) {
        const before = state.options.get(earlier);
        difference = before ? differenceOf(before, recorded) : "";
        differences.set(earlier, difference);
      }
      return difference;
    },
  };
}
