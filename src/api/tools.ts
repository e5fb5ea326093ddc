import type { Client } from "./client.ts";
import { ToolList, type Tool } from "./schemas.ts";

/**
 * The tools that an agent may use, with the ids for `allowedToolIds` and `forcedToolId`. With
 * `withinMs`: a single attempt with this timeout, which continues after an abort. Throws ApiError.
 */
export async function listTools(client: Client, withinMs?: number): Promise<Tool[]> {
  return client.call(
    {
      what: "list tools",
      policy: "list",
      method: "GET",
      path: client.dialect.paths.tools,
      key: "accessToken",
      ...(withinMs === undefined ? {} : { detachedMs: withinMs }),
    },
    ToolList,
  );
}
