import type { TurnEvent } from "./turn/turn-event.ts";
import { CliError, type ExitName } from "../../errors.ts";
import { neutraliseLine } from "../terminal/neutralise.ts";

interface Meaning {
  exit: ExitName;
  hint?: string;
}

const permission: Meaning = { exit: "auth", hint: "ask an administrator for the permission" };
const login: Meaning = { exit: "auth", hint: "check the access token of this profile" };
const limit: Meaning = { exit: "rate-limited", hint: "wait and ask again" };
const tooLong: Meaning = { exit: "usage", hint: "shorten the message or start a new session" };
const badRequest: Meaning = { exit: "usage" };
const vendor: Meaning = {
  exit: "server-error",
  hint: "the service cannot access its model: ask its administrator to fix this",
};
const broken: Meaning = { exit: "server-error" };

/**
 * Meaning of the error codes of an in-stream failure (observed-service.md 2.6, 6.2).
 * AUTH_ERROR and PERMISSION_DENIED are about the service's key at the model's vendor,
 * not about the user's key.
 */
const meanings: Readonly<Record<string, Meaning>> = {
  AUTH_ERROR: vendor,
  PERMISSION_DENIED: vendor,
  UNAUTHENTICATED: login,
  INVALID_TOKEN: login,
  TOKEN_EXPIRED: login,
  CREDENTIAL_EXPIRED: login,
  SESSION_EXPIRED: login,
  SESSION_TERMINATED: login,
  UNAUTHORIZED: permission,
  INSUFFICIENT_PERMISSIONS: permission,
  ADMIN_ONLY: permission,
  EE_REQUIRED: permission,
  RATE_LIMIT: limit,
  RATE_LIMITED: limit,
  BUDGET_EXCEEDED: limit,
  VALIDATION_ERROR: badRequest,
  INVALID_INPUT: badRequest,
  MISSING_REQUIRED_FIELD: badRequest,
  CONTEXT_TOO_LONG: tooLong,
  REQUEST_TOO_LARGE: tooLong,
  PAYLOAD_TOO_LARGE: tooLong,
  GATEWAY_TIMEOUT: { exit: "timeout" },
};

const missing: readonly RegExp[] = [/chat session/i, /\bnot found\b/i, /\bnot available\b/i];
const notFound: Meaning = {
  exit: "not-found",
  hint: "check the session, agent, project, tools and files of the question",
};
// The service refuses what this key may not see as it refuses what does not exist.
const unseen: Meaning = {
  exit: "auth",
  hint: "check the name, or ask an administrator for the permission",
};

function meaningOf(failure: Extract<TurnEvent, { type: "error" }>): Meaning {
  const code = failure.code?.toUpperCase() ?? "";
  const known = Object.hasOwn(meanings, code) ? meanings[code] : undefined;
  // These codes have many causes; the message is more specific.
  const vague = code === "" || known === badRequest;
  if (vague && missing.some((each) => each.test(failure.message))) {
    return notFound;
  }
  if (known === permission && /\bnot found\b/i.test(failure.message)) return unseen;
  if (known) return known;
  return /(?:^|_)NOT_FOUND$/.test(code) ? notFound : broken;
}

const maxMessageLength = 500;

/** The turn that failed: its session, whether a part of its answer arrived, and its model if several answer. */
export interface FailedTurn {
  sessionId: string | null;
  hasAnswer: boolean;
  model?: string | undefined;
}

/** The error of a turn that failed after HTTP status 200. Omits the service's stack trace. */
export function failureError(
  failure: Extract<TurnEvent, { type: "error" }>,
  { sessionId, hasAnswer, model }: FailedTurn,
): CliError {
  const meaning = meaningOf(failure);
  const line = neutraliseLine(failure.message).trim();
  const reason = line.length > maxMessageLength ? `${line.slice(0, maxMessageLength)}…` : line;
  const code = failure.code ? ` (${neutraliseLine(failure.code).slice(0, 60)})` : "";
  const hints = meaning.hint ? [meaning.hint] : [];
  if (sessionId !== null) hints.push(`session: ${sessionId}`);
  const what = hasAnswer ? "broke off its answer" : "did not answer";
  const message = `${model ?? "the service"} ${what}: ${reason || "no reason reported"}${code}`;
  return new CliError(meaning.exit, message, { hints });
}
