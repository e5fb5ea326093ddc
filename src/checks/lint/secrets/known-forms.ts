import { mayBeAssigned } from "./assigned-values.ts";
import { entropyOf, isMadeUp } from "./pack.ts";
import { pack, type KnownForm } from "./pack.ts";
import type { Secret, SecretRule } from "./pack.ts";
import type { Span } from "../rule.ts";

function objectIn(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString());
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether somebody can sign in with a JSON Web Token: its header and claims can be read, and it has
 * not expired. Examples in documentation have expired, or their claims are cut.
 */
function isValidToken(token: string): boolean {
  const [header = "", payload = ""] = token.split(".");
  const claims = objectIn(payload);
  if (!objectIn(header) || !claims) return false;
  if (typeof claims["exp"] === "number" && claims["exp"] * 1000 < Date.now()) return false;
  return !/1234567890|example|John Doe|"some":"payload"/i.test(JSON.stringify(claims));
}

/** Whether a token names the address that it leads to, as in the links of a mail that counts clicks. */
function leadsToAddress(token: string): boolean {
  const url = objectIn(token.split(".")[1] ?? "")?.["url"];
  return typeof url === "string" && url.startsWith("http");
}

// Forms of the service's own keys: about 256 characters after the prefix; hosted keys contain the
// name of their tenant.
const serviceForms: readonly KnownForm[] = [
  { id: "access token", keywords: ["onyx_pat_"], pattern: String.raw`\bonyx_pat_[\w-]{16,}` },
  {
    id: "API key",
    keywords: ["on_", "dn_"],
    pattern: String.raw`\b[od]n_(?:[\w-]{1,63}\.)?[\w-]{64,}`,
  },
];

// Forms that the pack does not have, as their services describe them: Docker Hub, Google Cloud, Azure
// DevOps, Stripe.
const otherForms: readonly KnownForm[] = [
  { id: "docker-hub-token", keywords: ["dckr_"], pattern: String.raw`\bdckr_[po]at_[\w-]{20,40}` },
  { id: "google-client-secret", keywords: ["gocspx-"], pattern: String.raw`\bGOCSPX-[\w-]{28}` },
  {
    id: "azure-devops-token",
    keywords: ["azdo"],
    pattern: String.raw`\b[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}\b`,
  },
  {
    id: "stripe-webhook-secret",
    keywords: ["whsec_"],
    pattern: String.raw`\bwhsec_[A-Za-z0-9+/]{32,64}`,
  },
];

interface Form extends KnownForm {
  rule: SecretRule;
  /** Compiled when a text contains a keyword for the first time. */
  compiled?: { pattern: RegExp; allow: RegExp[] };
}

const forms: readonly Form[] = [
  ...serviceForms.map((each): Form => ({ ...each, rule: "secret-service-key" })),
  ...[...otherForms, ...pack.known].map((each): Form => ({ ...each, rule: "secret-token" })),
];
const keywords = [...new Set(forms.flatMap((each) => each.keywords))];
// Filled when a text contains a keyword: for all of them it takes as long as reading 100 documents.
const formsOf = new Map<string, readonly Form[]>();

/** The forms of a keyword, and of shorter ones it begins with: the search finds only the longest. */
function formsWith(keyword: string): readonly Form[] {
  let found = formsOf.get(keyword);
  if (!found) {
    found = forms.filter((form) => form.keywords.some((each) => keyword.startsWith(each)));
    formsOf.set(keyword, found);
  }
  return found;
}
const escaped = keywords
  .toSorted((a, b) => b.length - a.length)
  .map((each) => each.replaceAll(/[.~=]/g, String.raw`\$&`));
const anyKeyword = new RegExp(escaped.join("|"), "g");

function formsIn(region: string): Set<Form> {
  const found = new Set<Form>();
  const lower = region.toLowerCase();
  anyKeyword.lastIndex = 0;
  for (let match = anyKeyword.exec(lower); match; match = anyKeyword.exec(lower)) {
    for (const form of formsWith(match[0])) found.add(form);
    anyKeyword.lastIndex = match.index + 1;
  }
  return found;
}

function compile({ pattern, flags = "", allow = [] }: Form): NonNullable<Form["compiled"]> {
  return {
    pattern: new RegExp(pattern, `g${flags}`),
    allow: allow.map((each) => new RegExp(each)),
  };
}

function isSecret(value: string, { id, entropy = 0 }: Form, allow: readonly RegExp[]): boolean {
  if (entropyOf(value) <= Math.max(entropy, 2.5) || isMadeUp(value)) return false;
  if (allow.some((each) => each.test(value))) return false;
  return id !== "jwt" || isValidToken(value);
}

