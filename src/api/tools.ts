import type { Client } from "./client.ts";
import { ToolList, type Tool } from "./schemas.ts";

/** The Actions an Agent may use, with the ids that `allowedToolIds` and `forcedToolId` take. Throws ApiError. */
export async function listTools(client: Client): Promise<Tool[]> {
  return client.call(
    {
      what: "list tools",
      policy: "list",
      method: "GET",
      path: client.dialect.paths.tools,
      key: "accessToken",
    },
    ToolList,
  );
}
