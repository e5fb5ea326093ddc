import { listAgents } from "../../../../api/agents.ts";
import type { Client } from "../../../../api/client.ts";
import type { EvalCase } from "../../../../checks/eval/suite/suite.ts";
import { CliError } from "../../../../errors.ts";
import { nearest } from "../../../../nearest.ts";

/** The id of the agent of a case; undefined for the service's own agent. */
export type AgentOf = (evalCase: EvalCase) => number | undefined;

/**
 * Looks up the agents that cases name by name, with one request; none if all name ids. Throws
 * CliError `not-found` for an unknown or ambiguous name, and where the dialect lists no agents.
 */
export async function findAgents(client: Client, cases: readonly EvalCase[]): Promise<AgentOf> {
  const named = cases.filter(({ agent }) => typeof agent === "string");
  const agents = named.length === 0 ? [] : await listAgents(client);
  const ids = new Map<string, number>();
  for (const { agent, place } of named) {
    const name = String(agent);
    const same = agents.filter((each) => each.name.toLowerCase() === name.toLowerCase());
    const [found] = same;
    if (found && same.length === 1) {
      ids.set(name, found.id);
      continue;
    }
    const names = agents.map((each) => each.name);
    const near = nearest(name, names);
    const known = near === undefined ? "see `knowctl agents list`" : `did you mean "${near}"?`;
    const where = `${place.file}:${place.line}:${place.column}`;
    throw found === undefined
      ? new CliError("not-found", `${where}: there is no agent "${name}"`, { hints: [known] })
      : new CliError("not-found", `${where}: ${same.length} agents have the name "${name}"`, {
          hints: [`name one by its id: ${same.map(({ id }) => id).join(", ")}`],
        });
  }
  return ({ agent }) => (typeof agent === "string" ? ids.get(agent) : agent);
}
