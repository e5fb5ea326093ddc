function objectIn(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString());
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether somebody can sign in with a JSON Web Token: its header and claims can be read, and it has
 * not expired. Examples in documentation have expired, or their claims are cut.
 */
export function isValidToken(token: string, nowMs = Date.now()): boolean {
  const [header = "", payload = ""] = token.split(".");
  const claims = objectIn(payload);
  if (!objectIn(header) || !claims) return false;
  if (typeof claims["exp"] === "number" && claims["exp"] * 1000 < nowMs) return false;
  return !/1234567890|example|John Doe|"some":"payload"/i.test(JSON.stringify(claims));
}

/** Whether a token names the address that it leads to, as in the links of a mail that counts clicks. */
export function leadsToAddress(token: string): boolean {
  const url = objectIn(token.split(".")[1] ?? "")?.["url"];
  return typeof url === "string" && url.startsWith("http");
}
