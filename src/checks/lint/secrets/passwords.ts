import { decodePercent } from "../../../documents/files/file-name.ts";
import { entropyOf, inLetters, isMadeUp, saysPassword, hasStopword } from "./pack.ts";
import type { Secret } from "./pack.ts";

/** Parts of the names of passwords; a text without one has no password that only its name shows. */
const passwordMarks: readonly string[] = ["assw", "ASSW", "pwd", "Pwd", "PWD"];

const name = /[Pp]assw(?:or)?d|PASSW(?:OR)?D|pwd|Pwd|PWD/g;
// After the name: an assignment in programs, configurations, connection strings, URLs, tables and
// HTML; a space in .netrc files and options. A value in quotes ends at the next quote; one in a URL
// ends where the next parameter begins.
const value =
  /["'`*\\)\]]{0,4}(?:[ \t]{0,3}(?:={1,2}>?|:=?|\||(?:<\/?[a-z]{1,8}>[ \t]{0,3}){1,6}|\b(?:is|to)\b)[ \t]{0,3}|[ \t]{1,3})(?:\\?(["'`])([^\s"'`\\]{10,64})\\?\1|((?:[^\s"'`<>|;&,\\]|&(?![\w.-]{1,30}=)){10,64})(?![^\s"'`<>|;&,\\]))/y;

const isVariable = /^\$[A-Z_a-z]|^%.*%$|[{}[\]()…]|\.\.\./;
const isMember = /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$/;
/** Whether a value contains a word, also one in which signs stand for letters: `P@ssw0rd`. */
const hasWord = (text: string): boolean =>
  hasStopword(text) || hasStopword(inLetters(text)) || saysPassword(text);

/** Whether a value may be a password of somebody: not the word of an example. */
export function isLikelyPassword(text: string): boolean {
  if (text.length < 10 || !/\d/.test(text) || !/[a-z]/i.test(text)) return false;
  return entropyOf(text) >= 3 && !isVariable.test(text) && !isMadeUp(text) && !hasWord(text);
}

function kindOfCharacter(each: string): number {
  if (/[a-z]/.test(each)) return 0;
  if (/[A-Z]/.test(each)) return 1;
  return /\d/.test(each) ? 2 : 3;
}

/** Whether a value changes between letters of both cases, digits and signs as random values do. */
function hasRandomChanges(text: string): boolean {
  if (!/[a-z]/.test(text) || !/[A-Z]/.test(text)) return false;
  let changes = 0;
  for (let at = 1; at < text.length; at++) {
    if (kindOfCharacter(text.charAt(at)) !== kindOfCharacter(text.charAt(at - 1))) changes++;
  }
  return changes >= 0.4 * text.length;
}

/** Whether a value mixes letters of both cases and digits as only random values do. */
const isRandom = (text: string): boolean =>
  hasRandomChanges(text) && isLikelyPassword(text) && !isMember.test(text);

/** What a value says: manifests of Kubernetes have passwords in Base64. */
function plain(text: string): string {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]+=*$/.test(text)) return text;
  const decoded = Buffer.from(text, "base64").toString("latin1").trimEnd();
  return /^[ -~]+$/.test(decoded) ? decoded : text;
}

// Such a link is made for everybody who may read the page.
const meeting = /\bzoom(?:gov)?\.(?:us|com)\/[^\s"<>()]{1,100}[?&]$/;

/** Random passwords that only their names show, also short ones: `password: …`. */
export function* passwords(text: string): Generator<Secret> {
  if (!passwordMarks.some((each) => text.includes(each))) return;
  for (const match of text.matchAll(name)) {
    value.lastIndex = match.index + match[0].length;
    const found = value.exec(text);
    // What ends a sentence, a remark in parentheses, or the address of a link.
    const written = (found?.[2] ?? found?.[3] ?? "").replace(/[.:)\]]+$/, "");
    if (found === null || !isRandom(plain(written))) continue;
    if (meeting.test(text.slice(Math.max(0, match.index - 130), match.index))) continue;
    const start = found.index + found[0].lastIndexOf(written);
    yield { rule: "secret-assigned", kind: "password", start, end: start + written.length };
  }
}

