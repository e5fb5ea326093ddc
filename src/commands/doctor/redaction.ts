import { hostname, userInfo } from "node:os";
import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import type { Context } from "../../context.ts";
import { createSecrets, type Secrets } from "../../output/terminal/redact.ts";

/** Names of variables whose values are secrets, for any program. */
const secretNames = /key|token|secret|passw|credential|auth|cookie|session/i;
/** Generic accounts that identify nobody: replacing these words would damage the text. */
const genericAccounts = new Set([
  "root",
  "user",
  "node",
  "runner",
  "nobody",
  "admin",
  "ubuntu",
  "test",
]);
const minNameLength = 2;

function userNames(env: Context["env"], home: string): string[] {
  let own: string | undefined;
  try {
    own = userInfo().username;
  } catch {
    // The user id has no account.
  }
  const names = [
    own,
    env["USER"],
    env["LOGNAME"],
    env["USERNAME"],
    env["SUDO_USER"],
    basename(home),
  ];
  const known = names.filter((name) => name !== undefined && name.length >= minNameLength);
  return [...new Set(known as string[])].filter((name) => !genericAccounts.has(name.toLowerCase()));
}

const escape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Matches the text as a whole word, in any case; `_` and `-` end a word. */
function wholeWord(text: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}])${escape(text)}(?![\\p{L}\\p{N}])`, "giu");
}

function replacements(env: Context["env"], home: string): [pattern: RegExp, by: string][] {
  const homes = [...new Set([home, env["HOME"], env["USERPROFILE"]])].filter(
    (folder) => folder !== undefined && folder.length > 1,
  ) as string[];
  const spelt = homes.flatMap((folder) => [
    pathToFileURL(folder).pathname.replace(/\/$/, ""),
    folder.replace(/[/\\]$/, ""),
    encodeURIComponent(folder),
  ]);
  const machine = hostname();
  return [
    ...[...new Set(spelt)].map((text): [RegExp, string] => [new RegExp(escape(text), "gi"), "~"]),
    ...userNames(env, home).map((name): [RegExp, string] => [wholeWord(name), "<user>"]),
    ...(machine.length > 2 && machine !== "localhost"
      ? [[wholeWord(machine), "<machine>"] as [RegExp, string]]
      : []),
  ];
}

/** The values in a URL's query and its fragment. */
function addressParts(value: string): string[] {
  const url = /^https?:/i.test(value) && URL.canParse(value) ? new URL(value) : undefined;
  return url ? [...url.searchParams.values(), url.hash.slice(1)] : [];
}

function secretsOfEnvironment(env: Context["env"]): Secrets {
  const secrets = createSecrets();
  for (const [name, value = ""] of Object.entries(env)) {
    // The sandbox's key is public, and an ordinary word.
    if (secretNames.test(name) && value !== "sandbox") secrets.add(value);
    const login = /^(?:[a-z][a-z\d+.-]*:\/\/)?([^/@:]*):([^@]*)@/i.exec(value);
    for (const part of login?.slice(1) ?? []) secrets.add(part);
    for (const part of addressParts(value)) secrets.add(part);
  }
  return secrets;
}

/**
 * Returns a function that redacts plain data for a ticket: registered secrets, values of
 * variables with a secret-like name, the home folder (`~`), the names of user and machine.
 * Member names stay.
 */
export function createRedaction(
  context: Context,
  registered: Secrets,
  home: string,
): (value: unknown) => unknown {
  const secrets = secretsOfEnvironment(context.env);
  const patterns = replacements(context.env, home);
  const clean = (text: string): string => {
    const safe = secrets.redact(registered.redact(text));
    return patterns.reduce((all, [pattern, by]) => all.replace(pattern, by), safe);
  };
  const walk = (value: unknown): unknown => {
    if (typeof value === "string") return clean(value);
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, walk(inner)]));
  };
  return walk;
}
