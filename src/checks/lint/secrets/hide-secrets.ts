import { findSecrets } from "./find-secrets.ts";

/** A text for a message: of each secret in it, no more than the first two characters. */
export function hideSecrets(text: string): string {
  let shown = "";
  let at = 0;
  for (const { rule, start, end } of findSecrets(text)) {
    if (start < at) continue;
    if (rule === "secret-private-key") {
      // The span is that of its first line. The key follows, to its last line.
      const last = text.indexOf("-----END", end);
      shown += `${text.slice(at, start)}private key…`;
      at = last === -1 ? text.length : last;
    } else {
      shown += `${text.slice(at, start + 2)}…`;
      at = end;
    }
  }
  return shown + text.slice(at);
}
