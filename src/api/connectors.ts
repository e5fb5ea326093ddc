import type { Client } from "./client.ts";
import { ConnectorStatusList, type ConnectorStatus } from "./schemas.ts";

/**
 * Every connector and credential pair, whole. `listOnce` asks once and waits for at
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
