import type { Database } from "../../database.ts";
import type { Prepared, ReadyDocument } from "../../documents/inspect/inspection.ts";
import { fromStdin, type Pending } from "./pending.ts";
import { createStdinIds } from "./stdin-ids.ts";
import { isInShard, type Shard } from "../plan/shard.ts";

export interface LinesRequest {
  /** Documents and failures of lines, at most 64 at a time; their `part` is the line. */
  batches: AsyncIterable<Prepared[]>;
  /** Holds the ids that were met, in a temporary table. */
  database: Database;
  /** The id under which the service stores a document; undefined where it stores them as they are. */
  storedId?: ((id: string) => string) | undefined;
  shard: Shard | undefined;
  /** Told how many documents belong to other shards. */
  onOthers: (count: number) => void;
  /** How messages call the source. */
  name: string;
}

/**
 * What comes line by line, ready for runDocuments(). Nothing of it is kept: that
 * an id stands on two lines shows when the second one comes, and is that
 * document's failure.
 */
export async function* pendingOfLines({
  batches,
  database,
  storedId = (id) => id,
  name,
  shard,
  onOthers,
}: LinesRequest): AsyncGenerator<Pending[], void> {
  const seen = createStdinIds(database);
  // A line without an id belongs to a shard too: its failure is told once.
  const idOf = (each: Prepared): string =>
    (each.kind === "skipped" ? undefined : each.id) ?? `${name}:${each.part}`;
  const isOurs = (each: Prepared): boolean => !shard || isInShard(idOf(each), shard);
  for await (const all of batches) {
    const batch = all.filter(isOurs);
    if (batch.length < all.length) onOthers(all.length - batch.length);
    const documents = batch.filter((each): each is ReadyDocument => each.kind === "document");
    const lines = seen(documents.map(({ id, part }) => ({ id: storedId(id), line: part })));
    const first = new Map(documents.map((document, index) => [document, lines[index]]));
    yield batch.map((prepared): Pending => {
      const before = prepared.kind === "document" ? first.get(prepared) : undefined;
      if (prepared.kind !== "document" || before === undefined) {
        return { ...fromStdin, prepared };
      }
      const { path, part, id } = prepared;
      const reason = `${name}:${part}:1: id "${id}" names the same document as line ${before}; give it another id`;
      return { ...fromStdin, prepared: { kind: "failed", path, part, reason } };
    });
  }
}
