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
