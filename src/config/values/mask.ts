import { isSecretName } from "./members.ts";
import type { Secret } from "./schema.ts";
import { withoutCredentials } from "./url.ts";

const masked = "***";

/** A secret for people: never its value; where it is found may be shown. */
function maskSecret(secret: Secret): Secret {
  return typeof secret === "string" ? masked : secret;
}

/** In one word or line, for tables. */
export function describeSecret(secret: Secret | undefined): string {
  if (secret === undefined) return "";
  if (typeof secret === "string") return secret.trim() === "" ? "(empty)" : masked;
  if ("env" in secret) return `variable ${secret.env}`;
  if ("file" in secret) return `file ${secret.file}`;
  // Arguments of a command may hold secrets of their own.
  return `command ${secret.command[0] ?? ""}`;
}

function maskCommand(secret: Secret): unknown {
  if (typeof secret === "object" && "command" in secret) {
    return { command: [secret.command[0], ...(secret.command.length > 1 ? [masked] : [])] };
  }
  return maskSecret(secret);
}

/** A copy of any part of a configuration that is safe to show. `key` is the last word of its path. */
export function maskValue(value: unknown, key: string): unknown {
  if (isSecretName(key)) return maskCommand(value as Secret);
  if ((key === "baseUrl" || key === "proxy") && typeof value === "string")
    return withoutCredentials(value);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  // Metadata has names of the user's own choice: nothing in it is a secret of ours.
  if (key === "metadata" || key === "tags") return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, maskValue(inner, name)]),
  );
}
