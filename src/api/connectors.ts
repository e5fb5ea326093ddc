import type { Client } from "./client.ts";
import { ConnectorStatusList, type ConnectorStatus } from "./schemas.ts";

/** Every connector and credential pair, whole. Throws ApiError. */
export async function listConnectors(client: Client): Promise<ConnectorStatus[]> {
  return client.call(
    {
      what: "list connectors",
      policy: "list",
      method: "GET",
      path: client.dialect.paths.connectorStatus,
      key: "accessToken",
    },
    ConnectorStatusList,
  );
}
