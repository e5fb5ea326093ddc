import type { Client } from "../../api/client.ts";
import { listConnectors } from "../../api/connectors.ts";
import type { ConnectorStatus } from "../../api/schemas.ts";
import { ServiceVersion } from "../../api/service-version.ts";
import { ApiError } from "../../errors.ts";

export interface Detected {
  dialect: "standard" | "onyx";
  connectors: ConnectorStatus[];
}

/** A refused or failed request proves nothing about the dialect. */
function cannotTell(error: ApiError): ApiError {
  const { exit, method, url, status, code } = error;
  return new ApiError(exit, `cannot tell which dialect the service speaks: ${error.message}`, {
    method,
    url,
    status,
    code,
    hints: ["name it: --dialect standard, or --dialect onyx", ...error.hints],
    cause: error,
  });
}

// Only the `onyx` deployment answers this, without a key even (observed-service.md 5).
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
    // A page of the web interface instead of JSON: the path is not there.
    const isAbsent = error.exit === "not-found" || error.status === 200;
    if (isAbsent) return false;
    throw error.exit === "auth" || error.exit === "server-error" ? cannotTell(error) : error;
  }
}

/**
 * Tries the connection with the cheapest administrator call, and finds the
 * dialect where it is not given; `client` speaks the given one, else `onyx`.
 * Throws ApiError when the service does not answer as promised.
 */
export async function detectService(
  client: Client,
  given: "standard" | "onyx" | undefined,
): Promise<Detected> {
  // The listing has one path in both dialects, so a wrong key or address shows first.
  const connectors = await listConnectors(client);
  return { dialect: given ?? ((await isOnyx(client)) ? "onyx" : "standard"), connectors };
}
