import { join } from "node:path";
import { openForReading } from "../../database.ts";
import { checkSchema } from "./file/state-schema.ts";
import { stateFailure } from "./state-failure.ts";

/** Failures of one kind. Contains no name and no text of a document. */
export interface FailureCount {
  /** HTTP status; null for a local failure: a file, the network. */
  httpStatus: number | null;
  /** Whether a retry without changes may succeed. */
  retryable: boolean;
  count: number;
  /** Time of the newest failure, ISO 8601. */
  last: string;
}

/**
 * Counts the recorded failures by kind, the 20 most frequent kinds first. `folder` must contain
 * a state. Changes nothing. Throws CliError `local` when the state cannot be read.
 */
export async function countFailures(folder: string): Promise<FailureCount[]> {
  const path = join(folder, "state.db");
  const database = await openForReading(path);
  try {
    checkSchema(database, path);
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
