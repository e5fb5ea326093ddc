import type { Config } from "../../../config/load.ts";
import { CliError } from "../../../errors.ts";
import type { Output } from "../../../output/terminal/output.ts";
import type { State } from "../../../sync/state/state.ts";
import { failureTargets, serviceTargets } from "../../../sync/state/target.ts";
import type { ChosenPair } from "./target.ts";

/** The pair that the key of a target ends with, see Target. */
export function pairInKey(key: string): number {
  return Number(key.slice(key.lastIndexOf("#") + 1));
}

/** Whether rules of the configuration name pairs: then no pair stands for all documents. */
export function namesPairsByRule({ ingest }: Config): boolean {
  return ingest.rules?.some(({ ccPairId }) => ccPairId !== undefined) === true;
}

/** The error of a command that several recorded targets could be meant by. */
export function severalTargets(pairs: readonly number[], what: string): CliError {
  return new CliError("usage", `no target is given, and ${what} several`, {
    details: pairs.map((pair) => `cc_pair_id ${pair}`),
    hints: [`name one, for example --cc-pair-id ${pairs[0]}`],
  });
}

/** The pairs of this service under which documents or failures are recorded. */
export function recordedPairs({ database }: State, baseUrl: string): number[] {
  const keys = [...serviceTargets(database, baseUrl), ...failureTargets(database, baseUrl)];
  return [...new Set(keys.map(pairInKey))];
}

/** Whether the record may name the target: neither a flag nor the configuration does. */
export function isTargetOpen({ ccPairId, connector }: ChosenPair, config: Config): boolean {
  return ccPairId === undefined && connector === undefined && !namesPairsByRule(config);
}

/**
 * The only target that is recorded for this service, where neither flags nor
 * configuration name one; undefined where none is recorded. Says which it is.
 * Throws CliError `usage` where several are.
 */
export async function recordedPair(
  chosen: ChosenPair,
  from: { config: Config; state: State; baseUrl: string; output: Output },
): Promise<ChosenPair | undefined> {
  const { config, state, baseUrl, output } = from;
  if (!isTargetOpen(chosen, config) || baseUrl === "" || state.isRecordless) return undefined;
  const pairs = recordedPairs(state, baseUrl);
  const [only] = pairs;
  if (only === undefined) return undefined;
  if (pairs.length > 1) throw severalTargets(pairs, "the record here has");
  await output.note(`no target given: taking cc_pair_id ${only}, the only one recorded here`);
  return { ccPairId: only, connector: undefined, fromFlag: false };
}
