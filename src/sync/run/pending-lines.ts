import type { Database } from "../../database.ts";
import type { Prepared, ReadyDocument } from "../../documents/inspect/inspection.ts";
import type { Pending } from "./pending.ts";
import { createStdinIds } from "./stdin-ids.ts";
import { isInShard, type Shard } from "../plan/shard.ts";

export interface LinesRequest {
  /** Documents and failures, one per line, at most 64 per batch; `part` is the line. */
  batches: AsyncIterable<Prepared[]>;
  /** Holds the ids of earlier lines in a temporary table. */
  database: Database;
  /** Maps an id to the id that the service stores; undefined where it stores ids unchanged. */
  storedId?: ((id: string) => string) | undefined;
  shard: Shard | undefined;
  /** Receives the number of documents in other shards. */
  onOthers: (count: number) => void;
  /** Name of the source in messages. */
  name: string;
}

/**
 * Prepares documents from lines for runDocuments(). Keeps no documents in memory. If an id
 * is on two lines, the document of the second line fails.
 */
export async function* pendingOfLines({
  batches,
  database,
  storedId = (id) => id,
  name,
  shard,
  onOthers,
}: LinesRequest): AsyncGenerator<Pending[], void> {
  const firstLinesOf = createStdinIds(database);
  // A line without an id belongs to one shard by its number, so only one shard reports it.
  const idOf = (each: Prepared): string =>
    (each.kind === "skipped" ? undefined : each.id) ?? `${name}:${each.part}`;
  const isOurs = (each: Prepared): boolean => !shard || isInShard(idOf(each), shard);
  for await (const all of batches) {
    const batch = all.filter(isOurs);
    if (batch.length < all.length) onOthers(all.length - batch.length);
    const documents = batch.filter((each): each is ReadyDocument => each.kind === "document");
    const firstLines = firstLinesOf(
      documents.map(({ id, part }) => ({ id: storedId(id), line: part })),
    );
    const firstLine = new Map(documents.map((document, index) => [document, firstLines[index]]));
    yield batch.map((prepared): Pending => {
      const before = prepared.kind === "document" ? firstLine.get(prepared) : undefined;
      if (prepared.kind !== "document" || before === undefined) {
        return { number: undefined, prepared };
      }
      const { path, part, id } = prepared;
      const reason = `${name}:${part}:1: id "${id}" names the same document as line ${before}; set another id`;
      return { number: undefined, prepared: { kind: "failed", path, part, reason } };
    });
  }
}
