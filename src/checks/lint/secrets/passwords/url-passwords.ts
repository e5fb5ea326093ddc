import { inLetters, isMadeUp } from "../made-up.ts";
import type { Secret } from "../secret.ts";

/** Longest user with password, in characters. */
const reach = 300;
const credentials =
  /\b[a-z][a-z0-9+.-]{1,20}:\/\/([^\s/?#@:"'`<>|\\]{0,100}):([^\s/?#@"'`<>|\\]{5,150})$/i;
const hostAfter = /^[\w.-]+/;

// Names for documentation and tests (RFC 2606, RFC 6761), and machines that only the reader has.
const notRemote =
  /^(?:localhost|127\.|0\.0\.0\.0|192\.0\.2\.|198\.51\.100\.|203\.0\.113\.|[^.]+$)|(?:^|\.)(?:example|test|invalid|localhost|local)$|(?:^|\.)example\.|(?:my|your|some)-?(?:host|server|domain|site|company|proxy|org)|^(?:host|hostname|server|domain|company|proxy|site)\.|(?:^|\.)company\.[a-z]+$|\.hostname$/i;
const words =
  /^\W*(?:my|your|some|the|db|redis|mysql|pg|postgres|user|admin|root|guest|test|se[ck]ret|super|strong|very|app|api|auth|client|access)*[-_]?(?:pass(?:word|wd|phrase)?|passwort|pwd|pw|se[ck]ret|token|key|id|credentials?|user(?:name)?|admin|root|guest|test|hunter2|x-oauth-basic|postgres|mysql|redis)?[-_]?[\d!*.]*$/i;
const marks = /^\$|^%.*%$|[{}[\]()*…]|\.\.\.|^x{3,}$/i;
// `KEY:DOMAIN@`: what the reader fills in.
const blank = /^[A-Z]+(?:[_-][A-Z]+)*$/;

/** Whether a host may be a machine of somebody, not one of an example or of the reader. */
export const isRemote = (host: string): boolean => host !== "" && !notRemote.test(host);

/** What an escaped password says: `p%40ssw0rd`. */
function decoded(password: string): string {
  try {
    return decodeURIComponent(password);
  } catch {
    return password;
  }
}

/** Passwords in URLs such as `https://user:password@host`; not those of examples. */
export function* urlPasswords(text: string): Generator<Secret> {
  for (let at = text.indexOf("@"); at !== -1; at = text.indexOf("@", at + 1)) {
    const before = text.slice(Math.max(0, at - reach), at);
    if (!before.includes("://")) continue;
    const [, user, password] = credentials.exec(before) ?? [];
    if (user === undefined || password === undefined) continue;
    const host = hostAfter.exec(text.slice(at + 1, at + 1 + reach))?.[0] ?? "";
    if (!isRemote(host)) continue;
    if (user === password || words.test(password) || marks.test(password)) continue;
    if (words.test(inLetters(decoded(password)))) continue;
    if ((blank.test(user) && blank.test(password)) || isMadeUp(password)) continue;
    const kind = "password in a URL";
    yield { rule: "secret-url-password", kind, start: at - password.length, end: at };
  }
}
