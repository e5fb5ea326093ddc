import type { Config } from "../config/load.ts";
import { isSecretName, secretsOf } from "../config/values/members.ts";

const longestWord = 15;

/** Headers that describe a request; their values, such as the own address, stand in many texts. */
const plainNames =
  /^(?:accept|accept-language|user-agent|origin|referer|from|forwarded|x-forwarded-.+)$/;

/** What a gateway may want: `X-Team: platform engineering`. Every text has such words. */
const isWord = (text: string): boolean =>
  /^[a-z -]+$/i.test(text) && (text.length <= longestWord || text.includes(" "));

function passwordOf(login: string): string[] {
  const text = Buffer.from(login, "base64").toString();
  return text.includes(":") ? [text.slice(text.indexOf(":") + 1)] : [];
}

function partsOf(name: string, value: string): string[] {
  if (name === "cookie") {
    return value.split(/;\s*/).map((pair) => pair.slice(pair.indexOf("=") + 1));
  }
  const [, scheme = "", key = ""] = /^(basic|bearer|token|apikey)\s+(\S+)$/i.exec(value) ?? [];
  return scheme.toLowerCase() === "basic" ? [key, ...passwordOf(key)] : [key];
}

/**
 * The secrets in headers of a profile: each value, and the key in it after a scheme such as
 * `Bearer`, which a server may echo alone. Leaves out words and values that describe a request:
 * they would be removed from every text, and no connector would be found by its name.
 */
export function headerSecrets(headers: Readonly<Record<string, string>> = {}): string[] {
  return Object.entries(headers)
    .filter(([name]) => !plainNames.test(name))
    .flatMap(([name, value]) => [value, ...partsOf(name, value)])
    .filter((text) => text !== "" && !isWord(text));
}

/** The password in a proxy URL, percent-encoded and decoded. */
export function proxySecrets(proxy: string | undefined): string[] {
  const encoded = proxy === undefined || !URL.canParse(proxy) ? "" : new URL(proxy).password;
  if (encoded === "") return [];
  try {
    return [encoded, decodeURIComponent(encoded)];
  } catch {
    return [encoded];
  }
}

interface StoredSecrets {
  keys: string[];
  headers: string[];
}

/** The secrets that stand in the configuration files as text, of all profiles; not the sandbox's key. */
export function storedSecrets({ files }: Pick<Config, "files">): StoredSecrets {
  const found: StoredSecrets = { keys: [], headers: [] };
  for (const { content } of files) {
    for (const { path, secret } of Object.values(content.profiles ?? {}).flatMap(secretsOf)) {
      if (typeof secret !== "string" || secret === "sandbox") continue;
      const [kind = "", name = ""] = path;
      if (isSecretName(kind)) found.keys.push(secret);
      else found.headers.push(...headerSecrets({ [name.toLowerCase()]: secret }));
    }
  }
  return found;
}
