import { entropyOf, inLetters, isMadeUp, saysPassword } from "../made-up.ts";
import type { Secret } from "../secret.ts";
import { hasStopword } from "../stopwords.ts";

/** Parts of the names of passwords; a text without one has no password that only its name shows. */
export const passwordMarks: readonly string[] = ["assw", "ASSW", "pwd", "Pwd", "PWD"];

const name = /[Pp]assw(?:or)?d|PASSW(?:OR)?D|pwd|Pwd|PWD/g;
// After the name: an assignment in programs, configurations, connection strings, URLs, tables and
// HTML; a space in .netrc files and options. A value in quotes ends at the next quote; one in a URL
// ends where the next parameter begins.
const value =
  /["'`*\\)\]]{0,4}(?:[ \t]{0,3}(?:={1,2}>?|:=?|\||(?:<\/?[a-z]{1,8}>[ \t]{0,3}){1,6}|\b(?:is|to)\b)[ \t]{0,3}|[ \t]{1,3})(?:\\?(["'`])([^\s"'`\\]{10,64})\\?\1|((?:[^\s"'`<>|;&,\\]|&(?![\w.-]{1,30}=)){10,64})(?![^\s"'`<>|;&,\\]))/y;

const isVariable = /^\$[A-Z_a-z]|^%.*%$|[{}[\]()…]|\.\.\./;
const isMember = /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$/;
/** Whether a value contains a word, also one in which signs stand for letters: `P@ssw0rd`. */
export const hasWord = (text: string): boolean =>
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
export function hasRandomChanges(text: string): boolean {
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
