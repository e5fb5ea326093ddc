import { codeOf } from "../../../errors.ts";

/** Why the model gave no answer; becomes an error line of the stream: observed-service.md 2.6. */
export class ModelFailure extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.name = "ModelFailure";
    this.code = code;
  }
}

/** What may go away by itself. */
export function isRetryable({ code }: ModelFailure): boolean {
  return /^(?:RATE_LIMIT|SERVICE_UNAVAILABLE|CONNECTION_ERROR|API_ERROR)$/.test(code);
}

const tooLong =
  /context.?(?:length|window|size)|maximum context|too many tokens|prompt is too long|exceed\w* .{0,40}context/i;
const policy = /content.?(?:policy|filter)|safety|moderation/i;
const noMoney = /insufficient.?(?:quota|balance|funds)|billing|credit/i;

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

function codeFor(status: number, said: string): string {
  if ((status === 429 || status === 400) && noMoney.test(said)) return "BUDGET_EXCEEDED";
  if ([400, 413, 422, 500].includes(status) && tooLong.test(said)) return "CONTEXT_TOO_LONG";
  if (status === 400 && policy.test(said)) return "CONTENT_POLICY";
  return byStatus[status] ?? (status >= 400 && status < 500 ? "BAD_REQUEST" : "API_ERROR");
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

interface Said {
  message: string | undefined;
  /** Its machine-readable parts, for finding out the kind. */
  kind: string;
  status: number | undefined;
}

/** The words in an error of whatever form: `{error: {…}}`, `{error: "…"}`, `{message}`, `{detail}`. */
function saidIn(value: unknown): Said {
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

/** One line of at most 400 characters, the key blacked out wherever the server repeats it. */
function tidy(words: string, key: string | undefined): string {
  const safe = key ? words.replaceAll(key, "***") : words;
  const line = safe.replace(/\s+/g, " ").trim();
  return line.length > 400 ? `${line.slice(0, 399)}…` : line;
}

const own: Record<string, string> = {
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

/** The failure that an answer with an error status tells. */
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
  const { message, kind } = saidIn(value);
  // A page of a proxy tells nothing that fits into a line.
  const words = message ?? (value === undefined && !/^\s*</.test(body) ? textOf(body) : undefined);
  const code = codeFor(status, `${kind} ${words ?? ""}`);
  const head = own[code] ?? "The model's server failed";
  const text = words === undefined ? "" : `: ${words}`;
  return new ModelFailure(code, tidy(`${head} (${status})${text}`, key));
}

/** The failure in an `error` member that came with status 200, alone or within a stream. */
export function failureOfMember(value: unknown, key: string | undefined): ModelFailure {
  const { message, kind, status } = saidIn({ error: value });
  const words = `${kind} ${message ?? ""}`;
  let code = codeFor(status ?? 400, words);
  if (status === undefined && code === "BAD_REQUEST") {
    if (/rate.?limit/i.test(words)) code = "RATE_LIMIT";
    else if (/authentication|api.?key|unauthorized/i.test(words)) code = "AUTH_ERROR";
    else if (/overloaded|unavailable/i.test(words)) code = "SERVICE_UNAVAILABLE";
    else code = "API_ERROR";
  }
  const head = own[code] ?? "The model's server failed";
  return new ModelFailure(code, tidy(message === undefined ? head : `${head}: ${message}`, key));
}

const connectionWords: Record<string, string> = {
  ECONNREFUSED: "nothing listens there",
  ENOTFOUND: "its host name is not known",
  EAI_AGAIN: "its host name cannot be looked up now",
  ECONNRESET: "it closed the connection",
};

/** For OpenSSL's names of what is wrong with a certificate. */
function certificateWords(code: string): string | undefined {
  if (!/CERT|^UNABLE_TO_|ISSUER/.test(code)) return undefined;
  return `its certificate is not trusted (${code}); give its CA with --ca-file`;
}

/** The failure of a connection that was not made, or broke. Throws what is none. */
export function failureOfConnection(error: unknown, url: URL): ModelFailure {
  if (error instanceof ModelFailure) return error;
  const code = codeOf(error);
  if (code === undefined) throw error;
  // The message of a proxy's failure names it, and nothing secret.
  const isProxys = code.startsWith("PROXY_") && error instanceof Error;
  const why = isProxys ? error.message : (connectionWords[code] ?? certificateWords(code) ?? code);
  return new ModelFailure("CONNECTION_ERROR", `The model's server at ${url.origin}: ${why}`);
}
