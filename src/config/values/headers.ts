import { CliError } from "../../errors.ts";
import { misdirected, type KeyRequest } from "./keys.ts";
import { resolveSecret } from "./secrets.ts";

/** Headers that frame or route the message, carry the key, or belong to the proxy. */
const reserved =
  /^(?:accept-encoding|authorization|connection|content-.*|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/;

/**
 * The headers that the profile adds to every request, by lower-case name. A stored value goes
 * where a stored key goes. Throws CliError `not-configured` for a reserved name, one that is
 * given twice, a missing value, or one that belongs to another origin.
 */
export async function resolveHeaders(request: KeyRequest): Promise<Record<string, string>> {
  const { values, winners } = request.merged;
  const layer = winners.get("headers");
  const headers: Record<string, string> = {};
  if (!layer) return headers;
  for (const [name, secret] of Object.entries(values.headers ?? {})) {
    const path = ["headers", name] as const;
    if (reserved.test(name.toLowerCase())) {
      throw new CliError(
        "not-configured",
        `${layer.where([...path])}: knowctl sets the header ${name} itself`,
        { hints: ["leave it out; keys are accessToken and apiKey"] },
      );
    }
    if (Object.hasOwn(headers, name.toLowerCase())) {
      throw new CliError(
        "not-configured",
        `${layer.where([...path])}: the header ${name} is given twice`,
        { hints: ["upper and lower case are the same in names of headers; leave one out"] },
      );
    }
    const refused = misdirected(secret, path, layer, request);
    if (refused) throw refused;
    const resolved = await resolveSecret(secret, path, layer, request.machine, request.warn);
    if ("missing" in resolved) {
      throw new CliError("not-configured", `the header ${name}: ${resolved.missing}`, {
        hints: ["set its value, or remove it from the profile: knowctl config path"],
      });
    }
    headers[name.toLowerCase()] = resolved.key;
  }
  return headers;
}
