import type { ConnectorStatus } from "../../../api/schemas.ts";
import type { Config } from "../../../config/load.ts";
import { CliError, type ApiError } from "../../../errors.ts";

export type AccessType = "private" | "sync" | "public";

/** Flags that restrict the pairs of an upload. */
export interface AccessFlags {
  requireAccess?: AccessType[];
  allowSync?: boolean;
  allowPruned?: boolean;
}

export interface AccessRules {
  /** Allowed access types of pairs; empty means any. */
  required: readonly AccessType[];
  allowSync: boolean;
  /** Documents may go to a pair whose connector deletes what it did not crawl. */
  allowPruned: boolean;
}

export const anyAccess: AccessRules = { required: [], allowSync: true, allowPruned: true };

/** The rules of a run: flags override `ingest.requireAccess`. */
export function accessRules(flags: AccessFlags, { ingest }: Config): AccessRules {
  const required = flags.requireAccess ?? ingest.requireAccess ?? [];
  const { allowSync = false, allowPruned = false } = flags;
  return { required, allowSync, allowPruned };
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

/** `"Handbook uploads" (pair 2, public: …)`. */
export function describeTarget(record: ConnectorStatus): string {
  const name = record.name ? JSON.stringify(record.name) : "a connector without a name";
  return `${name} (pair ${record.cc_pair_id}, ${readersOf(record)})`;
}

/**
 * Throws CliError `usage` for a pair that the rules exclude, and `server-error` when an
 * access type is required and the record has none.
 */
export function refuseAccess(
  record: ConnectorStatus,
  { required, allowSync }: AccessRules,
  consequence: string,
): void {
  const { access_type: type, cc_pair_id: id } = record;
  const name = record.name ? ` (${record.name})` : "";
  if (required.length > 0 && !type) {
    throw new CliError(
      "server-error",
      `--require-access: the record of pair ${id}${name} has no access type; ${consequence}`,
      { hints: [`check the record with \`knowctl connectors get ${id}\``] },
    );
  }
  if (required.length > 0 && !required.some((each) => each === type)) {
    throw new CliError(
      "usage",
      `pair ${id}${name} is ${type}, and only ${required.join(" or ")} is allowed (--require-access); ${consequence}`,
      { hints: ["`knowctl connectors list` shows the access type of each pair"] },
    );
  }
  if (type !== "sync" || allowSync) return;
  throw new CliError(
    "usage",
    `pair ${id}${name} is of access type sync: nobody finds documents that are uploaded to it; ${consequence}`,
    {
      hints: ["use a pair of access type private or public", "or upload anyway with --allow-sync"],
    },
  );
}

/** Throws CliError `usage` for a pair whose connector crawls and prunes, unless the rules allow it. */
export function refusePruned(
  record: ConnectorStatus,
  { allowPruned }: AccessRules,
  consequence: string,
): void {
  const { source, prune_freq: pruneFrequency } = record.connector ?? {};
  if (allowPruned || !source || source === "ingestion_api" || !pruneFrequency) return;
  const name = record.name ? ` (${record.name})` : "";
  throw new CliError(
    "usage",
    `pair ${record.cc_pair_id}${name} belongs to a ${source} connector that prunes: it deletes documents that it did not crawl; ${consequence}`,
    {
      hints: [
        "use a pair of source ingestion_api: `knowctl connectors list` shows the source",
        "or upload anyway with --allow-pruned",
      ],
    },
  );
}

/** The error of a run that requires an access type when the listing failed. */
export function unreadableAccess(
  error: ApiError,
  ccPairIds: readonly number[],
  consequence: string,
): CliError {
  const pairs = ccPairIds.join(", ");
  return new CliError(
    error.exit,
    `--require-access: the access type of pair ${pairs} cannot be read; ${consequence}`,
    { details: [error.message], hints: error.hints, cause: error },
  );
}
