import { entropyOf, isMadeUp, saysPassword, hasStopword } from "./pack.ts";
import { pack, type AssignedForm } from "./pack.ts";
import { isLikelyPassword } from "./passwords.ts";
import type { Secret } from "./pack.ts";
import type { Span } from "../rule.ts";

// What may stand between the name of a value and the value, in programs, configurations, tables and
// prose. As in the pack, with backslashes (JSON in a string), the border of a cell, and tags.
const operator = String.raw`(?:=|:{1,3}=|\|{1,2}|:|=>|>|\?=|,|\b(?:is|to)\b|(?:</?[a-z]{1,8}>\s{0,4}){2,6})`;
const assignment = String.raw`[ \t\w.-]{0,20}[\s'"*\x60\\]{0,4}${operator}[\x60'"\s=*\\]{0,5}$`;
// The longest name with what may stand between it and its value.
const reach = 80;

interface Form extends AssignedForm {
  name: RegExp;
  value: RegExp;
}

let compiled: Form[] | undefined;
const forms = (): Form[] =>
  (compiled ??= pack.assigned.map((each) => ({
    ...each,
    name: new RegExp(`(?:${each.names})${assignment}`, "i"),
    value: new RegExp(`^(?:${each.pattern})$`, each.flags),
  })));

const names = [...new Set(pack.assigned.map((each) => each.names))].join("|");
const anyName = new RegExp(`(?:${names})${assignment}`, "i");
// The last word of the name decides: a `token_type` or an `auth_id` is no secret.
const genericName = new RegExp(
  String.raw`(?:secret|token|passw(?:or)?d|passphrase|credentials?|(?:api|access|account|admin|auth|client|deploy|(?:en|de)cryption|license|master|private|secret|service|signing)[ _.-]?key)s?[\s'"*\x60\\)\]]{0,4}${operator}[\x60'"\s=*\\(]{0,5}$|\bbearer\s+$`,
  "i",
);
// Tokens that are worth nothing after minutes, or without another one.
const briefName =
  /(?:state|session|page|search|next|sync|cursor|continuation|csrf|xsrf|device|id|nonce|recovery|request|public|refresh|mfa|otp|activation|verification|anti.?forgery)[_.-]?(?:token|key)|[?&](?:ss|invite|share)?[_-]?token=$/i;
// The values beside it are those of an example as well.
const exampleKey = /\bAKIA[A-Z0-9]{9}EXAMPLE\b/;
const otherName = new RegExp(pack.generic.otherNames, "i");
const hashName =
  /(?:sha-?\d*|md5|hash|checksum|digest|commit|revision|\brev|integrity|fingerprint|etag|uuid|guid)[^\n]{0,40}$/i;
// UUIDs, numbers in hexadecimal, names of variables, and JSON Web Tokens, which are a known form.
const otherForm =
  /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$|^0x|^[a-z]+(?:_[a-z0-9]+)+=*$|^[A-Z]+(?:_[A-Z0-9]+)+=*$|^eyJ|\.\./;
// What is cut is no secret any more.
const cut = /^\s?(?:\.\.|…|\[\.|<[a-z])/;

const bearer = /\bbearer\s+$/i;
// A header of a request, and the configurations of Docker and npm.
const basicName = /\bbasic\s+["'`]?$|\b_?auth\\?["']?\s{0,3}[:=]\s{0,3}\\?["'`]?$/i;

/** Whether an assignment may end at an offset. It saves most expressions for most runs. */
export function mayBeAssigned(text: string, at: number): boolean {
  for (let index = at - 1; index >= Math.max(0, at - 6); index--) {
    const each = text.charAt(index);
    if ("=>:,|".includes(each)) return true;
    if (!" \t\r\n'\"`*\\(".includes(each))
      return /\b(?:bearer|basic|is|to)$/i.test(text.slice(Math.max(0, index - 6), index + 1));
  }
  return false;
}

// What Base64 and escaped URLs have besides the characters of a run.
const inValue = /[\w.+/~%-]/;
const longestValue = 400;

/** The value around a run. */
function valueAt(text: string, { start, end }: Span): Span {
  let from = start;
  while (from > 0 && start - from < longestValue && inValue.test(text.charAt(from - 1))) from--;
  let to = end;
  while (to < text.length && to - end < longestValue && inValue.test(text.charAt(to))) to++;
  while (to > from && /[.~]/.test(text.charAt(to - 1))) to--;
  for (let count = 0; count < 2 && text.charAt(to) === "="; count++) to++;
  return { start: from, end: to };
}

/** A value without a form of its own: only a random one whose name says that it is secret. */
function isGenericSecret(value: string, context: string): boolean {
  if (!genericName.test(context) || briefName.test(context)) return false;
  if (exampleKey.test(context)) return false;
  // The header in front of a bearer has the name of an author.
  if (otherName.test(context) && !bearer.test(context)) return false;
  if (!/^[a-z0-9][\w.+/=-]{15,149}$/i.test(value) || otherForm.test(value)) return false;
  // Keys in hexadecimal have a usual length. Random ones have few different digits, and seem to have words.
  if (/^[0-9a-f]+$/i.test(value)) {
    return value.length >= 32 && value.length % 8 === 0 && entropyOf(value) > 3;
  }
  if (hasStopword(value) || saysPassword(value)) return false;
  return entropyOf(value) > 3.7 && !isEncodedText(value);
}

/** Whether a value is Base64 of words: an example, or no secret of a random kind. */
function isEncodedText(value: string): boolean {
  if (value.length % 4 !== 0 || !/^[A-Za-z0-9+/]+=*$/.test(value)) return false;
  const text = Buffer.from(value, "base64").toString("latin1");
  const isWords = /^[a-z]{3,}(?:[-_. ][a-z]{3,})+$/i.test(text);
  return /^[\t\n\r -~]+$/.test(text) && (isWords || hasStopword(text) || isMadeUp(text));
}

/** Whether a value is a user with a password in Base64. */
function isBasicSecret(value: string): boolean {
  const text = Buffer.from(value, "base64").toString("latin1");
  const colon = text.indexOf(":");
  return colon > 0 && /^[ -~]+$/.test(text) && isLikelyPassword(text.slice(colon + 1));
}

function kindOf(value: string, context: string): string | undefined {
  if (basicName.test(context) && isBasicSecret(value)) return "user and password";
  const isNamed = anyName.test(context);
  if (!isNamed && !genericName.test(context)) return undefined;
  if (!/\d/.test(value) || !/[a-z]/i.test(value) || hashName.test(context)) return undefined;
  const bits = entropyOf(value);
  if (bits < 3 || isMadeUp(value)) return undefined;
  const form = isNamed
    ? forms().find(
        (each) => each.value.test(value) && each.name.test(context) && bits > (each.entropy ?? 0),
      )
    : undefined;
  return form?.id ?? (isGenericSecret(value, context) ? "generic-api-key" : undefined);
}

/** Secrets that only their names show, such as `api_key = …`. `runs` as from longRuns(). */
export function* assignedSecrets(text: string, runs: readonly Span[]): Generator<Secret> {
  let searched = 0;
  for (const run of runs) {
    if (run.start < searched) continue;
    const { start, end } = valueAt(text, run);
    searched = end;
    const context = text.slice(Math.max(0, start - reach), start);
    if (!mayBeAssigned(text, start) || cut.test(text.slice(end, end + 4))) continue;
    const kind = kindOf(text.slice(start, end), context);
    if (kind !== undefined) yield { rule: "secret-assigned", kind, start, end };
  }
}
