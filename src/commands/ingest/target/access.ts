import type { Client } from "../../../api/client.ts";
import type { ConnectorStatus } from "../../../api/schemas.ts";
import type { Config } from "../../../config/load.ts";
import type { Context } from "../../../context.ts";
import { ApiError, CliError, messageOf } from "../../../errors.ts";
import type { Output } from "../../../output/terminal/output.ts";
import { openClient, whileAsking } from "../../connect.ts";
import type { Session } from "../session.ts";
import { listPairs, placeText, recordedPairs, type PairNames } from "./pair.ts";

export type AccessType = "private" | "sync" | "public";

/** Flags that restrict the pairs of an upload. */
export interface AccessFlags {
  requireAccess?: AccessType[];
  allowSync?: boolean;
  allowPruned?: boolean;
}

/** The access types that pairs must have, by flag or configuration; empty means any. */
export function requiredAccess(flags: AccessFlags, { ingest }: Config): readonly AccessType[] {
  return flags.requireAccess ?? ingest.requireAccess ?? [];
}

function privateReaders({ groups, credential }: ConnectorStatus): string {
  const owner = credential?.user_email;
  const readers = [
    owner ? `the owner of its credential (${owner})` : "the owner of its credential",
    ...(groups?.length ? [`group${groups.length > 1 ? "s" : ""} ${groups.join(", ")}`] : []),
  ];
  return readers.length > 1
    ? `private: ${readers.join(" and ")} read these documents`
    : `private: only ${readers[0]} reads these documents`;
}

/** Describes who can read the documents of a pair, from its record: observed-service.md 11.1. */
export function readersOf(record: ConnectorStatus): string {
  const { access_type: type } = record;
  if (type === "public") return "public: everybody who can sign in reads these documents";
  if (type === "private") return privateReaders(record);
  if (type === "sync") return "sync: nobody finds documents that are uploaded here";
  return type
    ? `${type}: cannot determine who reads these documents`
    : "cannot determine who reads it";
}

interface Refusal {
  isRefused: boolean;
  exit?: "server-error";
  /** Follows `pair 2 (Handbook uploads)`. */
  why: string;
  hints: string[];
}

/** Which pairs get no documents, and why: the first row that applies. */
function refusalsOf(
  { access_type: type, cc_pair_id: id, connector }: ConnectorStatus,
  required: readonly AccessType[],
  { allowSync = false, allowPruned = false }: AccessFlags,
): Refusal[] {
  const isRestricted = required.length > 0;
  const { source, prune_freq: pruneFrequency } = connector ?? {};
  const isPruned = Boolean(source && source !== "ingestion_api" && pruneFrequency);
  return [
    {
      isRefused: isRestricted && !type,
      exit: "server-error",
      why: "has no access type in its record (--require-access)",
      hints: [`check the record with \`knowctl connectors get ${id}\``],
    },
    {
      isRefused: isRestricted && !required.some((each) => each === type),
      why: `is ${type}, and only ${required.join(" or ")} is allowed (--require-access)`,
      hints: ["`knowctl connectors list` shows the access type of each pair"],
    },
    {
      isRefused: type === "sync" && !allowSync,
      why: "is of access type sync: nobody finds documents that are uploaded to it",
      hints: ["use a pair of access type private or public", "or upload anyway with --allow-sync"],
    },
    {
      isRefused: isPruned && !allowPruned,
      why: `belongs to a ${source} connector that prunes: it deletes documents that it did not crawl`,
      hints: [
        "use a pair of source ingestion_api: `knowctl connectors list` shows the source",
        "or upload anyway with --allow-pruned",
      ],
    },
  ];
}

/** Which pairs are not of a required access type. A pair that no record describes may be open to everybody. */
export function createIsForbidden(
  client: Client,
  required: readonly string[],
): (pair: number) => Promise<boolean> {
  let listing: Promise<ConnectorStatus[]> | undefined;
  return async (pair) => {
    if (required.length === 0) return false;
    const records = await (listing ??= listPairs(client));
    const type = records.find((each) => each.cc_pair_id === pair)?.access_type;
    return !required.some((each) => each === type);
  };
}

type Messages = Pick<Output, "note" | "warn">;

type Check = (
  ccPairIds: readonly number[],
  messages: Messages,
  consequence: string,
) => Promise<void>;

/** Checks pairs; `consequence` is the end of the message about a refused pair. */
export interface PairCheck extends Check {
  /** Requests the listing early; the check reports its errors. */
  begin(): void;
}

/** Reports that pairs are not checked. Throws when they must be checked or the service is unreachable. */
async function printUnchecked(
  error: unknown,
  pairs: string,
  { isRequired, place, consequence }: { isRequired: boolean; place: string; consequence: string },
  messages: Messages,
): Promise<void> {
  if (!(error instanceof ApiError) || error.exit === "unreachable") throw error;
  if (isRequired) {
    throw new CliError(
      error.exit,
      `--require-access: the access type of pair ${pairs} cannot be read; ${consequence}`,
      { details: [error.message], hints: error.hints, cause: error },
    );
  }
  const unknown = "cannot determine who can read the documents";
  await messages.note(`to pair ${pairs}${place}`);
  if (error.exit === "auth" || error.exit === "not-found") {
    const why =
      error.status === 401
        ? "the service refuses the key for the list of connectors"
        : error.exit === "auth"
          ? "the key may not list connectors"
          : "the service lists no connectors";
    return await messages.note(`${why}, so pair ${pairs} is not checked beforehand; ${unknown}`);
  }
  await messages.warn(`pair ${pairs} is not checked beforehand; ${unknown}: ${error.message}`);
}

