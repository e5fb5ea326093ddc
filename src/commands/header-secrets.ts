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
