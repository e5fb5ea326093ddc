import { CliError, messageOf } from "../../errors.ts";
import type { ListedOrphan, OrphanTable } from "./orphan-table.ts";
import { isDocumentFault } from "../run/outcome.ts";

export interface RemoveRequest {
  orphans: OrphanTable;
  /** Removes one document from the service and then from the state. */
  remove: (orphan: ListedOrphan) => Promise<"deleted" | "tombstoned">;
  /** Whether the service as a whole has been given up. */
  isGivenUp: () => boolean;
  /** Most requests in flight. */
  concurrency: number;
  /** Stops taking new documents; what is in flight is waited for. */
  signal: AbortSignal;
  onDone: (status: "removed" | "failed") => void;
}

/**
 * Removes the selected orphans with bounded concurrency and marks what became of each. A
 * document's own failure does not stop the others; any other failure does, and
 * is thrown once what is in flight has ended.
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
      const isOwn = isDocumentFault(error) || (error instanceof CliError && error.exit === "usage");
      if (!isOwn || request.isGivenUp()) fatal ??= { error };
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
