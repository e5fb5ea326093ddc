import type { DocumentSettings } from "../../../documents/map/settings.ts";
import type { Config } from "../../../config/load.ts";
import { CliError } from "../../../errors.ts";
import type { Output } from "../../../output/terminal/output.ts";
import type { State } from "../../../sync/state/state.ts";
import {
  failureTargets,
  pairInKey,
  serviceTargets,
  targetFor,
  type Target,
  type Targets,
} from "../../../sync/state/target.ts";
import { placeText } from "./names.ts";
import type { ChosenPair } from "./target.ts";

/** Whether rules of the configuration name pairs: then no single pair is right for all documents. */
export function namesPairsByRule({ ingest }: Config): boolean {
  return ingest.rules?.some(({ ccPairId }) => ccPairId !== undefined) === true;
}

/** The error when several recorded targets are possible; `what` is the subject of the message. */
export function severalTargets(pairs: readonly number[], what: string): CliError {
  return new CliError("usage", `no target is given, and ${what} several targets`, {
    details: pairs.map((pair) => `pair ${pair}`),
    hints: [
      `name one, for example --cc-pair-id ${pairs[0]}`,
      "a project file keeps the target: `knowctl ingest --print-config` prints one",
    ],
  });
}

/** The pairs of this service with recorded documents or failures. */
export function recordedPairs({ database }: State, baseUrl: string): number[] {
  const keys = [...serviceTargets(database, baseUrl), ...failureTargets(database, baseUrl)];
  return [...new Set(keys.map(pairInKey))];
}

/** Whether neither a flag nor the configuration names the target. */
export function isTargetOpen({ ccPairId, connector }: ChosenPair, config: Config): boolean {
  return ccPairId === undefined && connector === undefined && !namesPairsByRule(config);
}

/**
 * Returns the only recorded target of this service, if neither flags nor configuration name
 * one, and prints a note about it. Undefined when none is recorded. Throws CliError `usage`
 * when several are recorded.
 */
export async function recordedPair(
  chosen: ChosenPair,
  from: { config: Config; state: State; baseUrl: string; output: Output },
): Promise<ChosenPair | undefined> {
  const { config, state, baseUrl, output } = from;
  if (!isTargetOpen(chosen, config) || baseUrl === "") return undefined;
  const pairs = recordedPairs(state, baseUrl);
  const [only] = pairs;
  if (only === undefined) return undefined;
  if (pairs.length > 1) throw severalTargets(pairs, "the state has");
  await output.note(
    `no target given: using pair ${only}${placeText(config, baseUrl)}, the only one recorded here`,
  );
  return { ccPairId: only, connector: undefined, fromFlag: false };
}

/**
 * Keys of the targets that the documents of a run were sent to: its own, and all of the service where
 * rules may have chosen the pair.
 */
export function sentTargets({ database }: State, targets: Targets, config: Config): string[] {
  const own = targetFor(targets, undefined);
  const isByRule = !targets.pair.fromFlag && namesPairsByRule(config);
  const all = isByRule || !own ? serviceTargets(database, targets.baseUrl) : [];
  return [...new Set([...all, ...(own ? [own.key] : [])])];
}

/** The recorded targets of pairs that only rules name. None with a pair from a flag: it overrides rules. */
export function ruleTargets(
  state: State,
  targets: Targets,
  { rules }: Pick<DocumentSettings, "rules">,
): Target[] {
  if (targets.pair.fromFlag) return [];
  const pairs = new Set(rules.map(({ settings }) => settings.ccPairId));
  pairs.delete(targets.pair.ccPairId);
  pairs.delete(undefined);
  return [...pairs].flatMap((pair) => {
    const target = targetFor(targets, pair);
    return target && state.knows(target.key) ? [target] : [];
  });
}

/** The target of a run, if it has one, and those that only rules name. */
export function ownTargets(
  state: State,
  targets: Targets,
  settings: Pick<DocumentSettings, "rules">,
): Target[] {
  const own = targetFor(targets, undefined);
  return [...(own ? [own] : []), ...ruleTargets(state, targets, settings)];
}
