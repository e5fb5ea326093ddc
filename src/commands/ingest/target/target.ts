import type { Client } from "../../../api/client.ts";
import type { ConnectorStatus } from "../../../api/schemas.ts";
import type { Config } from "../../../config/load.ts";
import { ApiError, CliError } from "../../../errors.ts";
import type { Output } from "../../../output/terminal/output.ts";
import { findConnector } from "../../connectors/find-connector.ts";
import {
  describeTarget,
  refuseAccess,
  refusePruned,
  unreadableAccess,
  type AccessRules,
} from "./access.ts";
import type { PairNames } from "./names.ts";

export interface TargetFlags {
  ccPairId?: number;
  connector?: string;
}

export interface ChosenPair {
  ccPairId: number | undefined;
  connector: string | undefined;
  /** A pair from a flag overrides rules; a configured pair does not. */
  fromFlag: boolean;
}

/** The pair from flags or configuration: a number, a name, or neither. */
export function chosenPair(flags: TargetFlags, config: Config): ChosenPair {
  if (flags.ccPairId !== undefined && flags.connector !== undefined) {
    // Of two flags, the command line was refused before.
    throw new CliError("usage", "KNOWCTL_CC_PAIR_ID and KNOWCTL_CONNECTOR name the target twice", {
      hints: ["unset one of them, or use a flag, which wins over both"],
    });
  }
  // Either flag replaces both configuration keys.
  if (flags.ccPairId !== undefined || flags.connector !== undefined) {
    return { ccPairId: flags.ccPairId, connector: flags.connector, fromFlag: true };
  }
  const { ccPairId, connector } = config.ingest;
  const name = ccPairId === undefined ? connector : undefined;
  return { ccPairId, connector: name, fromFlag: false };
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

type ListPolicy = "list" | "listOnce";

// Imported on demand: a run without documents to send lists no connectors.
async function listConnectors(client: Client, policy?: ListPolicy): Promise<ConnectorStatus[]> {
  return await (await import("../../../api/connectors.ts")).listConnectors(client, policy);
}

/** The pair of a connector name; adds the whole name to `names`. */
export async function pairByName(client: Client, name: string, names: PairNames): Promise<number> {
  const record = findConnector(await listConnectors(client), name);
  names.set(record.cc_pair_id, record.name ?? undefined);
  return record.cc_pair_id;
}

type Messages = Pick<Output, "note" | "warn">;

/** Checks pairs; `consequence` is the end of the message about a refused pair. */
export interface PairCheck {
  (ccPairIds: readonly number[], messages: Messages, consequence: string): Promise<void>;
  /** Requests the listing early; the check reports its errors. */
  begin(): void;
}

interface UncheckedRun {
  messages: Messages;
  rules: AccessRules;
  consequence: string;
  place: string;
}

/** Reports that pairs are not checked. Throws when they must be checked or the service is unreachable. */
async function printUnchecked(
  error: unknown,
  ccPairIds: readonly number[],
  { messages, rules, consequence, place }: UncheckedRun,
): Promise<void> {
  if (!(error instanceof ApiError) || error.exit === "unreachable") throw error;
  if (rules.required.length > 0) throw unreadableAccess(error, ccPairIds, consequence);
  const unknown = "cannot determine who can read the documents";
  await messages.note(`to pair ${ccPairIds.join(", ")}${place}`);
  if (error.exit === "auth" || error.exit === "not-found") {
    const why =
      error.exit === "auth" ? "the key may not list connectors" : "the service lists no connectors";
    return await messages.note(`${why}, so the cc_pair_id is not checked beforehand; ${unknown}`);
  }
  const pairs = ccPairIds.join(", ");
  await messages.warn(`pair ${pairs} is not checked beforehand; ${unknown}: ${error.message}`);
}

const mostShown = 10;

async function printTargets(
  records: readonly ConnectorStatus[],
  messages: Messages,
  place: string,
): Promise<void> {
  for (const record of records.slice(0, mostShown)) {
    await messages.note(`to ${describeTarget(record)}${place}`);
  }
  const more = records.length - mostShown;
  if (more > 0)
    await messages.note(`to ${more} more pairs${place}; \`knowctl connectors list\` shows them`);
}

/** The record of a pair. Throws CliError `not-found` when the listing has none. */
function recordOf(
  records: readonly ConnectorStatus[],
  ccPairId: number,
  consequence: string,
): ConnectorStatus {
  const record = records.find((each) => each.cc_pair_id === ccPairId);
  if (record) return record;
  const known = records.map((each) => `${each.cc_pair_id ?? "—"}  ${each.name ?? "—"}`);
  throw new CliError("not-found", `there is no pair ${ccPairId}; ${consequence}`, {
    details: known.slice(0, 10),
    hints: [
      "list all pairs with `knowctl connectors list`",
      "if the pair was deleted, upload to another one: knowctl ingest PATH --cc-pair-id N",
      `and forget the records of the deleted pair: knowctl state forget --all --cc-pair-id ${ccPairId}`,
    ],
  });
}

interface CheckOptions {
  /** Host and profile, see placeText(). */
  place: string;
  policy?: ListPolicy;
  /** Receives the names of the checked pairs. */
  names?: PairNames;
}

/**
 * Creates a check of pairs against the status listing, before the first upload to each pair. It
 * also prints who can read the pair. A failed listing is an error only if the rules require an
 * access type; otherwise the upload itself shows whether the pair is valid. Throws CliError
 * `not-found` for a pair that is not listed, and as refuseAccess().
 */
export function createPairCheck(
  client: Client,
  rules: AccessRules,
  { policy, place, names = new Map() }: CheckOptions,
): PairCheck {
  let listingRequest: Promise<ConnectorStatus[]> | undefined;
  const requestListing = (): Promise<ConnectorStatus[]> =>
    (listingRequest ??= listConnectors(client, policy));
  const checked = new Set<number>();
  let hasNoListing = false;
  const check: PairCheck = Object.assign(
    async (
      ccPairIds: readonly number[],
      messages: Messages,
      consequence: string,
    ): Promise<void> => {
      const unchecked = ccPairIds.filter((each) => !checked.has(each));
      if (unchecked.length === 0 || hasNoListing) return;
      for (const each of unchecked) {
        checked.add(each);
        names.set(each, undefined);
      }
      let listing: ConnectorStatus[];
      try {
        listing = await requestListing();
      } catch (error) {
        await printUnchecked(error, unchecked, { messages, rules, consequence, place });
        hasNoListing = true;
        return;
      }
      const records = unchecked.map((each) => recordOf(listing, each, consequence));
      for (const record of records) {
        if (record.cc_pair_id !== null) names.set(record.cc_pair_id, record.name ?? undefined);
        refuseAccess(record, rules, consequence);
        refusePruned(record, rules, consequence);
      }
      await printTargets(records, messages, place);
    },
    {
      begin() {
        requestListing().catch(() => {});
      },
    },
  );
  return check;
}
