import type { FilterParameters } from "../../../../api/chat/chat-body.ts";
import type { Client } from "../../../../api/client.ts";
import type { Gate } from "../../../../api/retry/gate.ts";
import type { Reply } from "../../../../checks/eval/reply.ts";
import type { RetrievedDocument } from "../../../../checks/eval/result.ts";
import type { EvalCase } from "../../../../checks/eval/suite/suite.ts";
import type { Context } from "../../../../context.ts";
import { snippetOf } from "../../../../output/search/results.ts";
import { parseSince, parseTags } from "../../../chat/options.ts";
import type { Found } from "../../../search/found.ts";
import type { Asking } from "./clients.ts";

/** One way to ask the question of a case. */
export interface Way {
  /** The search way, or `chat`. */
  name: string;
  /** Model calls that one question may cost. */
  calls: number;
  /** Asks once. Throws ApiError and CliError. */
  ask(evalCase: EvalCase, asking: Asking): Promise<Reply>;
}

/** Documents of a search as results. Hidden ones are left out: only administrators find them. */
export function retrievedOf(found: readonly Found[], question: string): RetrievedDocument[] {
  return found
    .filter(({ hidden }) => !hidden)
    .map(({ id, title, link, text }, index) => {
      const snippet = snippetOf(text, question).text;
      return { rank: index + 1, id, title, link, path: null, snippet: snippet || null };
    });
}

/** The filters of a case in the form of a request. Throws CliError `usage`. */
export function filtersOf(
  { filters, place }: EvalCase,
  { dialect }: Pick<Client, "dialect">,
  now: number,
): FilterParameters {
  const { sourceTypes, documentSets, tags, since } = filters;
  const given = `${place.file}:${place.line}: since`;
  return {
    ...(sourceTypes && { sourceTypes: [...sourceTypes] }),
    ...(documentSets && { documentSets: [...documentSets] }),
    ...(tags && { tags: parseTags(tags, dialect) }),
    ...(since !== undefined && { timeCutoff: parseSince(since, now, given) }),
  };
}

/**
 * A gate that notes when the last attempt was admitted: waiting for a slot or after a 429 is no
 * latency of the service.
 */
export function timedGate(
  gate: Gate,
  clock: Pick<Context, "elapsed">,
): { gate: Gate; elapsedMs(): number } {
  let begunMs = clock.elapsed();
  const begin = (): void => {
    begunMs = clock.elapsed();
  };
  const enter = (): Promise<void> | undefined => {
    const waiting = gate.enter();
    if (waiting) return waiting.then(begin);
    begin();
    return undefined;
  };
  return { gate: { ...gate, enter }, elapsedMs: () => clock.elapsed() - begunMs };
}
