import { CliError, type ExitName } from "../../errors.ts";
import { modelName, titleText } from "../../output/chat/sources.ts";
import { hasAnswer, turnsOf, type Turn } from "../../output/chat/turn/answer.ts";
import { hintForUnknown } from "../../api/answers/status.ts";
import type { TurnEvent } from "../../output/chat/turn/chat-events.ts";
import { neutraliseLine } from "../../output/terminal/neutralise.ts";

type Failure = Extract<TurnEvent, { type: "error" }>;

interface Meaning {
  exit: ExitName;
  /** What it means, and whether asking again helps. */
  hint?: string;
}

const sameAgain = "ask it in other words; the same question is refused again";

/**
 * Meaning of the error codes of an in-stream failure (observed-service.md 2.6, 6.2, 12.5).
 * AUTH_ERROR, PERMISSION_DENIED and BUDGET_EXCEEDED are about the service's key at the model's
 * vendor, not about the user's key. Of a vague one, the words may tell more.
 */
const table: readonly (Meaning & { codes: string; isVague?: true })[] = [
  {
    codes: "AUTH_ERROR PERMISSION_DENIED",
    exit: "server-error",
    hint: "the service cannot access its model: ask its administrator to fix this; asking again does not help",
  },
  {
    codes: "BUDGET_EXCEEDED",
    exit: "rate-limited",
    hint: "the service's quota at the model's vendor is used up: asking again helps only after its administrator raises it, or with another --model",
  },
  {
    codes: "MODEL_REFUSAL",
    exit: "usage",
    hint: `the model refused the question: ${sameAgain}`,
  },
  {
    codes: "CONTENT_POLICY",
    exit: "usage",
    hint: `the content filter of the model's vendor refused the question: ${sameAgain}`,
  },
  {
    codes: "QUERY_REJECTED",
    exit: "usage",
    hint: `a rule of the service refused the question: ${sameAgain}`,
  },
  {
    codes: "EMPTY_LLM_RESPONSE",
    exit: "incomplete",
    hint: "the model returned no text: asking again may help, else use other words or another --model",
  },
  {
    codes:
      "UNAUTHENTICATED INVALID_TOKEN TOKEN_EXPIRED CREDENTIAL_EXPIRED SESSION_EXPIRED SESSION_TERMINATED",
    exit: "auth",
    hint: "check the access token of this profile",
  },
  {
    codes: "UNAUTHORIZED INSUFFICIENT_PERMISSIONS ADMIN_ONLY EE_REQUIRED",
    exit: "auth",
    hint: "ask an administrator for the permission",
  },
  { codes: "RATE_LIMIT RATE_LIMITED", exit: "rate-limited", hint: "wait and ask again" },
  { codes: "VALIDATION_ERROR INVALID_INPUT MISSING_REQUIRED_FIELD", exit: "usage", isVague: true },
  {
    codes: "CONTEXT_TOO_LONG REQUEST_TOO_LARGE PAYLOAD_TOO_LARGE",
    exit: "usage",
    hint: "shorten the message or start a new session",
  },
  {
    codes: "BAD_REQUEST UNPROCESSABLE_ENTITY",
    exit: "server-error",
    hint: "the model's vendor refused the request: asking again does not help; try another --model or a new session",
    isVague: true,
  },
  {
    codes: "MODEL_ERROR API_ERROR CONNECTION_ERROR SERVICE_UNAVAILABLE",
    exit: "server-error",
    hint: "the model failed: ask again later",
    isVague: true,
  },
  { codes: "GATEWAY_TIMEOUT", exit: "timeout" },
];

const notFound: Meaning = {
  exit: "not-found",
  hint: "check the session, agent, project, tools and files of the question",
};
const broken: Meaning = {
  exit: "server-error",
  hint: "the service gives no known reason: ask once more, then tell its administrator",
};
const brokenTool: Meaning = {
  exit: "server-error",
  hint: "a tool of the agent is broken: ask without tools (--no-tools), or tell the agent's owner; asking again does not help",
};
const aboutTools = /\btools?\b|\bMCP\b|\bOpenAPI\b|\bfunctions?\b/i;

function meaningOf({ code: named, message, vendorModel }: Failure): Meaning {
  const code = named?.toUpperCase() ?? "";
  // The words come first: one code has many causes.
  const unknown = hintForUnknown(code, message);
  if (unknown !== undefined) return { exit: "not-found", hint: unknown };
  if (code === "NOT_FOUND" && vendorModel !== undefined) {
    const model = neutraliseLine(vendorModel).slice(0, 100);
    const hint = `the model's vendor has no model "${model}": name another with --model, or ask the administrator to change the agent's; asking again does not help`;
    return { exit: "not-found", hint };
  }
  const known = table.find(({ codes }) => codes.split(" ").includes(code));
  if ((known?.isVague ?? known === undefined) && aboutTools.test(message)) return brokenTool;
  return known ?? (/(?:^|_)NOT_FOUND$/.test(code) ? notFound : broken);
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

const incomplete = (message: string, hints: readonly string[] = []): CliError =>
  new CliError("incomplete", message, { hints });

/** The error of a finished answer, or of the first wrong one of several answers. */
export function endFailure(turn: Turn): CliError | undefined {
  const turns = turnsOf(turn);
  const { sessionId, damagedLines: count } = turn;
  const nameOf = (each: Turn): string | undefined =>
    turns.length === 1 ? undefined : modelName(each);
  const of = (each: Turn): string => (turns.length === 1 ? "" : ` of ${modelName(each)}`);
  for (const each of turns) {
    const failed = { sessionId, hasAnswer: hasAnswer(each), model: nameOf(each) };
    if (each.failure) return failureError(each.failure, failed);
  }
  if (turns.some(isCancelled)) {
    return incomplete("the answer was stopped on the service's side", [
      "the part that arrived is above",
    ]);
  }
  if (count > 0) {
    const lines = count === 1 ? "1 line of the stream" : `${count} lines of the stream`;
    const whose = count === 1 ? "its" : "their";
    return incomplete(
      `the answer is damaged: ${lines} could not be read, and ${whose} content is missing`,
    );
  }
  const open = turns.find((each) => !each.stopped);
  if (open) return incomplete(`the answer${of(open)} is cut: its end packet did not arrive`);
  const empty = turns.find((each) => !hasAnswer(each));
  if (!empty) return undefined;
  return incomplete(
    `no answer${of(empty)}: the service ended the turn without text, image or file`,
    [
      "ask again, in other words or with another agent or model",
      ...(sessionId === null ? [] : [`session: ${sessionId}`]),
    ],
  );
}
