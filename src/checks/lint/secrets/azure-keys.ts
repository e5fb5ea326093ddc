import { isMadeUp } from "./made-up.ts";
import type { Secret } from "./secret.ts";

/** Parts of the names in front of keys and signatures; a text without one of them has none. */
export const azureMarks: readonly string[] = ["AccountKey=", "SharedAccessKey=", "sig="];

// Keys of storage, Cosmos DB, Service Bus and IoT Hub: 64 or 32 bytes in Base64.
// https://learn.microsoft.com/azure/storage/common/storage-configure-connection-string
const key = /\b(AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{86}==|[A-Za-z0-9+/]{43}=)/g;

// A signature has 32 bytes, in Base64 or Base64url, with escapes in a URL.
// https://learn.microsoft.com/azure/storage/common/storage-sas-overview
const signature = /[?&;]sig=((?:[\w+/-]|%2[BbFf]){43}(?:=|%3[Dd])?)(?![\w%+/-])/g;
/** Longest part of a URL before or after its signature, in characters. */
const reach = 500;
const inUrl = /[^\s"'`<>()]*/y;
const urlBefore = /[^\s"'`<>()]*$/;
const expiry = /[?&;]se=(\d{4}-\d\d-\d\d)/;

/** Whether a URL grants access: it says to what or by which version, and has not expired. */
function grantsAccess(url: string): boolean {
  if (!/[?&;]sp=/.test(url) || !/[?&;]sv=/.test(url)) return false;
  const [, last] = expiry.exec(url) ?? [];
  return last === undefined || Date.parse(last) + 86_400_000 > Date.now();
}

/** The URL around an offset. */
function urlAround(text: string, at: number): string {
  inUrl.lastIndex = 0;
  const before = urlBefore.exec(text.slice(Math.max(0, at - reach), at))?.[0] ?? "";
  return before + (inUrl.exec(text.slice(at, at + reach))?.[0] ?? "");
}

/** Keys in connection strings of Azure, and signatures in its URLs (SAS). */
export function* azureKeys(text: string): Generator<Secret> {
  if (!azureMarks.some((each) => text.includes(each))) return;
  for (const { 0: whole, 1: name, 2: value = "", index } of text.matchAll(key)) {
    if (isMadeUp(value)) continue;
    const kind = name === "AccountKey" ? "azure-account-key" : "azure-shared-access-key";
    const end = index + whole.length;
    yield { rule: "secret-token", kind, start: end - value.length, end };
  }
  for (const { 0: whole, 1: value = "", index } of text.matchAll(signature)) {
    if (isMadeUp(value) || !grantsAccess(urlAround(text, index))) continue;
    const end = index + whole.length;
    yield { rule: "secret-token", kind: "azure-sas", start: end - value.length, end };
  }
}
