import type { Failure } from "../answers/answers.ts";
import { shorten } from "../answers/words.ts";
import type { Wire } from "../call.ts";
import { ApiError } from "../../errors.ts";

/** The code of an error that names a service without /api. */
export const withoutApi = "SERVICE_WITHOUT_API";

const limitMs = 5000;

/** The version at `/version` below the base URL, without `/api`; undefined if there is none. */
async function findVersion({ transport, prefix, options }: Wire): Promise<string | undefined> {
  try {
    const { status, body } = await transport.send({
      method: "GET",
      path: `${prefix}/version`,
      // Without the key: it is public (observed-service.md 5).
      headers: { accept: "application/json", "accept-encoding": "identity", ...options.headers },
      headersMs: limitMs,
      idleMs: limitMs,
      totalMs: limitMs,
      responseBytes: 64 * 1024,
      fresh: true,
    });
    if (status !== 200) return undefined;
    const { ServiceVersion } = await import("../service-version.ts");
    const parsed = ServiceVersion.safeParse(JSON.parse(body.toString()));
    return parsed.success ? shorten(parsed.data.backend_version, 60) : undefined;
  } catch {
    // The first failure is the one to report.
    return undefined;
  }
}

const found = new WeakMap<Wire, Promise<string | undefined>>();

// How the service answers a path that it does not have (observed-service.md 6.4).
const noRoute = /: 404: (?:404: )?Not Found$/;

/**
 * Explains a missing path if the service has its paths without `/api`: the address is that
 * of the service behind its proxy (observed-service.md 6.6). Looks once for each client.
 */
export async function explainWithoutApi(wire: Wire, failure: Failure): Promise<Failure> {
  const { error } = failure;
  if (!noRoute.test(error.message)) return failure;
  const looked = found.get(wire) ?? findVersion(wire);
  found.set(wire, looked);
  const version = await looked;
  if (version === undefined) return failure;
  const message = `${error.message}; the service (version ${version}) answers at this address without /api`;
  const { exit, method, url, status } = error;
  const hints = [
    "this is its internal address: use the address of the proxy in front of it, which has /api (often port 80 or 443 instead of 8080)",
  ];
  const explained = new ApiError(exit, message, { method, url, status, code: withoutApi, hints });
  return { ...failure, error: explained };
}
