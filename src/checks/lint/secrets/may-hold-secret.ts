import { azureMarks, hasLongRun, privateKeyMarks } from "./known-forms.ts";
import { curlMark, passwordMarks } from "./passwords.ts";
import { shortestKey } from "./find-secrets.ts";

// One expression takes half of the time of a search for each mark. No mark has a special character.
const marks = new RegExp([...privateKeyMarks, ...passwordMarks, ...azureMarks, curlMark].join("|"));

/**
 * Creates a quick check: whether the JSON of a document may contain what findSecrets() finds in its
 * texts. It passes once over bytes that an upload has anyway, and most documents need no other
 * search. JSON leaves the characters of a run as they are; only an escape before it lengthens it.
 */
export function createMayHoldSecret(keys: readonly string[]): (json: Uint8Array) => boolean {
  const isSearched = keys.some((key) => key.length >= shortestKey && !hasLongRun(Buffer.from(key)));
  return (json) => {
    const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
    if (isSearched || hasLongRun(bytes)) return true;
    const text = bytes.toString("latin1");
    return marks.test(text) || (text.includes("@") && text.includes("://"));
  };
}
