import type { Client } from "../../../api/client.ts";
import {
  countPairErrors,
  countWaiting,
  readLastAttempt,
  type PairStatus,
} from "../../../api/pair-status.ts";
import { ApiError } from "../../../errors.ts";
import { noDetails, type Details } from "./rows.ts";

/** What was read about the runs of each pair, with the record of the listing at that time. */
export type KnownDetails = Map<number, { json: string; runs: Omit<Details, "queue"> }>;

/** Whether the service has no such endpoint, or no such pair. */
export const isMissingEndpoint = (error: unknown): error is ApiError =>
  error instanceof ApiError && (error.status === 404 || error.status === 405);

export const isRefused = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.exit === "auth";

interface DetailOptions {
  known: KnownDetails;
  /** Returns the value of a member whose request failed; rethrows what ends the command. */
  onFailure: (error: unknown) => null;
}

async function readRuns(
  client: Client,
  id: number,
  status: PairStatus,
  { known, onFailure }: DetailOptions,
): Promise<Omit<Details, "queue">> {
  // Without a run there is no error: uploads leave neither (observed-service.md 11.4).
  if (!status.last_status) return { errors: 0, lastAttemptAt: null };
  const json = JSON.stringify(status);
  const before = known.get(id);
  // The record changes when a run starts or ends.
  if (before?.json === json && status.in_progress !== true) return before.runs;
  const [errors, last] = await Promise.all([
    countPairErrors(client, id).catch(onFailure),
    readLastAttempt(client, id).catch(onFailure),
  ]);
  const runs = { errors, lastAttemptAt: last ?? null };
  known.set(id, { json, runs });
  return runs;
}

/**
 * Reads what only requests about one pair tell: its errors and last run, and its queue if it
 * is named. Reads nothing about runs again while the record of the listing stays the same.
 */
export async function readDetails(
  client: Client,
  status: PairStatus | undefined,
  isNamed: boolean,
  options: DetailOptions,
): Promise<Details> {
  const id = status?.cc_pair_id;
  if (!status || id === undefined || id === null) return noDetails;
  const [runs, queue] = await Promise.all([
    readRuns(client, id, status, options),
    isNamed ? countWaiting(client, id).catch(options.onFailure) : null,
  ]);
  return { ...runs, queue };
}
