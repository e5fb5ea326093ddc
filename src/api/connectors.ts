import type { Client } from "./client.ts";
import { ConnectorStatusList, type ConnectorStatus } from "./schemas.ts";

/**
 * Lists all connector/credential pairs with all members. `listOnce` makes one attempt of at
 * most five seconds. Throws ApiError.
 */
export async function listConnectors(
  client: Client,
  policy: "list" | "listOnce" = "list",
): Promise<ConnectorStatus[]> {
  return client.call(
    {
      what: "list connectors",
      policy,
      method: "GET",
      path: client.dialect.paths.connectorStatus,
      key: "accessToken",
    },
    ConnectorStatusList,
  );
}
