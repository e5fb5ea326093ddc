import type { Client } from "../../api/client.ts";
import type { ConnectorStatus } from "../../api/schemas.ts";
import type { Config } from "../../config/load.ts";
import { ApiError, CliError } from "../../errors.ts";
import type { Output } from "../../output/output.ts";
import { findConnector } from "../find-connector.ts";

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

// Loaded when it is needed: a run without anything to send asks for no connectors.
async function listConnectors(client: Client): Promise<ConnectorStatus[]> {
  return await (await import("../../api/connectors.ts")).listConnectors(client);
}

/** The pair that a connector name stands for. */
export async function pairByName(client: Client, name: string): Promise<number> {
  return findConnector(await listConnectors(client), name).cc_pair_id;
}

function warning(record: ConnectorStatus): string | undefined {
  const { source, prune_freq: pruneFrequency } = record.connector;
  if (source === "ingestion_api" || !pruneFrequency) return undefined;
  return (
    `cc_pair_id ${record.cc_pair_id} (${record.name ?? "unnamed"}) belongs to a ${source} connector that prunes: ` +
    "documents uploaded here vanish when it runs; use a pair of source ingestion_api"
  );
}

/** Checks pairs; `consequence` ends the message about one that is not there. */
export interface PairCheck {
  (
    ccPairIds: readonly number[],
    tell: Pick<Output, "note" | "warn">,
    consequence: string,
  ): Promise<void>;
  /** Asks for the listing already; what goes wrong is told by the check. */
  begin(): void;
}

function cannotList(error: unknown): boolean {
  return error instanceof ApiError && ["auth", "not-found"].includes(error.exit);
}

/**
 * Checks pairs against the status listing before the first upload to each. A
 * token that may not list is no failure: the service itself then has the last
 * word. Throws CliError `not-found` for a pair that is not listed.
 */
export function createPairCheck(client: Client): PairCheck {
  let asked: Promise<ConnectorStatus[]> | undefined;
  let listing: Promise<ConnectorStatus[] | undefined> | undefined;
  const ask = (): Promise<ConnectorStatus[]> => (asked ??= listConnectors(client));
  /** Pairs of the listing, which is asked for once; undefined when the token may not list. */
  const listPairs = async (tell: Pick<Output, "note">): Promise<ConnectorStatus[] | undefined> => {
    try {
      return await ask();
    } catch (error) {
      if (!cannotList(error)) throw error;
      await tell.note(
        "the key may not list connectors, so the cc_pair_id is not checked beforehand",
      );
      return undefined;
    }
  };
  const checked = new Set<number>();
  const check = async (
    ccPairIds: readonly number[],
    tell: Pick<Output, "note" | "warn">,
    consequence: string,
  ): Promise<void> => {
    for (const ccPairId of ccPairIds) {
      if (checked.has(ccPairId)) continue;
      checked.add(ccPairId);
      const records = await (listing ??= listPairs(tell));
      if (!records) return;
      const record = records.find((each) => each.cc_pair_id === ccPairId);
      if (!record) {
        const known = records.map((each) => `${each.cc_pair_id}  ${each.name ?? "—"}`);
        throw new CliError(
          "not-found",
          `there is no connector with cc_pair_id ${ccPairId}; ${consequence}`,
          { details: known.slice(0, 10), hints: ["see all with `knowctl connectors list`"] },
        );
      }
      const text = warning(record);
      if (text !== undefined) await tell.warn(text);
    }
  };
  return Object.assign(check, {
    begin() {
      ask().catch(() => {});
    },
  });
}
