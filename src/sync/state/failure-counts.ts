import { join } from "node:path";
import { openForReading } from "../../database.ts";
import { stateFailure } from "./state.ts";

/** Failures of the last uploads of one kind. No name and no text of a document. */
export interface FailureCount {
  /** HTTP status; null where the failure is of this side: a file, the network. */
  httpStatus: number | null;
  /** Another attempt may succeed as it is. */
  retryable: boolean;
  count: number;
  /** When the newest came, ISO 8601. */
  last: string;
}

/**
 * What is recorded as failed in the state of a folder, which is there, by kind,
 * the most frequent first. Changes nothing. Throws CliError `local` for a state
 * that cannot be read.
 */
export async function countFailures(folder: string): Promise<FailureCount[]> {
  const path = join(folder, "state.db");
  const database = await openForReading(path);
  try {
    const rows = database
      .prepare(
        "SELECT status, retryable, count(*) AS count, max(failed_at) AS last FROM failures GROUP BY status, retryable ORDER BY count DESC LIMIT 20",
      )
      .all();
    return rows.map((row) => ({
      httpStatus: row["status"] === null ? null : Number(row["status"]),
      retryable: row["retryable"] === 1,
      count: Number(row["count"]),
      last: new Date(Number(row["last"])).toISOString(),
    }));
  } catch (error) {
    throw stateFailure(path, error);
  } finally {
    database.close();
  }
}
