/** A shorter secret is not redacted: it would match ordinary text. */
export const shortestSecret = 6;

// In base64 the same bytes look different after 0, 1 or 2 other bytes. Characters at
// either end that depend on neighbouring bytes are dropped.
function base64Spellings(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [0, 1, 2].flatMap((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString("base64")
      .replace(/=+$/, "");
    const start = [0, 2, 3][offset] ?? 0;
    const inner = text.slice(start, Math.floor(((offset + bytes.length) * 8) / 6));
    return [text.slice(start), inner];
  });
}

/** A code unit as an escape of JSON. */
function escapeOf(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/**
 * Encodings of a secret: plain, URL-encoded, JSON-escaped, hexadecimal, and base64, also inside a
 * longer base64 text. Drops encodings shorter than `shortestSecret`.
 */
export function spellings(secret: string): string[] {
  // encodeURIComponent throws on half a surrogate pair; converting to bytes and back replaces it.
  const wellFormed = Buffer.from(secret).toString();
  const encoded = encodeURIComponent(wellFormed);
  const json = JSON.stringify(secret).slice(1, -1);
  const base64 = base64Spellings(secret);
  const hex = Buffer.from(secret).toString("hex");
  const escaped = secret.replace(/[^]/g, escapeOf);
  const all = [
    secret,
    encoded,
    encoded.replace(/%../g, (code) => code.toLowerCase()),
    encoded.replaceAll("%20", "+"),
    encodeURI(wellFormed),
    json,
    json.replaceAll("/", "\\/"),
    json.replace(/[^ -~]/g, escapeOf),
    escaped,
    escaped.replace(/[\da-f]{4}/g, (digits) => digits.toUpperCase()),
    ...base64,
    ...base64.map((text) => text.replaceAll("+", "-").replaceAll("/", "_")),
    hex,
    hex.toUpperCase(),
  ];
  return [...new Set(all)].filter((text) => text.length >= shortestSecret);
}
