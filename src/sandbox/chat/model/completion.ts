import { codeOf } from "../../../errors.ts";
import { createParser } from "eventsource-parser";

/** Why the model did not answer; sent as an error line of the stream: observed-service.md 2.6. */
export class ModelFailure extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.name = "ModelFailure";
    this.code = code;
  }
}

/** Whether a retry may succeed. */
export function isRetryable({ code }: ModelFailure): boolean {
  return /^(?:RATE_LIMIT|SERVICE_UNAVAILABLE|CONNECTION_ERROR|API_ERROR)$/.test(code);
}

const tooLong =
  /context.?(?:length|window|size)|maximum context|too many tokens|prompt is too long|exceed\w* .{0,40}context/i;
const policy = /content.?(?:policy|filter)|safety|moderation/i;
const overBudget = /insufficient.?(?:quota|balance|funds)|billing|credit/i;

const byStatus: Record<number, string> = {
  401: "AUTH_ERROR",
  402: "BUDGET_EXCEEDED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  413: "REQUEST_TOO_LARGE",
  422: "UNPROCESSABLE_ENTITY",
  429: "RATE_LIMIT",
  503: "SERVICE_UNAVAILABLE",
  529: "SERVICE_UNAVAILABLE",
};

function codeFor(status: number, words: string): string {
  if ((status === 429 || status === 400) && overBudget.test(words)) return "BUDGET_EXCEEDED";
  if ([400, 413, 422, 500].includes(status) && tooLong.test(words)) return "CONTEXT_TOO_LONG";
  if (status === 400 && policy.test(words)) return "CONTENT_POLICY";
  return byStatus[status] ?? (status >= 400 && status < 500 ? "BAD_REQUEST" : "API_ERROR");
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

interface ErrorInfo {
  message: string | undefined;
  /** Its machine-readable members, to classify the failure. */
  kind: string;
  status: number | undefined;
}

/** Reads an error of any form: `{error: {…}}`, `{error: "…"}`, `{message}`, `{detail}`. */
function errorInfoOf(value: unknown): ErrorInfo {
  const body = (typeof value === "object" && value !== null ? value : {}) as Record<
    string,
    unknown
  >;
  const inner = body["error"] ?? body;
  const error = (typeof inner === "object" ? inner : {}) as Record<string, unknown>;
  const message =
    textOf(inner) ?? textOf(error["message"]) ?? textOf(error["detail"]) ?? textOf(body["message"]);
  const { code, type, status } = error;
  const number = [status, code].map(Number).find((each) => each >= 400 && each < 600);
  return { message, kind: [code, type].map(String).join(" "), status: number };
}

/** One line of at most 400 characters; the key is redacted wherever the server repeats it. */
function tidy(words: string, key: string | undefined): string {
  const safe = key ? words.replaceAll(key, "***") : words;
  const line = safe.replace(/\s+/g, " ").trim();
  return line.length > 400 ? `${line.slice(0, 399)}…` : line;
}

const headings: Record<string, string> = {
  AUTH_ERROR: "The model's server refused the key (KNOWCTL_SANDBOX_LLM_KEY)",
  NOT_FOUND: "The model's server knows no such model or address",
  CONTEXT_TOO_LONG: "The question with its passages and history is too long for the model",
};

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** The failure of a response with an error status. */
export function failureOfStatus(
  status: number,
  body: string,
  key: string | undefined,
): ModelFailure {
  if (status >= 300 && status < 400) {
    const words = `The model's server redirects (${status}); redirects are not followed`;
    return new ModelFailure("API_ERROR", words);
  }
  const value = parsed(body);
  const { message, kind } = errorInfoOf(value);
  // Ignore the web page of a proxy: it has no message that fits into a line.
  const words = message ?? (value === undefined && !/^\s*</.test(body) ? textOf(body) : undefined);
  const code = codeFor(status, `${kind} ${words ?? ""}`);
  const head = headings[code] ?? "The model's server failed";
  const text = words === undefined ? "" : `: ${words}`;
  return new ModelFailure(code, tidy(`${head} (${status})${text}`, key));
}

/** The failure of an `error` member despite status 200, in a whole response or a stream. */
function failureOfMember(value: unknown, key: string | undefined): ModelFailure {
  const { message, kind, status } = errorInfoOf({ error: value });
  const words = `${kind} ${message ?? ""}`;
  let code = codeFor(status ?? 400, words);
  if (status === undefined && code === "BAD_REQUEST") {
    if (/rate.?limit/i.test(words)) code = "RATE_LIMIT";
    else if (/authentication|api.?key|unauthorized/i.test(words)) code = "AUTH_ERROR";
    else if (/overloaded|unavailable/i.test(words)) code = "SERVICE_UNAVAILABLE";
    else code = "API_ERROR";
  }
  const head = headings[code] ?? "The model's server failed";
  return new ModelFailure(code, tidy(message === undefined ? head : `${head}: ${message}`, key));
}

const connectionWords: Record<string, string> = {
  ECONNREFUSED: "nothing listens there",
  ENOTFOUND: "unknown host name",
  EAI_AGAIN: "the name server does not respond",
  ECONNRESET: "it closed the connection",
};

/** Describes OpenSSL's names of certificate problems. */
function certificateWords(code: string): string | undefined {
  if (!/CERT|^UNABLE_TO_|ISSUER/.test(code)) return undefined;
  return `its certificate is not trusted (${code}); add its CA with --ca-file`;
}

/** The failure of a connection that was not opened, or broke. Rethrows any other error. */
export function failureOfConnection(error: unknown, url: URL): ModelFailure {
  if (error instanceof ModelFailure) return error;
  const code = codeOf(error);
  if (code === undefined) throw error;
  // The message of a proxy error names the proxy and contains no secret.
  const isProxyError = code.startsWith("PROXY_") && error instanceof Error;
  const why = isProxyError
    ? error.message
    : (connectionWords[code] ?? certificateWords(code) ?? code);
  return new ModelFailure("CONNECTION_ERROR", `The model's server at ${url.origin}: ${why}`);
}

interface Choice {
  delta?: Record<string, unknown> | null;
  message?: Record<string, unknown> | null;
  finish_reason?: unknown;
}

/** State of a response that its pieces do not contain. */
export interface StreamOutcome {
  ended: boolean;
  finish: string | undefined;
  refusal: string;
}

/** The pieces of `content`: text, or a list of parts that may be reasoning. */
function* contentPieces(content: unknown): Generator<ModelPiece> {
  if (typeof content === "string") yield { kind: "text", text: content };
  if (!Array.isArray(content)) return;
  for (const part of content as Record<string, unknown>[]) {
    if (typeof part?.["text"] === "string") yield { kind: "text", text: part["text"] };
    else if (part?.["type"] === "thinking") {
      for (const piece of contentPieces(part["thinking"])) yield { ...piece, kind: "reasoning" };
    }
  }
}

function* choicePieces(choice: Choice, outcome: StreamOutcome): Generator<ModelPiece> {
  if (typeof choice.finish_reason === "string") outcome.finish = choice.finish_reason;
  // Ignore tool calls: the sandbox offers no tools.
  const { content, refusal, reasoning_content, reasoning } = choice.delta ?? choice.message ?? {};
  const thought = reasoning_content ?? reasoning;
  if (typeof thought === "string") yield { kind: "reasoning", text: thought };
  if (typeof refusal === "string") outcome.refusal += refusal.slice(0, 1_000);
  yield* contentPieces(content);
}

/**
 * The pieces of one payload: a chunk of a stream, a whole completion, or `[DONE]`.
 * Throws ModelFailure for an error, and for a payload that is not JSON.
 */
export function* payloadPieces(
  payload: string,
  outcome: StreamOutcome,
  key: string | undefined,
): Generator<ModelPiece> {
  if (payload.trim() === "") return;
  if (payload.trim() === "[DONE]") return void (outcome.ended = true);
  let value;
  try {
    value = JSON.parse(payload) as { error?: unknown; choices?: Choice[] } | null;
  } catch {
    throw new ModelFailure("API_ERROR", "The model's server sent a response that is not JSON");
  }
  if (value?.error) throw failureOfMember(value.error, key);
  const choice = Array.isArray(value?.choices) ? value.choices[0] : undefined;
  if (typeof choice === "object" && choice !== null) yield* choicePieces(choice, outcome);
}

/** Throws ModelFailure for an answer that was cut, refused or empty. */
export function checkEnd(outcome: StreamOutcome, isEmpty: boolean): void {
  if (!outcome.ended && outcome.finish === undefined) {
    throw new ModelFailure("CONNECTION_ERROR", "The model's server cut off its answer");
  }
  if (!isEmpty) return;
  if (outcome.refusal !== "") throw new ModelFailure("MODEL_REFUSAL", outcome.refusal);
  if (outcome.finish === "content_filter") {
    throw new ModelFailure("CONTENT_POLICY", "The model's server filtered the answer");
  }
  const why =
    outcome.finish === undefined ? "" : ` (finish reason: ${outcome.finish.slice(0, 40)})`;
  throw new ModelFailure("EMPTY_LLM_RESPONSE", `The model sent an empty answer${why}`);
}

/** A piece of a model's output. */
export interface ModelPiece {
  kind: "text" | "reasoning";
  text: string;
}

const opening = "<think>";
const closing = "</think>";

/** Length of the longest end of `text` that may be the beginning of `tag`. */
function overlap(text: string, tag: string): number {
  for (let length = Math.min(text.length, tag.length - 1); length > 0; length -= 1) {
    if (text.endsWith(tag.slice(0, length))) return length;
  }
  return 0;
}

/**
 * Separates the reasoning from the text, wherever the pieces end: some servers send it as a
 * `<think>` block at the beginning of the text.
 */
export function createThinkingFilter() {
  let state: "start" | "thinking" | "text" = "start";
  let held = "";
  const inThinking = (): ModelPiece[] => {
    const end = held.indexOf(closing);
    if (end >= 0) {
      const pieces = [
        { kind: "reasoning" as const, text: held.slice(0, end) },
        { kind: "text" as const, text: held.slice(end + closing.length).trimStart() },
      ];
      held = "";
      state = "text";
      return pieces;
    }
    const keep = overlap(held, closing);
    const text = held.slice(0, held.length - keep);
    held = held.slice(held.length - keep);
    return [{ kind: "reasoning", text }];
  };
  return {
    push(text: string): ModelPiece[] {
      if (state === "text") return [{ kind: "text", text }];
      held += text;
      if (state === "start") {
        const begun = held.trimStart();
        if (begun.startsWith(opening)) {
          state = "thinking";
          held = begun.slice(opening.length);
        } else if (opening.startsWith(begun)) return [];
        else {
          state = "text";
          const whole = held;
          held = "";
          return [{ kind: "text", text: whole }];
        }
      }
      return inThinking();
    },
    end(): ModelPiece[] {
      return held === "" ? [] : [{ kind: state === "thinking" ? "reasoning" : "text", text: held }];
    },
  };
}

const maxEventChars = 1024 * 1024;

/**
 * The payloads of a stream of server-sent events, wherever its chunks end. Ignores comments
 * and other fields; a bare JSON line is a payload, too. Throws ModelFailure for an event above
 * 1 MiB.
 */
export async function* payloadsOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let payloads: string[] = [];
  let failure: ModelFailure | undefined;
  const { feed } = createParser({
    maxBufferSize: maxEventChars,
    onEvent: ({ data }) => void payloads.push(data),
    onError({ type, line }) {
      if (type === "max-buffer-size-exceeded") {
        const text = "The model's server sent an event of more than 1 MiB";
        failure = new ModelFailure("API_ERROR", text);
      } else if (line?.startsWith("{")) payloads.push(line);
    },
  });
  const utf8 = new TextDecoder();
  const take = function* (text: string): Generator<string> {
    feed(text);
    yield* payloads;
    payloads = [];
    if (failure) throw failure;
  };
  for await (const chunk of chunks) yield* take(utf8.decode(chunk, { stream: true }));
  // An empty line ends the last event.
  yield* take(`${utf8.decode()}\n\n`);
}