function* secretsOf(form: Form, region: string): Generator<Span> {
  const { pattern, allow } = (form.compiled ??= compile(form));
  pattern.lastIndex = 0;
  for (let match = pattern.exec(region); match; match = pattern.exec(region)) {
    const [whole, ...groups] = match;
    const value = groups.find((each) => each !== undefined && each !== "") ?? whole;
    if (!isSecret(value, form, allow)) continue;
    const start = match.index + whole.indexOf(value);
    yield { start, end: start + value.length };
  }
}

// How far before a run its keyword may stand, and the form may begin.
const keywordReach = 64;
const formReach = 130;
// What tokens contain besides the characters of a run.
const inToken = /[\w.~+/=@:%-]/;
// The longest form; the forms of a longer run are searched in parts that overlap by this.
const overlap = 1100;
const longestPart = 8 * overlap;

function* partsOf({ start, end }: Span): Generator<Span> {
  for (let from = start; ; from += longestPart - overlap) {
    yield { start: from, end: Math.min(end, from + longestPart) };
    if (from + longestPart >= end) return;
  }
}

/** Where a keyword of a run may stand: before it only in the path of a URL and in an assignment. */
function keywordsFrom(text: string, start: number): number {
  const isAlone = text.charAt(start - 1) !== "/" && !mayBeAssigned(text, start);
  return isAlone ? start : Math.max(0, start - keywordReach);
}

/** The end of the characters after an offset that may belong to a token. */
function tokenEnd(text: string, at: number): number {
  let end = at;
  while (end < text.length && end - at < 2 * overlap && inToken.test(text.charAt(end))) end++;
  // One more: an expression may look at what follows.
  return Math.min(text.length, end + 1);
}

