import { isSecretName } from "./members.ts";
import type { Secret } from "./schema.ts";
import { withoutCredentials } from "./url.ts";

const masked = "***";

/** Masks the value of a secret; a reference to a secret stays visible. */
function maskSecret(secret: Secret): Secret {
  return typeof secret === "string" ? masked : secret;
}

/** Describes a secret in one line, for tables. */
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
  if (key === "headers" && typeof value === "object" && value !== null) {
    const headers = Object.entries(value as Record<string, Secret>);
    return Object.fromEntries(headers.map(([name, secret]) => [name, maskCommand(secret)]));
  }
  if ((key === "baseUrl" || key === "proxy") && typeof value === "string")
    return withoutCredentials(value);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  // Users choose the names in metadata: a name like apiKey marks no secret there.
  if (key === "metadata" || key === "tags") return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, maskValue(inner, name)]),
  );
}
