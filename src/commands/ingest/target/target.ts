import type { Client } from "../../../api/client.ts";
import type { ConnectorStatus } from "../../../api/schemas.ts";
import type { Config } from "../../../config/load.ts";
import { ApiError, CliError } from "../../../errors.ts";
import type { Output } from "../../../output/terminal/output.ts";
import { findConnector } from "../../connectors/find-connector.ts";
import {
  anyAccess,
  describeTarget,
  refuseAccess,
  unreadableAccess,
  type AccessRules,
} from "./access.ts";

export interface TargetFlags {
  ccPairId?: number;
  connector?: string;
}

export interface ChosenPair {
  ccPairId: number | undefined;
  connector: string | undefined;
  /** A flag wins over what a rule says; the configuration does not. */
  fromFlag: boolean;
}

/** What the user says about the pair: a number, a name, or nothing. */
export function chosenPair(flags: TargetFlags, config: Config): ChosenPair {
  if (flags.ccPairId !== undefined && flags.connector !== undefined) {
    throw new CliError("usage", "--cc-pair-id and --connector name the target twice", {
      hints: ["give one of them"],
    });
  }
  // A flag of either kind replaces both kinds of the configuration.
  if (flags.ccPairId !== undefined || flags.connector !== undefined) {
    return { ccPairId: flags.ccPairId, connector: flags.connector, fromFlag: true };
  }
  const { ccPairId, connector } = config.ingest;
  const name = ccPairId === undefined ? connector : undefined;
  return { ccPairId, connector: name, fromFlag: false };
}

/** The error of an upload without a target. */
export function missingPair(): CliError {
  return new CliError("usage", "no cc_pair_id: where should the documents go?", {
    hints: [
      "see which there are with `knowctl connectors list`",
      "then give --cc-pair-id N or --connector NAME, or set ingest.ccPairId in the configuration",
    ],
  });
}

type ListPolicy = "list" | "listOnce";

// Loaded when it is needed: a run without anything to send asks for no connectors.
async function listConnectors(client: Client, policy?: ListPolicy): Promise<ConnectorStatus[]> {
  return await (await import("../../../api/connectors.ts")).listConnectors(client, policy);
}

/** The pair that a connector name stands for. */
export async function pairByName(client: Client, name: string): Promise<number> {
  return findConnector(await listConnectors(client), name).cc_pair_id;
}

function pruneWarning(record: ConnectorStatus): string | undefined {
  const { source, prune_freq: pruneFrequency } = record.connector ?? {};
  if (!source || source === "ingestion_api" || !pruneFrequency) return undefined;
  return (
    `cc_pair_id ${record.cc_pair_id} (${record.name ?? "unnamed"}) belongs to a ${source} connector that prunes: ` +
    "documents uploaded here vanish when it runs; use a pair of source ingestion_api"
  );
}

type Tell = Pick<Output, "note" | "warn">;

/** Checks pairs; `consequence` ends the message about one that is refused. */
export interface PairCheck {
  (ccPairIds: readonly number[], tell: Tell, consequence: string): Promise<void>;
  /** Asks for the listing already; what goes wrong is reported by the check. */
  begin(): void;
}

/** Says that pairs are not checked; throws where they have to be, and what ends every request. */
async function tellUnchecked(
  error: unknown,
  ccPairIds: readonly number[],
  { tell, rules, consequence }: { tell: Tell; rules: AccessRules; consequence: string },
): Promise<void> {
  if (!(error instanceof ApiError) || error.exit === "unreachable") throw error;
  if (rules.required.length > 0) throw unreadableAccess(error, ccPairIds, consequence);
  const unknown = "cannot tell who can read the documents";
  if (error.exit === "auth" || error.exit === "not-found") {
    const why =
      error.exit === "auth" ? "the key may not list connectors" : "the service lists no connectors";
    return await tell.note(`${why}, so the cc_pair_id is not checked beforehand; ${unknown}`);
  }
  const pairs = ccPairIds.join(", ");
  await tell.warn(`cc_pair_id ${pairs} is not checked beforehand; ${unknown}: ${error.message}`);
}

const mostShown = 10;

async function tellTargets(records: readonly ConnectorStatus[], tell: Tell): Promise<void> {
  for (const record of records.slice(0, mostShown)) {
    await tell.note(`to ${describeTarget(record)}`);
  }
  const more = records.length - mostShown;
  if (more > 0) await tell.note(`to ${more} more pairs; \`knowctl connectors list\` shows them`);
  for (const record of records) {
    const text = pruneWarning(record);
    if (text !== undefined) await tell.warn(text);
  }
}

/** The record of a pair. Throws CliError `not-found` where the listing has none. */
function recordOf(
  records: readonly ConnectorStatus[],
  ccPairId: number,
  consequence: string,
): ConnectorStatus {
  const record = records.find((each) => each.cc_pair_id === ccPairId);
  if (record) return record;
  const known = records.map((each) => `${each.cc_pair_id ?? "—"}  ${each.name ?? "—"}`);
  throw new CliError(
    "not-found",
    `there is no connector with cc_pair_id ${ccPairId}; ${consequence}`,
    {
      details: known.slice(0, 10),
      hints: [
        "see all with `knowctl connectors list`",
        "if the pair was deleted, upload to another one: knowctl ingest PATH --cc-pair-id N",
        `and drop the records of the deleted one: knowctl state forget --all --cc-pair-id ${ccPairId}`,
      ],
    },
  );
}

/**
 * Checks pairs against the status listing before the first upload to each, and says
 * who can read them. A listing that cannot be had is no failure, unless the rules
 * require an access type: the service itself then has the last word. Throws CliError
 * `not-found` for a pair that is not listed, and as refuseAccess().
 */
export function createPairCheck(
  client: Client,
  rules: AccessRules = anyAccess,
  policy?: ListPolicy,
): PairCheck {
  let asked: Promise<ConnectorStatus[]> | undefined;
  const ask = (): Promise<ConnectorStatus[]> => (asked ??= listConnectors(client, policy));
  const checked = new Set<number>();
  let isUnchecked = false;
  const check: PairCheck = Object.assign(
    async (ccPairIds: readonly number[], tell: Tell, consequence: string): Promise<void> => {
      const fresh = ccPairIds.filter((each) => !checked.has(each));
      if (fresh.length === 0 || isUnchecked) return;
      for (const each of fresh) checked.add(each);
      let listing: ConnectorStatus[];
      try {
        listing = await ask();
      } catch (error) {
        await tellUnchecked(error, fresh, { tell, rules, consequence });
        isUnchecked = true;
        return;
      }
      const records = fresh.map((each) => recordOf(listing, each, consequence));
      for (const record of records) refuseAccess(record, rules, consequence);
      await tellTargets(records, tell);
    },
    {
      begin() {
        ask().catch(() => {});
      },
    },
  );
  return check;
}
