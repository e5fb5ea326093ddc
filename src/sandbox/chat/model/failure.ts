import { codeOf } from "../../../errors.ts";

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
export function failureOfMember(value: unknown, key: string | undefined): ModelFailure {
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
