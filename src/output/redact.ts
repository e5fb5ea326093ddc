/** Secrets of this run. A registered secret never reaches a sink, even where a server echoes it. */
export interface Secrets {
  /** Shorter than 6 characters is not redacted: it would shred ordinary text. */
  add(secret: string): void;
  /** Replaces every registered secret, plain, URL-encoded, base64 or JSON-escaped, by `***`. */
  redact(text: string): string;
  /** How many characters at the end of `text` may be the beginning of a secret (0 mostly). */
  openTail(text: string): number;
}

const shortestSecret = 6;

function spellings(secret: string): string[] {
  return [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(secret).toString("base64").replace(/=+$/, ""),
  ];
}

export function createSecrets(): Secrets {
  let known: string[] = [];
  return {
    add(secret) {
      if (secret.length < shortestSecret) return;
      // Longest first, so that no spelling is cut by a shorter one inside it.
      known = [...new Set([...known, ...spellings(secret)])].toSorted((a, b) => b.length - a.length);
    },
    redact(text) {
      let clean = text;
      for (const secret of known) if (clean.includes(secret)) clean = clean.replaceAll(secret, "***");
      return clean;
    },
    openTail(text) {
      let longest = 0;
      for (const secret of known) {
        for (let length = Math.min(secret.length - 1, text.length); length > longest; length--) {
          if (text.endsWith(secret.slice(0, length))) longest = length;
        }
      }
      return longest;
    },
  };
}

const registries = new WeakMap<object, Secrets>();

/** The secrets of a run: one registry per context, shared by every gate of that run. */
export function secretsOf(context: object): Secrets {
  let secrets = registries.get(context);
  if (!secrets) registries.set(context, (secrets = createSecrets()));
  return secrets;
}
