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
  /** Receives notes about later pairs: printing them would disturb the progress line. */
  warn: (message: string) => void;
  /** Counts documents. */
  table: PlanTable;
}

function withoutPair({ part, id }: ReadyDocument): Pending {
  const reason = `stdin:${part}:1: no cc_pair_id; write {"document": …, "cc_pair_id": N}, or use --cc-pair-id`;
  return { ...fromStdin, prepared: { kind: "failed", path: "", part, id, reason } };
}

/**
 * Checks each pair at its first occurrence; a document without a pair fails. Throws CliError
 * `not-found` for an unknown pair, and `usage` when the first document has no pair: then the
 * other documents probably have none either.
 */
export async function* checkPairsInStdin(
  pending: AsyncIterable<Pending[]>,
  { check, targets, output, warn, table }: PairChecks,
): AsyncGenerator<Pending[], void> {
  let isFirst = true;
  const tell = (text: unknown): Promise<void> => Promise.resolve(warn(String(text)));
  const deferredOutput = { note: tell, warn: tell };
  for await (const batch of pending) {
    const pairs = new Set<number>();
    const result = batch.map((each): Pending => {
      const { prepared } = each;
      if (prepared.kind !== "document") return each;
      const target = targetFor(targets, prepared.ownPair);
      if (target) pairs.add(target.ccPairId);
      if (!target && isFirst && pairs.size === 0) throw missingPair({ isUpload: true });
      return target ? each : withoutPair(prepared);
    });
    const consequence = isFirst ? "nothing was sent" : "the run stops there";
    try {
      await check([...pairs], isFirst ? output : deferredOutput, consequence);
    } catch (error) {
      // Documents were already sent, so this is no longer a usage error.
      if (isFirst || !(error instanceof CliError) || error.exit !== "usage") throw error;
      throw new CliError("partial", error.message, { hints: error.hints });
    }
    table.countUp("new", result.length);
    isFirst = false;
    yield result;
  }
}
