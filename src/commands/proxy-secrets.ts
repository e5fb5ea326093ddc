/** The password of a proxy's address, as it is written there and as it is meant. */
export function proxySecrets(proxy: string | undefined): string[] {
  const written = proxy === undefined || !URL.canParse(proxy) ? "" : new URL(proxy).password;
  if (written === "") return [];
  try {
    return [written, decodeURIComponent(written)];
  } catch {
    return [written];
  }
}
