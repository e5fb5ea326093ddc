import { CliError } from "../../../errors.ts";
import type { ReadyDocument } from "../../../documents/inspect/inspection.ts";
import type { Output } from "../../../output/terminal/output.ts";
import type { PlanTable } from "../../../sync/plan/plan-table.ts";
import { fromStdin, type Pending } from "../../../sync/run/pending.ts";
import { targetFor, type Targets } from "../../../sync/state/target.ts";
import { missingPair, type PairCheck } from "./target.ts";

interface PairChecks {
  check: PairCheck;
  targets: Targets;
  output: Output;
  /** Takes what is to be said of pairs that are met later: the live line is on the screen then. */
  warn: (message: string) => void;
  /** Counts documents. */
  table: PlanTable;
}

function withoutPair({ part, id }: ReadyDocument): Pending {
  const reason = `stdin:${part}:1: no cc_pair_id; write {"document": …, "cc_pair_id": N}, or give --cc-pair-id`;
  return { ...fromStdin, prepared: { kind: "failed", path: "", part, id, reason } };
}

/**
 * Checks each pair that a line names when it is first met; a document without
 * any is a failure. Throws CliError `not-found` for a pair that is not there,
 * and `usage` when the very first document has no pair: then none is to be
 * expected of the others.
 */
export async function* checkPairsInStdin(
  pending: AsyncIterable<Pending[]>,
  { check, targets, output, warn, table }: PairChecks,
): AsyncGenerator<Pending[], void> {
  let isFirst = true;
  const tell = (text: unknown): Promise<void> => Promise.resolve(warn(String(text)));
  const later = { note: tell, warn: tell };
  for await (const batch of pending) {
    const pairs = new Set<number>();
    const result = batch.map((each): Pending => {
      const { prepared } = each;
      if (prepared.kind !== "document") return each;
      const target = targetFor(targets, prepared.ownPair);
      if (target) pairs.add(target.ccPairId);
      if (!target && isFirst && pairs.size === 0) throw missingPair();
      return target ? each : withoutPair(prepared);
    });
    const consequence = isFirst ? "nothing was sent" : "the run stops there";
    try {
      await check([...pairs], isFirst ? output : later, consequence);
    } catch (error) {
      // Documents were sent before: no longer a usage error.
      if (isFirst || !(error instanceof CliError) || error.exit !== "usage") throw error;
      throw new CliError("partial", error.message, { hints: error.hints });
    }
    table.countUp("new", result.length);
    isFirst = false;
    yield result;
  }
}