/** Longest user with password, in characters. */
const urlReach = 300;
const credentials =
  /\b[a-z][a-z0-9+.-]{1,20}:\/\/([^\s/?#@:"'`<>|\\]{0,100}):([^\s?#"'`<>|\\]{5,150})$/i;
// No URL goes on behind these.
const urlEnd = /[\s?#"'`<>|\\]/;
const hostAfter = /^(?:\[[\da-f:.]{2,45}\]|[\w.-]+)/i;
// A later "@" ends the password.
const otherEnd = /^[^\s/?#@"'`<>|\\]{0,100}@/;

// Names for documentation and tests (RFC 2606, RFC 6761), and machines that only the reader has.
const notRemote =
  /^(?:localhost|127\.|0\.0\.0\.0|192\.0\.2\.|198\.51\.100\.|203\.0\.113\.|\[(?:::1|2001:db8:.*)\]$|(?:host|hostname|server|domain|address)$)|(?:^|\.)(?:example|test|invalid|localhost)$|(?:^|\.)example\.|(?:my|your|some)[-.]?(?:host|server|domain|site|company|proxy|org)|^(?:host|hostname|server|domain|company|site)\.|(?:^|\.)(?:company|domain)\.[a-z]+$|\.hostname$/i;
const words =
  /^\W*(?:my|your|some|the|db|redis|mysql|pg|postgres|user|admin|root|guest|test|se[ck]ret|super|strong|very|app|api|auth|client|access)*[-_]?(?:pass(?:word|wd|phrase)?|passwort|pwd|pw|se[ck]ret|token|key|id|credentials?|user(?:name)?|admin|root|guest|test|hunter2|x-oauth-basic|postgres|mysql|redis)?[-_]?[\d!*.]*$/i;
// Names that no public server has. Examples use them too: only a random password counts.
const isPrivate = /^[^.]+$|\.local$|^(?:proxy|db|server)\./i;
const marks = /^\$|^%.*%$|[{}[\]()*…]|\.\.\.|^x{3,}$/i;
// `KEY:DOMAIN@`: what the reader fills in.
const blank = /^[A-Z]+(?:[_-][A-Z]+)*$/;

/** Whether a host may be a machine of somebody, not one of an example or of the reader. */
const isRemote = (host: string): boolean => host !== "" && !notRemote.test(host);

// `{{password}}`, `${PASSWORD}`, `$(cat file)`, `[password]`, `%PASSWORD%`.
const blanks =
  /\$?\{{1,2}[^{}]*\}|\$\([^()]*\)|\[[^[\]]*\]|%\w+%|^\([^()]*\)$|\.\.\.|…|\*{3}|^x{3,}/;

/** Whether a password is the name of a variable: `$PASSWORD_2`. Names are not random. */
const isVariableName = (password: string): boolean =>
  /^\$[A-Za-z_]\w*$/.test(password) && !(hasRandomChanges(password) && /\d[A-Za-z]/.test(password));

/** Whether a value is one that a program made up: letters, digits and no word. */
function isStrong(password: string): boolean {
  if (password.length < 8 || !/\d/.test(password) || !/[a-z]/i.test(password)) return false;
  if (blanks.test(password) || isVariableName(password) || entropyOf(password) < 2.9) return false;
  return hasRandomChanges(password) || !hasWord(password);
}

/** Whether a password or its host could also be part of an example, a path or a template. */
function isDoubtful(password: string, host: string): boolean {
  return marks.test(password) || /[/@]/.test(password) || isPrivate.test(host);
}

/** Passwords in URLs such as `https://user:password@host`; not those of examples. */
export function* urlPasswords(text: string): Generator<Secret> {
  for (let at = text.indexOf("@"); at !== -1; at = text.indexOf("@", at + 1)) {
    const before = text.slice(Math.max(0, at - urlReach), at);
    if (!before.includes("://")) continue;
    // The pattern is tried at each place, and each begin of another URL is a long attempt.
    const url = before.split(urlEnd).at(-1) ?? "";
    const [, user, password] = credentials.exec(url) ?? [];
    if (user === undefined || password === undefined) continue;
    // `host:8080/path@`.
    if (/^\d{1,5}\//.test(password) || otherEnd.test(text.slice(at + 1, at + 102))) continue;
    const host = hostAfter.exec(text.slice(at + 1, at + 1 + urlReach))?.[0] ?? "";
    if (!isRemote(host)) continue;
    if (user === password || words.test(password)) continue;
    if (isDoubtful(password, host) && !isStrong(password)) continue;
    if (words.test(inLetters(decodePercent(password)))) continue;
    if ((blank.test(user) && blank.test(password)) || isMadeUp(password)) continue;
    const kind = "password in a URL";
    yield { rule: "secret-url-password", kind, start: at - password.length, end: at };
  }
}

// https://curl.se/docs/manpage.html#-u
const option =
  /\s(?:-[uU] ?|--(?:proxy-)?user[ =])\\?["']?[^\s:"'`]{0,60}:([^\s"'`\\]{10,64})(?![^\s"'`\\])/g;
/** Longest part of a command before or after the option, in characters. */
const curlReach = 500;
const continuation = /\\\r?\n/g;
const address = /(?:^|[\s"'])(?:https?:\/\/|(?=localhost\b|127\.))([\w.-]+)/i;

/** The command around an offset, its continued lines as one. */
function commandAround(text: string, at: number): string {
  const before = text.slice(Math.max(0, at - curlReach), at + 1).replace(continuation, " ");
  const after = text.slice(at + 1, at + curlReach).replace(continuation, " ");
  return before.slice(before.lastIndexOf("\n") + 1) + (/^[^\n]*/.exec(after)?.[0] ?? "");
}

/** Passwords that `curl --user name:password` sends to another machine. */
export function* curlPasswords(text: string): Generator<Secret> {
  if (!text.includes("curl")) return;
  for (const { 0: whole, 1: password = "", index } of text.matchAll(option)) {
    if (!isLikelyPassword(password)) continue;
    const command = commandAround(text, index);
    const [, host] = address.exec(command) ?? [];
    if (!/\bcurl\b/.test(command) || (host !== undefined && !isRemote(host))) continue;
    const end = index + whole.length;
    yield { rule: "secret-assigned", kind: "password", start: end - password.length, end };
  }
}
