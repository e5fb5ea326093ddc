import { CliError, messageOf } from "../../errors.ts";
import type { ListedOrphan, OrphanTable } from "./orphan-table.ts";
import { isDocumentFault } from "../run/outcome.ts";

export interface RemoveRequest {
  orphans: OrphanTable;
  /** Removes one document from the service and then from the state. */
  remove: (orphan: ListedOrphan) => Promise<"deleted" | "tombstoned">;
  /** Whether the service is considered down. */
  isGivenUp: () => boolean;
  /** Maximum number of requests in flight. */
  concurrency: number;
  /** Stops starting new documents; requests in flight are awaited. */
  signal: AbortSignal;
  onDone: (status: "removed" | "failed") => void;
}

/**
 * Removes the selected orphans with bounded concurrency and marks the result of each. A failure
 * of one document does not stop the others. Any other failure stops the removal, and is thrown
 * after the requests in flight have ended.
 */
export async function removeOrphans(request: RemoveRequest): Promise<void> {
  const { orphans, signal } = request;
  const waiting = orphans.list();
  let fatal: { error: unknown } | undefined;
  const removeOne = async (orphan: ListedOrphan): Promise<void> => {
    try {
      orphans.mark(orphan.number, await request.remove(orphan));
      request.onDone("removed");
    } catch (error) {
      orphans.mark(orphan.number, "failed", messageOf(error));
      request.onDone("failed");
      const isOwnFailure =
        isDocumentFault(error) || (error instanceof CliError && error.exit === "usage");
      if (!isOwnFailure || request.isGivenUp()) fatal ??= { error };
    }
  };
  const workers = Array.from({ length: request.concurrency }, async () => {
    while (!fatal && !signal.aborted) {
      const next = waiting.next();
      if (next.done) return;
      if (next.value.isSelected) await removeOne(next.value);
    }
  });
  await Promise.all(workers);
  orphans.forgetFiles();
  signal.throwIfAborted();
  if (fatal) throw fatal.error;
}
