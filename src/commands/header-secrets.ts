const longestWord = 15;

/** Letters and spaces that a gateway may want: `X-Team: platform`. Every text has such words. */
const isWord = (text: string): boolean => text.length <= longestWord && /^[a-z -]+$/i.test(text);

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
 * `Bearer`, which a server may echo alone. Leaves out short values of letters only: the word
 * would be removed from every text, and no connector would be found by its name.
 */
export function headerSecrets(headers: Readonly<Record<string, string>> = {}): string[] {
  return Object.entries(headers)
    .flatMap(([name, value]) => [value, ...partsOf(name, value)])
    .filter((text) => text !== "" && !isWord(text));
}
