import { CliError } from "../../errors.ts";
import { misdirected, type KeyRequest } from "./keys.ts";
import { resolveSecret } from "./secrets.ts";

/** Headers that frame or route the message, carry the key, or belong to the proxy. */
const reserved =
  /^(?:accept-encoding|authorization|connection|content-.*|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/;

/** Why no request can carry these headers, by name: one that is reserved, or given twice. */
export function headerProblems(names: readonly string[]): { name: string; message: string }[] {
  const seen = new Set<string>();
  return names.flatMap((name) => {
    const lower = name.toLowerCase();
    if (reserved.test(lower)) return [{ name, message: `knowctl sets the header ${name} itself` }];
    if (seen.has(lower)) return [{ name, message: `the header ${name} is given twice` }];
    seen.add(lower);
    return [];
  });
}

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
  const [problem] = headerProblems(Object.keys(values.headers ?? {}));
  if (problem) {
    const where = layer.where(["headers", problem.name]);
    throw new CliError("not-configured", `${where}: ${problem.message}`, {
      hints: ["leave it out; keys are accessToken and apiKey, and case makes no difference"],
    });
  }
  for (const [name, secret] of Object.entries(values.headers ?? {})) {
    const path = ["headers", name] as const;
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
