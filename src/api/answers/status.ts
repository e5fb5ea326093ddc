import type { ExitName } from "../../errors.ts";
import type { OutcomeKind } from "../retry/pace.ts";

const keyNames = { accessToken: "the access token", apiKey: "the API key", shared: "the key" };
/** Where a key may be set, if that is not known. */
const keyPlaces = {
  accessToken: "accessToken, KNOWCTL_ACCESS_TOKEN",
  apiKey: "apiKey, KNOWCTL_API_KEY",
  shared: "apiKey or accessToken, KNOWCTL_API_KEY or KNOWCTL_ACCESS_TOKEN",
};

/** A key that a request may carry; `shared` serves as both. */
type KeyName = keyof typeof keyNames;

/** Words of a refusal because of the token, not of its account: observed-service.md 12.8. */
const isAboutScopes = /\btoken's scopes\b/i;

/** Codes of a refusal of a key that the service knows. */
export const lacksPermission = /PERMISSION|ADMIN|UNAUTHORIZED|EE_REQUIRED/;

/** Where a key is set, and how to set another there, in words. */
export interface KeyOrigin {
  name: string;
  remedy: string;
}

/** The key of a request, as messages name it. */
export interface KeyUsed {
  key: KeyName;
  /** Undefined if it is not known. */
  keyOrigin?: KeyOrigin | undefined;
}

/** `the API key from KNOWCTL_API_KEY`. */
export function describeKey({ key, keyOrigin }: KeyUsed): string {
  return keyNames[key] + (keyOrigin ? ` from ${keyOrigin.name}` : ` (${keyPlaces[key]})`);
}

/** How to use another key than the refused one. */
export function howToChangeKey({ keyOrigin }: KeyUsed): string {
  return (
    keyOrigin?.remedy ??
    "see where it comes from with `knowctl config show --origin`, or store another with `knowctl login`"
  );
}

/** Hints for a response with an error status; `code` and `text` are the service's. */
export function hintsForStatus(
  used: KeyUsed,
  status: number,
  { code, text = "" }: { code?: string | undefined; text?: string } = {},
): string[] {
  if (status === 403 && isAboutScopes.test(text)) {
    return [
      "this token's scopes are narrower than your account: use a token with the scope for it, or without scopes",
    ];
  }
  if (status === 401 || status === 403) {
    const key = describeKey(used);
    return lacksPermission.test(code ?? "")
      ? [`the service knows ${key} but it lacks the permission; ask an administrator for it`]
      : [`the service does not accept ${key}, or it lacks the permission; ${howToChangeKey(used)}`];
  }
  if (status === 404 || status === 405) return ["check the base URL and --dialect"];
  if (status === 429)
    return ["try again later; a command that sends many requests takes --concurrency"];
  if (status === 501) {
    return [
      "this server is set up without this function, e.g. without a vector store; a retry does not help",
    ];
  }
  if (status >= 500) return ["the service has a fault; try again later"];
  return [];
}

/** What an error status means for the caller; any other one is a fault of the service. */
const exits: Readonly<Record<number, ExitName>> = {
  // What the caller gave: the service stored nothing.
  400: "usage",
  409: "usage",
  413: "usage",
  415: "usage",
  422: "usage",
  401: "auth",
  403: "auth",
  404: "not-found",
  405: "not-found",
  410: "not-found",
  408: "timeout",
  504: "timeout",
  429: "rate-limited",
};

/**
 * The exit of a refused request. A web page below 500 comes from something in between,
 * and does not judge what the caller gave.
 */
export function exitOfStatus(status: number, isPage: boolean): ExitName {
  const exit = exits[status] ?? "server-error";
  return isPage && exit === "usage" ? "server-error" : exit;
}

const retryableStatuses = new Set([408, 409, 425, 429]);

/** The outcome of an error status, to report to the gate. */
export function outcomeOfStatus(status: number): OutcomeKind {
  if (status === 429 || status === 503) return "throttled";
  return status >= 500 ? "broken" : "refused";
}

/** Whether the same request may succeed later, judged by the status alone. */
export function isRetryable(status: number): boolean {
  return (status >= 500 && status !== 501 && status !== 505) || retryableStatuses.has(status);
}

/**
 * Recognises that a request names something that the service does not have. It refuses what
 * the caller may not see in the same words, with many statuses and codes
 * (observed-service.md 12.1 to 12.4): its words decide.
 */

interface Thing {
  codes: RegExp;
  words: RegExp;
  hint: string;
}

const things: readonly Thing[] = [
  {
    codes: /^SESSION_NOT_FOUND$/,
    words: /\binvalid chat session id\b|\bchat session (?:not found|has been deleted)\b/i,
    hint: "list the sessions: knowctl sessions list",
  },
  {
    codes: /^PERSONA_NOT_FOUND$/,
    words: /\baccess to persona\b/i,
    hint: "list the agents: knowctl agents list; the agent may exist without being visible to this key",
  },
  {
    codes: /^PROJECT_NOT_FOUND$/,
    words: /\baccess to project\b|\bproject not found\b/i,
    hint: "list the projects: knowctl api user/projects; the project may exist without being visible to this key",
  },
  {
    codes: /^DOCUMENT_SET_NOT_FOUND$/,
    words: /\baccess to document sets?\b/i,
    hint: "list the document sets: knowctl api manage/document-set; the set may exist without being visible to this key",
  },
  {
    codes: /^TOOL_NOT_FOUND$/,
    words: /\bforced tool \S+ not found in tools\b/i,
    hint: "list the tools: knowctl tools list; the agent must have the tool, and the question must allow it",
  },
  {
    codes: /^(?:CONNECTOR|CC_PAIR|CREDENTIAL)_NOT_FOUND$/,
    words: /\bcc[ -_]?pair not found\b/i,
    hint: "list the connectors: knowctl connectors list",
  },
  {
    codes: /^FILE_NOT_FOUND$/,
    words: /\bfile not found\b/i,
    hint: "list the files: knowctl files list",
  },
];

/** The hint for an unknown thing: the command that lists such things. Undefined for other refusals. */
export function hintForUnknown(code: string | null | undefined, words: string): string | undefined {
  const known = things.find(
    (thing) => thing.codes.test(code?.toUpperCase() ?? "") || thing.words.test(words),
  );
  return known?.hint;
}
