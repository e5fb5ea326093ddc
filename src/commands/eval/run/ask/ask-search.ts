import type { Context } from "../../../../context.ts";
import type { Way as SearchWay } from "../../../search/ways.ts";
import { filtersOf, retrievedOf, timedGate, type Way } from "./ask.ts";

/** Documents that are kept of a response: enough to say at which rank a missing one came. */
const fewestDocuments = 10;

/** Asks by a search: the query is the question, word for word. */
export function createSearchWay(context: Context, way: SearchWay): Way {
  return {
    name: way.name,
    calls: way.calls,
    async ask(evalCase, { client, gate }) {
      const { question, k } = evalCase;
      const timed = timedGate(gate, context);
      const query = { query: question, ...filtersOf(evalCase, client, context.now()) };
      const found = await way.find(client, query, k, timed.gate);
      return {
        retrieved: retrievedOf(found, question).slice(0, Math.max(k, fewestDocuments)),
        cited: [],
        elapsedMs: timed.elapsedMs(),
        calls: way.calls,
      };
    },
  };
}
