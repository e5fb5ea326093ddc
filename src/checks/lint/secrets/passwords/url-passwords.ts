import { entropyOf, inLetters, isMadeUp } from "../made-up.ts";
import { hasRandomChanges, hasWord } from "./named-passwords.ts";
import type { Secret } from "../secret.ts";

/** Longest user with password, in characters. */
const reach = 300;
const credentials =
  /\b[a-z][a-z0-9+.-]{1,20}:\/\/([^\s/?#@:"'`<>|\\]{0,100}):([^\s?#"'`<>|\\]{5,150})$/i;
const hostAfter = /^(?:\[[\da-f:.]{2,45}\]|[\w.-]+)/i;
// A later "@" ends the password.
const otherEnd = /^[^\s/?#@"'`<>|\\]{0,100}@/;

// Names for documentation and tests (RFC 2606, RFC 6761), and machines that only the reader has.
const notRemote =
  /^(?:localhost|127\.|0\.0\.0\.0|192\.0\.2\.|198\.51\.100\.|203\.0\.113\.|\[(?:::1|2001:db8:.*)\]$|(?:host|hostname|server|domain|address)$)|(?:^|\.)(?:example|test|invalid|localhost)$|(?:^|\.)example\.|(?:my|your|some)-?(?:host|server|domain|site|company|proxy|org)|^(?:host|hostname|server|domain|company|site)\.|(?:^|\.)(?:company|domain)\.[a-z]+$|\.hostname$/i;
const words =
  /^\W*(?:my|your|some|the|db|redis|mysql|pg|postgres|user|admin|root|guest|test|se[ck]ret|super|strong|very|app|api|auth|client|access)*[-_]?(?:pass(?:word|wd|phrase)?|passwort|pwd|pw|se[ck]ret|token|key|id|credentials?|user(?:name)?|admin|root|guest|test|hunter2|x-oauth-basic|postgres|mysql|redis)?[-_]?[\d!*.]*$/i;
// Names that no public server has. Examples use them too: only a random password counts.
const isPrivate = /^[^.]+$|\.local$|^(?:proxy|db|server)\./i;
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

// `{{password}}`, `${PASSWORD}`, `$(cat file)`, `[password]`, `%PASSWORD%`, `$PASSWORD`.
const blanks =
  /\$?\{{1,2}[^{}]*\}|\$\([^()]*\)|\[[^[\]]*\]|%\w+%|^\([^()]*\)$|\.\.\.|…|\*{3}|^x{3,}|^\$[A-Za-z_]\w*$/;

/** Whether a value is one that a program made up: letters, digits and no word. */
function isStrong(password: string): boolean {
  if (password.length < 8 || !/\d/.test(password) || !/[a-z]/i.test(password)) return false;
  // Also a `$NAME` with digits in it is a variable.
  if (blanks.test(password) || entropyOf(password) < 2.9) return false;
  return hasRandomChanges(password) || !hasWord(password);
}

/** Whether a password or its host could also be part of an example, a path or a template. */
function isDoubtful(password: string, host: string): boolean {
  return marks.test(password) || /[/@]/.test(password) || isPrivate.test(host);
}

/** Passwords in URLs such as `https://user:password@host`; not those of examples. */
export function* urlPasswords(text: string): Generator<Secret> {
  for (let at = text.indexOf("@"); at !== -1; at = text.indexOf("@", at + 1)) {
    const before = text.slice(Math.max(0, at - reach), at);
    if (!before.includes("://")) continue;
    const [, user, password] = credentials.exec(before) ?? [];
    if (user === undefined || password === undefined) continue;
    // `host:8080/path@`.
    if (/^\d{1,5}\//.test(password) || otherEnd.test(text.slice(at + 1, at + 102))) continue;
    const host = hostAfter.exec(text.slice(at + 1, at + 1 + reach))?.[0] ?? "";
    if (!isRemote(host)) continue;
    if (user === password || words.test(password)) continue;
    if (isDoubtful(password, host) && !isStrong(password)) continue;
    if (words.test(inLetters(decoded(password)))) continue;
    if ((blank.test(user) && blank.test(password)) || isMadeUp(password)) continue;
    const kind = "password in a URL";
    yield { rule: "secret-url-password", kind, start: at - password.length, end: at };
  }
}
