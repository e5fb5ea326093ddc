import { mayBeAssigned } from "./assigned-values.ts";
import { isValidToken, leadsToAddress } from "./json-web-token.ts";
import { entropyOf, isMadeUp } from "./made-up.ts";
import { pack, type KnownForm } from "./pack.ts";
import type { Secret, SecretRule } from "./secret.ts";
import type { Span } from "../rule.ts";

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
const reach = 130;
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
      for (const part of partsOf({ start: Math.max(0, run.start - reach), end })) {
        for (const found of secretsOf(form, text.slice(part.start, part.end))) {
          const { rule, id } = form;
          const span = { start: part.start + found.start, end: part.start + found.end };
          if (id !== "jwt" || !isOfLink(text, span)) yield { rule, kind: id, ...span };
        }
      }
    }
  }
}
