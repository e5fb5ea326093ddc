import type { Client } from "../../api/client.ts";
import type { DialectName } from "../../api/dialects.ts";
import { listConnectors } from "../../api/connectors.ts";
import type { ConnectorStatus } from "../../api/schemas.ts";
import { ServiceVersion } from "../../api/service-version.ts";
import { ApiError, reworded } from "../../errors.ts";

export interface Detected {
  dialect: DialectName;
  connectors: ConnectorStatus[];
}

/** A refused or failed request does not identify the dialect. */
function unknownDialect(error: ApiError): ApiError {
  const hints = ["set it: --dialect standard, or --dialect onyx", ...error.hints];
  return reworded(error, `cannot detect the dialect of the service: ${error.message}`, hints);
}

// Only an `onyx` deployment answers this request, even without a key (observed-service.md 5).
async function isOnyx(client: Client): Promise<boolean> {
  const path = client.dialect.paths.version;
  if (path === undefined) return false;
  try {
    await client.call(
      { what: "read the version", policy: "list", method: "GET", path, key: "accessToken" },
      ServiceVersion,
    );
    return true;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // Status 200 is a page of the web interface instead of JSON: the path does not exist.
    const isAbsent = error.exit === "not-found" || error.status === 200;
    if (isAbsent) return false;
    throw error.exit === "auth" || error.exit === "server-error" ? unknownDialect(error) : error;
  }
}

/**
 * Tests the connection with the cheapest administrator request, and detects the dialect
 * unless `given`. `client` uses the given dialect, else `onyx`. Throws ApiError for an
 * unexpected response.
 */
export async function detectService(
  client: Client,
  given: DialectName | undefined,
): Promise<Detected> {
  // The listing has the same path in both dialects, so a wrong key or address fails here.
  const connectors = await listConnectors(client);
  return { dialect: given ?? ((await isOnyx(client)) ? "onyx" : "standard"), connectors };
}
