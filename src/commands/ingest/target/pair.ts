import type { Client } from "../../../api/client.ts";
import type { ConnectorStatus } from "../../../api/schemas.ts";
import type { Config } from "../../../config/load.ts";
import type { DocumentSettings } from "../../../documents/map/settings.ts";
import { ApiError, CliError } from "../../../errors.ts";
import { neutraliseLine } from "../../../output/terminal/neutralise.ts";
import type { Output } from "../../../output/terminal/output.ts";
import type { State } from "../../../sync/state/state.ts";
import {
  failureTargets,
  pairInKey,
  serviceInKey,
  serviceTargets,
  targetFor,
  type Target,
  type Targets,
} from "../../../sync/state/target.ts";
import { whileAsking, type Connected } from "../../connect.ts";
import { findConnector } from "../../connectors/find-connector.ts";

/** Host and base path of a service, without scheme: `assistant.example.com/kb`. */
export function hostOf(baseUrl: string): string {
  return baseUrl.replace(/^https?:\/\//, "");
}

/**
 * Where the documents of a run go: ` at assistant.example.com, profile writer`. A target is a pair
 * of one service: the same number elsewhere is another target.
 */
export function placeText({ profile }: Pick<Config, "profile">, baseUrl: string): string {
  const host = baseUrl === "" ? "" : ` at ${hostOf(baseUrl)}`;
  return `${host}, profile ${profile}`;
}

/** Names of pairs by id; undefined for a connector without a name. */
export type PairNames = Map<number, string | undefined>;

/** `Handbook uploads (pair 2)`; without a known name `pair 2`. */
export function pairText(ccPairId: number, name?: string): string {
  return name === undefined ? `pair ${ccPairId}` : `${neutraliseLine(name)} (pair ${ccPairId})`;
}

/** A target by its key, where no profile is known: `pair 2 at http://assistant.example.com`. */
export function targetText(key: string): string {
  return `${pairText(pairInKey(key))} at ${serviceInKey(key)}`;
}

const pairsNamed = 3;

/** The pairs of a run, for its summary. */
export function pairsText(names: PairNames): string {
  const shown = [...names].slice(0, pairsNamed).map(([id, name]) => pairText(id, name));
  const more = names.size - shown.length;
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].join(", ");
}

/** Lists the connectors. Imported on demand: a run without documents to send lists none. */
export async function listPairs(client: Client, policy?: "listOnce"): Promise<ConnectorStatus[]> {
  return await (await import("../../../api/connectors.ts")).listConnectors(client, policy);
}

/** A pair for a question: by its name, which is looked up once; by its id if that fails. */
export async function namedPair(
  client: Client,
  ccPairId: number,
  names: PairNames,
): Promise<string> {
  if (!names.has(ccPairId)) {
    try {
      const records = await listPairs(client, "listOnce");
      const name = records.find((each) => each.cc_pair_id === ccPairId)?.name;
      names.set(ccPairId, name ?? undefined);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }
  return pairText(ccPairId, names.get(ccPairId));
}

/** The pair of a connector name; adds the whole name to `names`. */
export async function pairByName(
  place: Pick<Connected, "client" | "connection" | "output">,
  name: string,
  names: PairNames,
): Promise<number> {
  const records = await whileAsking(place, () => listPairs(place.client));
  const record = findConnector(records, name);
  names.set(record.cc_pair_id, record.name ?? undefined);
  return record.cc_pair_id;
}

export interface ChosenPair {
  ccPairId: number | undefined;
  connector: string | undefined;
  /** A pair from a flag overrides rules; a configured pair does not. */
  fromFlag: boolean;
}

/** The pair from flags or configuration: a number, a name, or neither. */
export function chosenPair(
  { ccPairId, connector }: { ccPairId?: number; connector?: string },
  { ingest }: Config,
): ChosenPair {
  if (ccPairId !== undefined && connector !== undefined) {
    // Of two flags, the command line was refused before.
    throw new CliError("usage", "KNOWCTL_CC_PAIR_ID and KNOWCTL_CONNECTOR name the target twice", {
      hints: ["unset one of them, or use a flag, which wins over both"],
    });
  }
  // Either flag replaces both configuration keys.
  if (ccPairId !== undefined || connector !== undefined) {
    return { ccPairId, connector, fromFlag: true };
  }
  const name = ingest.ccPairId === undefined ? ingest.connector : undefined;
  return { ccPairId: ingest.ccPairId, connector: name, fromFlag: false };
}

/** The error of an upload, or of a removal, without a target. */
export function missingPair({ isUpload }: { isUpload: boolean }): CliError {
  const why = isUpload ? "where should the documents go?" : "where were the documents sent?";
  return new CliError("usage", `no cc_pair_id: ${why}`, {
    hints: [
      "list the pairs with `knowctl connectors list`",
      "then use --cc-pair-id N or --connector NAME, or set ingest.ccPairId in the configuration",
    ],
  });
}

/** Whether rules of the configuration name pairs: then no single pair is right for all documents. */
export function namesPairsByRule({ ingest }: Config): boolean {
  return ingest.rules?.some(({ ccPairId }) => ccPairId !== undefined) === true;
}

/** The error when several recorded targets are possible; `what` is the subject of the message. */
export function severalTargets(pairs: readonly number[], what: string): CliError {
  return new CliError("usage", `no target is given, and ${what} several targets`, {
    details: pairs.map((pair) => pairText(pair)),
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
 * The pair of a run: the chosen one, or, if neither flags nor configuration name one, the only
 * recorded pair of this service, with a note about it. Throws CliError `usage` when several are
 * recorded.
 */
export async function pairOrRecorded(
  chosen: ChosenPair,
  { state, baseUrl }: { state: State; baseUrl: string },
  config: Config,
  output: Output,
): Promise<ChosenPair> {
  if (!isTargetOpen(chosen, config) || baseUrl === "") return chosen;
  const pairs = recordedPairs(state, baseUrl);
  const [only] = pairs;
  if (only === undefined) return chosen;
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
  return [...pairs].flatMap((pair) => {
    const target = pair === undefined ? undefined : targetFor(targets, pair);
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