const explainer = /\bjwt\.(?:io|ms)\/\S{0,60}$/;
const inPath = /:\/\/[^\s?#]{1,79}\/$/;

/** Whether a token is a part of a link to a page that explains tokens, or of one that counts clicks. */
function isOfLink(text: string, { start, end }: Span): boolean {
  const before = text.slice(Math.max(0, start - 90), start);
  return explainer.test(before) || (inPath.test(before) && leadsToAddress(text.slice(start, end)));
}

/** Secrets whose form shows what they are. `runs` as from longRuns(). May yield one twice. */
export function* knownSecrets(text: string, runs: readonly Span[]): Generator<Secret> {
  const searched = new Map<Form, number>();
  for (const run of runs) {
    const candidates = formsIn(text.slice(keywordsFrom(text, run.start), run.end));
    if (candidates.size === 0) continue;
    const end = tokenEnd(text, run.end);
    for (const form of candidates) {
      // The last search of this form went far enough beyond this run.
      if (Math.min(end, run.start + overlap) <= (searched.get(form) ?? 0)) continue;
      searched.set(form, end);
      for (const part of partsOf({ start: Math.max(0, run.start - formReach), end })) {
        for (const found of secretsOf(form, text.slice(part.start, part.end))) {
          const { rule, id } = form;
          const span = { start: part.start + found.start, end: part.start + found.end };
          if (id !== "jwt" || !isOfLink(text, span)) yield { rule, kind: id, ...span };
        }
      }
    }
  }
}

/** Parts of the names in front of keys and signatures; a text without one of them has none. */
const azureMarks: readonly string[] = ["AccountKey=", "SharedAccessKey=", "sig="];

// Keys of storage, Cosmos DB, Service Bus and IoT Hub: 64 or 32 bytes in Base64.
// https://learn.microsoft.com/azure/storage/common/storage-configure-connection-string
const key = /\b(AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{86}==|[A-Za-z0-9+/]{43}=)/g;

// A signature has 32 bytes, in Base64 or Base64url, with escapes in a URL.
// https://learn.microsoft.com/azure/storage/common/storage-sas-overview
const signature = /[?&;]sig=((?:[\w+/-]|%2[BbFf]){43}(?:=|%3[Dd])?)(?![\w%+/-])/g;
/** Longest part of a URL before or after its signature, in characters. */
const urlReach = 500;
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
  const before = urlBefore.exec(text.slice(Math.max(0, at - urlReach), at))?.[0] ?? "";
  return before + (inUrl.exec(text.slice(at, at + urlReach))?.[0] ?? "");
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

const mark = "PRIVATE KEY";
const puttyMark = "PuTTY-User-Key-File-";
// "-----BEGIN " in Base64, as in the configuration of kubectl.
const encodedMark = "LS0tLS1CRUdJTi";
/** A text without one of these contains no private key. */
export const privateKeyMarks: readonly string[] = [mark, puttyMark, encodedMark];
// Characters allowed between the lines of a block: line ends (also as escapes or after a
// backslash), indentation, and the prefixes of lines in comments, quotes and strings of programs.
// Each character fits one branch only: two readings of `\n` would multiply with each header line.
const between = String.raw`(?:\\[nr]|\\(?![nr])|[\s"'>#*+,|]|<br ?/?>){1,40}`;
const header = String.raw`-{4,5} ?BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)? ?-{4,5}`;
// PEM of all kinds (RFC 7468, RFC 1421), OpenSSH, PGP (RFC 9580), SSH2 (RFC 4716). Header lines may
// be first: "Proc-Type: 4,ENCRYPTED". A text with only a BEGIN line contains no key, and dots stand
// in place of the rest of one.
// The value of the last header may look like the begin of a key that was cut out.
const cut = String.raw`(?:[0-9A-F]{16}){1,2}${between}-{4}`;
const block = new RegExp(
  // The line ends of a pasted key may be lost.
  String.raw`(${header})(?:${between}(?:[A-Za-z][A-Za-z0-9-]{0,30}: [^\n\\]{0,200}${between}){0,8}(?!${cut})[A-Za-z0-9+/=]{16}|[A-Za-z0-9+/=]{40})(?![A-Za-z0-9+/=]{0,80}(?:(?:\\[nr]|\s){1,40}[A-Za-z0-9+/=]{1,80}){0,20}(?:\\[nr]|\s){0,40}(?:\.\.|…))`,
  "g",
);

// https://the.earth.li/~sgtatham/putty/latest/htmldoc/AppendixC.html
const putty = /(Private-Lines: \d{1,3})(?:\\[nr]|[\s>#*|]|<br ?\/?>){1,20}[A-Za-z0-9+/=]{16}/g;
const encoded = new RegExp(String.raw`${encodedMark}[A-Za-z0-9+/]{40,}`, "g");

function* blocks(text: string): Generator<Secret> {
  for (const { 1: line = "", index } of text.matchAll(block)) {
    yield { rule: "secret-private-key", kind: line, start: index, end: index + line.length };
  }
}

/** Private keys. The kind is the first line; the span covers it, or a key in Base64. */
export function* privateKeys(text: string): Generator<Secret> {
  if (text.includes(mark)) yield* blocks(text);
  if (text.includes(puttyMark)) {
    for (const { 1: line = "", index: start } of text.matchAll(putty)) {
      yield { rule: "secret-private-key", kind: "PuTTY", start, end: start + line.length };
    }
  }
  if (!text.includes(encodedMark)) return;
  for (const { 0: value, index: start } of text.matchAll(encoded)) {
    const [first] = blocks(Buffer.from(value.slice(0, 400), "base64").toString("latin1"));
    if (first) yield { ...first, start, end: start + value.length };
  }
}

// Nearly every token is longer than 16 characters, most words are shorter.
const shortestRun = 16;

// An expression takes a quarter of the time of reading a page.
const isOfRun = (code: number): boolean =>
  (code >= 0x61 && code <= 0x7a) || // a to z
  (code >= 0x41 && code <= 0x5a) || // A to Z
  (code >= 0x2d && code <= 0x39 && code !== 0x2f) || // - . and digits
  code === 0x5f || // _
  code === 0x7e; // ~

/** Whether a run contains a digit or three capital letters: names of pages and files rarely do. */
const mayBeRandom = (text: string): boolean =>
  // Tokens of some services consist of letters alone.
  text.length > 36 || /\d|(?:[A-Z][^A-Z]*){3}/.test(text);

/**
 * The runs of at least 16 letters, digits and `_-.~` that may be random. Any secret that is not a
 * password of a few letters contains one, so that expensive expressions see a small part of the
 * text.
 */
export function longRuns(text: string): Span[] {
  const runs: Span[] = [];
  const { length } = text;
  const isOfRunAt = (at: number): boolean => isOfRun(text.charCodeAt(at));
  // A run that begins behind a place covers one of its next sixteen: the others need no look.
  for (let at = shortestRun - 1; at < length; at += shortestRun) {
    if (!isOfRunAt(at)) continue;
    let start = at;
    while (start > 0 && isOfRunAt(start - 1)) start--;
    while (at < length && isOfRunAt(at)) at++;
    if (at - start >= shortestRun && mayBeRandom(text.slice(start, at))) {
      runs.push({ start, end: at });
    }
  }
  return runs;
}
