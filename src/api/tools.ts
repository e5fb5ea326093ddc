import { callTo } from "./call.ts";
import type { Client } from "./client.ts";
import { ToolList, type Tool } from "./schemas.ts";

/**
 * The tools that an agent may use, with the ids for `allowedToolIds` and `forcedToolId`. With
 * `withinMs`: a single attempt with this timeout, which continues after an abort. Throws ApiError.
 */
export async function listTools(client: Client, withinMs?: number): Promise<Tool[]> {
  const call = callTo("list tools", "GET", client.dialect.paths.tools);
  return client.call(withinMs === undefined ? call : { ...call, detachedMs: withinMs }, ToolList);
}
