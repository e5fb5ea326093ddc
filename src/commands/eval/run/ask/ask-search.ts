import { leakedOf } from "../../../../checks/eval/leak-control.ts";
import type { RetrievedDocument } from "../../../../checks/eval/result.ts";
import type { Context } from "../../../../context.ts";
import type { Way as SearchWay } from "../../../search/ways.ts";
import { filtersOf, retrievedOf, timedGate, type Way } from "./ask.ts";

/** Documents that are kept of a response: enough to say at which rank a missing one came. */
const fewestDocuments = 10;

/** A leak test keeps all documents; after the first ones only what names them. */
function kept(all: readonly RetrievedDocument[], k: number, isLeakTest: boolean) {
  const shown = Math.max(k, fewestDocuments);
  if (!isLeakTest) return all.slice(0, shown);
  return all.map((each, index) => (index < shown ? each : { ...each, snippet: null }));
}

/** Asks by a search: the query is the question, word for word. */
export function createSearchWay(context: Context, way: SearchWay): Way {
  return {
    name: way.name,
    calls: way.calls,
    async ask(evalCase, { client, gate }) {
      const { question, k } = evalCase;
      const timed = timedGate(gate, context);
      const query = { query: question, ...filtersOf(evalCase, client, context.now()) };
      const isLeakTest = leakedOf(evalCase).length > 0;
      const limit = isLeakTest ? Number.POSITIVE_INFINITY : k;
      const found = await way.find(client, query, limit, timed.gate);
      return {
        retrieved: kept(retrievedOf(found, question), k, isLeakTest),
        cited: [],
        elapsedMs: timed.elapsedMs(),
        calls: way.calls,
      };
    },
  };
}
