import { CliError, type ExitName } from "../../errors.ts";
import { modelName, titleText } from "../../output/chat/sources.ts";
import { hasAnswer, turnsOf, type Turn } from "../../output/chat/turn/answer.ts";
import { hintForUnknown } from "../../api/answers/unknown.ts";
import type { TurnEvent } from "../../output/chat/turn/chat-events.ts";
import { neutraliseLine } from "../../output/terminal/neutralise.ts";

type Failure = Extract<TurnEvent, { type: "error" }>;

interface Meaning {
  exit: ExitName;
  /** What it means, and whether asking again helps. */
  hint?: string;
}

const permission: Meaning = { exit: "auth", hint: "ask an administrator for the permission" };
const login: Meaning = { exit: "auth", hint: "check the access token of this profile" };
const limit: Meaning = { exit: "rate-limited", hint: "wait and ask again" };
const tooLong: Meaning = { exit: "usage", hint: "shorten the message or start a new session" };
const badRequest: Meaning = { exit: "usage" };
const vendor: Meaning = {
  exit: "server-error",
  hint: "the service cannot access its model: ask its administrator to fix this; asking again does not help",
};
const busy: Meaning = { exit: "server-error", hint: "the model failed: ask again later" };
const refused: Meaning = {
  exit: "server-error",
  hint: "the model's vendor refused the request: asking again does not help; try another --model or a new session",
};
const broken: Meaning = {
  exit: "server-error",
  hint: "the service gives no known reason: ask once more, then tell its administrator",
};

/**
 * Meaning of the error codes of an in-stream failure (observed-service.md 2.6, 6.2, 12.5).
 * AUTH_ERROR, PERMISSION_DENIED and BUDGET_EXCEEDED are about the service's key at the model's
 * vendor, not about the user's key.
 */
const meanings: Readonly<Record<string, Meaning>> = {
  AUTH_ERROR: vendor,
  PERMISSION_DENIED: vendor,
  BUDGET_EXCEEDED: {
    exit: "rate-limited",
    hint: "the service's quota at the model's vendor is used up: asking again helps only after its administrator raises it, or with another --model",
  },
  MODEL_REFUSAL: {
    exit: "usage",
    hint: "the model refused the question: ask it in other words; the same question is refused again",
  },
  CONTENT_POLICY: {
    exit: "usage",
    hint: "the content filter of the model's vendor refused the question: ask it in other words; the same question is refused again",
  },
  QUERY_REJECTED: {
    exit: "usage",
    hint: "a rule of the service refused the question: ask it in other words; the same question is refused again",
  },
  EMPTY_LLM_RESPONSE: {
    exit: "incomplete",
    hint: "the model returned no text: asking again may help, else use other words or another --model",
  },
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
  VALIDATION_ERROR: badRequest,
  INVALID_INPUT: badRequest,
  MISSING_REQUIRED_FIELD: badRequest,
  CONTEXT_TOO_LONG: tooLong,
  REQUEST_TOO_LARGE: tooLong,
  PAYLOAD_TOO_LARGE: tooLong,
  BAD_REQUEST: refused,
  UNPROCESSABLE_ENTITY: refused,
  MODEL_ERROR: busy,
  API_ERROR: busy,
  CONNECTION_ERROR: busy,
  SERVICE_UNAVAILABLE: busy,
  GATEWAY_TIMEOUT: { exit: "timeout" },
};

const notFound: Meaning = {
  exit: "not-found",
  hint: "check the session, agent, project, tools and files of the question",
};

const noModel = (model: string): Meaning => ({
  exit: "not-found",
  hint: `the model's vendor has no model "${neutraliseLine(model).slice(0, 100)}": name another with --model, or ask the administrator to change the agent's; asking again does not help`,
});

const brokenTool: Meaning = {
  exit: "server-error",
  hint: "a tool of the agent is broken: ask without tools (--no-tools), or tell the agent's owner; asking again does not help",
};
const aboutTools = /\btools?\b|\bMCP\b|\bOpenAPI\b|\bfunctions?\b/i;

function meaningOf({ code: named, message, vendorModel }: Failure): Meaning {
  const code = named?.toUpperCase() ?? "";
  // The words come first: one code has many causes.
  const hint = hintForUnknown(code, message);
  if (hint !== undefined) return { exit: "not-found", hint };
  if (code === "NOT_FOUND" && vendorModel !== undefined) return noModel(vendorModel);
  const known = Object.hasOwn(meanings, code) ? meanings[code] : undefined;
  const isVague = known === undefined || [badRequest, busy, refused].includes(known);
  if (isVague && aboutTools.test(message)) return brokenTool;
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
  failure: Failure,
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

/** Whether somebody stopped the answer on the service's side. */
export function isCancelled({ stopReason }: Turn): boolean {
  return stopReason === "user_cancelled";
}

// Beside null, the ordinary end (observed-service.md 2.4).
const wholeReasons = new Set(["", "finished"]);

/**
 * Warnings about a finished answer that ended for unknown reasons. A stop packet is a normal end
 * (observed-service.md 2.2), but only the service knows what a new reason means.
 */
export function stopWarnings(turn: Turn): string[] {
  const reasons = turnsOf(turn).flatMap(({ stopReason }) =>
    stopReason === null || wholeReasons.has(stopReason) ? [] : [titleText(stopReason)],
  );
  return [...new Set(reasons)].map(
    (reason) => `the answer may be incomplete: the service ended it with the reason "${reason}"`,
  );
}

/** The error of a finished answer, or of the first wrong one of several answers. */
export function endFailure(turn: Turn): CliError | undefined {
  const turns = turnsOf(turn);
  const nameOf = (each: Turn): string | undefined =>
    turns.length === 1 ? undefined : modelName(each);
  for (const each of turns) {
    if (each.failure) {
      const { sessionId } = turn;
      const failed = { sessionId, hasAnswer: hasAnswer(each), model: nameOf(each) };
      return failureError(each.failure, failed);
    }
  }
  if (turns.some(isCancelled)) return stoppedElsewhere();
  if (turn.damagedLines > 0) return damaged(turn);
  const open = turns.find((each) => !each.stopped);
  if (open) return unfinished(nameOf(open));
  const empty = turns.find((each) => !hasAnswer(each));
  return empty && noAnswer(turn, nameOf(empty));
}

function unfinished(model: string | undefined): CliError {
  const of = model === undefined ? "" : ` of ${model}`;
  return new CliError("incomplete", `the answer${of} is cut: its end packet did not arrive`);
}

function damaged({ damagedLines: count }: Turn): CliError {
  const lines = count === 1 ? "1 line of the stream" : `${count} lines of the stream`;
  const whose = count === 1 ? "its" : "their";
  return new CliError(
    "incomplete",
    `the answer is damaged: ${lines} could not be read, and ${whose} content is missing`,
  );
}

function noAnswer({ sessionId }: Turn, model: string | undefined): CliError {
  const of = model === undefined ? "" : ` of ${model}`;
  const session = sessionId === null ? [] : [`session: ${sessionId}`];
  return new CliError(
    "incomplete",
    `no answer${of}: the service ended the turn without text, image or file`,
    {
      hints: ["ask again, in other words or with another agent or model", ...session],
    },
  );
}

function stoppedElsewhere(): CliError {
  return new CliError("incomplete", "the answer was stopped on the service's side", {
    hints: ["the part that arrived is above"],
  });
}
