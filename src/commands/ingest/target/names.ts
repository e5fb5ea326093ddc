import type { Config } from "../../../config/load.ts";
import type { Client } from "../../../api/client.ts";
import { ApiError } from "../../../errors.ts";
import { neutraliseLine } from "../../../output/terminal/neutralise.ts";

/** Host and base path of a service, without scheme: `assistant.example.com/kb`. */
export function hostOf(baseUrl: string): string {
  return baseUrl.replace(/^https?:\/\//, "");
}

/**
 * Where the documents of a run go: ` at assistant.example.com, profile writer`. A target is a pair
 * of one service: the same number elsewhere is another target.
 */
export function placeText({ profile }: Pick<Config, "profile">, baseUrl: string): string {
  const host = baseUrl === "" ? "" : ` at ${hostOf(baseUrl)}`;
  return `${host}, profile ${profile}`;
}

/** Names of pairs by id; undefined for a connector without a name. */
export type PairNames = Map<number, string | undefined>;

/** `Handbook uploads (pair 2)`; without a known name `pair 2`. */
export function pairText(ccPairId: number, name: string | undefined): string {
  return name === undefined ? `pair ${ccPairId}` : `${neutraliseLine(name)} (pair ${ccPairId})`;
}

const pairsNamed = 3;

/** The pairs of a run, for its summary. */
export function pairsText(names: PairNames): string {
  const shown = [...names].slice(0, pairsNamed).map(([id, name]) => pairText(id, name));
  const more = names.size - shown.length;
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].join(", ");
}

/** A pair for a question: by its name, which is looked up once; by its id if that fails. */
export async function namedPair(
  client: Client,
  ccPairId: number,
  names: PairNames,
): Promise<string> {
  if (!names.has(ccPairId)) {
    try {
      const { listConnectors } = await import("../../../api/connectors.ts");
      const records = await listConnectors(client, "listOnce");
      const name = records.find((each) => each.cc_pair_id === ccPairId)?.name;
      names.set(ccPairId, name ?? undefined);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }
  return pairText(ccPairId, names.get(ccPairId));
}
