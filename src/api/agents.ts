import { callTo } from "./call.ts";
import * as z from "zod/mini";
import { CliError } from "../errors.ts";
import type { Client } from "./client.ts";

const Agent = z.looseObject({
  id: z.int(),
  name: z.string(),
  description: z.optional(z.nullable(z.string())),
});
export type Agent = z.infer<typeof Agent>;

/**
 * The agents that may answer the caller (observed-service.md 5). Throws
 * ApiError, and CliError `not-found` where the dialect has no listing.
 */
export async function listAgents(client: Client): Promise<Agent[]> {
  const path = client.dialect.paths.agents;
  if (path === undefined) {
    throw new CliError("not-found", `the ${client.dialect.name} dialect lists no agents`, {
      hints: ["see the web page of the service"],
    });
  }
  return await client.call(callTo("list agents", "GET", path), z.array(Agent));
}