const mostShown = 10;

async function printTargets(
  records: readonly ConnectorStatus[],
  messages: Messages,
  place: string,
): Promise<void> {
  for (const record of records.slice(0, mostShown)) {
    const name = record.name ? JSON.stringify(record.name) : "a connector without a name";
    await messages.note(`to ${name} (pair ${record.cc_pair_id}, ${readersOf(record)})${place}`);
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
  isRecorded: (ccPairId: number) => boolean,
): ConnectorStatus {
  const record = records.find((each) => each.cc_pair_id === ccPairId);
  if (record) return record;
  const known = records.map((each) => `${each.cc_pair_id ?? "—"}  ${each.name ?? "—"}`);
  throw new CliError("not-found", `there is no pair ${ccPairId}; ${consequence}`, {
    details: known.slice(0, 10),
    hints: [
      "list all pairs with `knowctl connectors list`",
      ...(isRecorded(ccPairId)
        ? [
            "if the pair was deleted, upload to another one: knowctl ingest PATH --cc-pair-id N",
            `and forget the records of the deleted pair: knowctl state forget --all --cc-pair-id ${ccPairId}`,
          ]
        : []),
    ],
  });
}

/**
 * Creates a check of pairs against the status listing, before the first upload to each pair. It
 * also prints who can read the pair. A failed listing is an error only if an access type is
 * required; otherwise the upload itself shows whether the pair is valid. Throws CliError
 * `not-found` for a pair that is not listed, and as refusalsOf(). `names` receives the names.
 */
export function pairCheckOf(
  client: Client,
  { output, source, targets, state, pairNames: names }: CheckedSession,
  flags: AccessFlags,
  policy?: "listOnce",
): PairCheck {
  const required = requiredAccess(flags, source.config);
  const place = placeText(source.config, targets.baseUrl);
  let listing: Promise<ConnectorStatus[]> | undefined;
  const list = (): Promise<ConnectorStatus[]> => (listing ??= listPairs(client, policy));
  const checked = new Set<number>();
  let hasNoListing = false;
  const check: Check = async (ccPairIds, messages, consequence) => {
    const unchecked = ccPairIds.filter((each) => !checked.has(each));
    if (unchecked.length === 0 || hasNoListing) return;
    for (const each of unchecked) {
      checked.add(each);
      names.set(each, undefined);
    }
    let all: ConnectorStatus[];
    try {
      all = await whileAsking({ output, connection: targets }, list);
    } catch (error) {
      const about = { isRequired: required.length > 0, place, consequence };
      await printUnchecked(error, unchecked.join(", "), about, messages);
      hasNoListing = true;
      return;
    }
    const isRecorded = (id: number): boolean => recordedPairs(state, targets.baseUrl).includes(id);
    const records = unchecked.map((each) => recordOf(all, each, consequence, isRecorded));
    for (const record of records) {
      const { cc_pair_id: id, name } = record;
      if (id !== null) names.set(id, name ?? undefined);
      const refusal = refusalsOf(record, required, flags).find(({ isRefused }) => isRefused);
      if (!refusal) continue;
      const { exit = "usage", why, hints } = refusal;
      const pair = `pair ${id}${name ? ` (${name})` : ""}`;
      throw new CliError(exit, `${pair} ${why}; ${consequence}`, { hints });
    }
    await printTargets(records, messages, place);
  };
  return Object.assign(check, { begin: () => void list().catch(() => {}) });
}

type CheckedSession = Pick<Session, "output" | "source" | "targets" | "state"> & {
  pairNames: PairNames;
};

/** Opens the client of a dry run; undefined without a trusted profile or a key. */
async function clientFor(
  context: Context,
  { source, output, connected }: Session,
): Promise<{ client: Client; close(): Promise<void> } | undefined> {
  if (connected) return { client: connected.client, close: () => Promise.resolve() };
  try {
    const { client } = await openClient(context, output, source.config, { connections: 1 });
    return { client, close: () => client.close() };
  } catch (error) {
    if (error instanceof CliError) return undefined;
    throw error;
  }
}

/**
 * Prints who can read the pairs of a dry run, and refuses pairs that the upload would refuse; then
 * calls `withClient`. Without a trusted profile and a key it sends no request. A failed listing is
 * only a note: a dry run does not need the service. Throws as pairCheckOf().
 */
export async function checkPlannedPairs(
  context: Context,
  session: Session,
  ccPairIds: readonly number[],
  flags: AccessFlags,
  withClient: (client: Client) => Promise<void> = async () => {},
): Promise<void> {
  if (ccPairIds.length === 0) return;
  const { output, source } = session;
  const required = requiredAccess(flags, source.config);
  const needed =
    required.length === 0
      ? ""
      : `; the upload needs a pair of access type ${required.join(" or ")}`;
  const opened = await clientFor(context, session);
  if (!opened) {
    if (needed !== "") await output.note(`the access type was not checked${needed}`);
    return;
  }
  try {
    await pairCheckOf(
      opened.client,
      session,
      flags,
      "listOnce",
    )(ccPairIds, output, "nothing was sent");
    await withClient(opened.client);
  } catch (error) {
    context.signal.throwIfAborted();
    const failure = error instanceof Error && error.cause instanceof ApiError ? error.cause : error;
    if (!(failure instanceof ApiError)) throw error;
    await output.note(`cannot determine who can read the documents${needed}: ${messageOf(error)}`);
  } finally {
    await opened.close();
  }
}
