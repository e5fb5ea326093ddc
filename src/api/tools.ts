import type { Client } from "./client.ts";
import { ToolList, type Tool } from "./schemas.ts";

/**
 * The Actions an Agent may use, with the ids that `allowedToolIds` and
 * `forcedToolId` take. With `withinMs` it is one attempt of at most that long,
 * which an abort does not end. Throws ApiError.
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
