import type { Client } from "./client.ts";
import { ToolList, type Tool } from "./schemas.ts";

/**
 * The Actions that an Agent may use, with the ids for `allowedToolIds` and
 * `forcedToolId`. `withinMs` makes it one attempt of at most that time, which an
 * abort does not end. Throws ApiError.
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
