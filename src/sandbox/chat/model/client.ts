import { type IncomingMessage, request as httpRequest, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Duplex } from "node:stream";
import type { Socket } from "node:net";
import {
  checkEnd,
  createThinkingFilter,
  type ModelPiece,
  payloadPieces,
  type StreamOutcome,
  payloadsOf,
  failureOfConnection,
  failureOfStatus,
  ModelFailure,
} from "./completion.ts";
import { CliError } from "../../../errors.ts";

type Opened = (error: Error | null, socket?: Socket) => void;

/** An OpenAI-compatible server. */
export interface ModelServer {
  /** Endpoint of completions; the key is sent to no other URL. */
  url: URL;
  /** Bearer token; undefined for servers without keys. */
  key: string | undefined;
  /** Default model, unless a question names another one. */
  model: string;
  /** Instructions for the model; the sandbox has its own default. */
  instructions?: string | undefined;
  /** Opens connections through a proxy or with extra certificates; default: direct. */
  connect?: ((opened: Opened) => void) | undefined;
  /** Idle timeout of a response. */
  idleMs: number;
}

export interface ModelMessage {
  role: "system" | "user" | "assistant";
  content: string;
}

export interface ModelQuestion {
  model: string;
  temperature: number | undefined;
  messages: ModelMessage[];
}

const connectMs = 10_000;
const maxErrorBytes = 64 * 1024;
const maxReplyBytes = 16 * 1024 * 1024;
const maxAnswerChars = 4 * 1024 * 1024;

/** Request options that decide how the request gets its connection. */
function routeOf({ connect }: ModelServer): Pick<RequestOptions, "agent" | "createConnection"> {
  if (!connect) return { agent: false };
  return {
    createConnection(_options, opened) {
      connect((error, socket) => opened(error, socket as Duplex));
      return undefined;
    },
  };
}

/** Sends the question; resolves with the head of the response. Node follows no redirects. */
async function post(
  server: ModelServer,
  body: string,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { url, key, idleMs } = server;
  const silent = (what: string, ms: number): ModelFailure =>
    new ModelFailure("CONNECTION_ERROR", `The model's server ${what} for ${ms / 1000} s`);
  return await new Promise((resolve, reject) => {
    const send = url.protocol === "https:" ? httpsRequest : httpRequest;
    const request = send(url, {
      method: "POST",
      signal,
      ...routeOf(server),
      headers: {
        "content-type": "application/json",
        accept: "text/event-stream, application/json",
        "accept-encoding": "identity",
        "content-length": Buffer.byteLength(body),
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      },
    });
    const connecting = setTimeout(
      () => request.destroy(silent("could not be reached", connectMs)),
      connectMs,
    );
    const connected = (): void => clearTimeout(connecting);
    request.once("socket", (socket) => {
      if (socket.connecting) socket.once("connect", connected);
      else connected();
    });
    request.once("close", connected);
    let arrived: IncomingMessage | undefined;
    // Destroy the response, not the request: otherwise its error would only report a cut.
    request.setTimeout(idleMs, () => (arrived ?? request).destroy(silent("was silent", idleMs)));
    request.once("response", (response) => resolve((arrived = response)));
    request.on("error", reject);
    request.end(body);
  });
}

async function wholeText(response: IncomingMessage, limit: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

async function* payloads(
  response: IncomingMessage,
  outcome: StreamOutcome,
): AsyncGenerator<string> {
  const type = response.headers["content-type"] ?? "";
  if (/html/i.test(type)) {
    const words =
      "The model's server answered with a web page; is --llm-url the address of its API?";
    throw new ModelFailure("API_ERROR", words);
  }
  if (!/json(?!l|-seq)/i.test(type) || /ndjson/i.test(type)) return yield* payloadsOf(response);
  // The server does not stream despite the request.
  outcome.ended = true;
  yield await wholeText(response, maxReplyBytes);
}

async function* pieces(
  server: ModelServer,
  question: ModelQuestion,
  signal: AbortSignal,
  outcome: StreamOutcome,
): AsyncGenerator<ModelPiece> {
  const { temperature, ...rest } = question;
  const body = JSON.stringify({
    ...rest,
    ...(temperature === undefined ? {} : { temperature }),
    stream: true,
  });
  const response = await post(server, body, signal);
  const status = response.statusCode ?? 0;
  if (status !== 200) {
    throw failureOfStatus(status, await wholeText(response, maxErrorBytes), server.key);
  }
  const thinking = createThinkingFilter();
  let length = 0;
  for await (const payload of payloads(response, outcome)) {
    for (const piece of payloadPieces(payload, outcome, server.key)) {
      length += piece.text.length;
      if (length > maxAnswerChars) {
        throw new ModelFailure(
          "API_ERROR",
          "The model's answer is longer than the sandbox accepts",
        );
      }
      if (piece.kind === "text") yield* thinking.push(piece.text);
      else yield piece;
    }
    if (outcome.ended) break;
  }
  yield* thinking.end();
}

/**
 * Asks the model and streams its answer in pieces. Throws ModelFailure for every failure,
 * or the signal's reason on an abort.
 */
export async function* askModel(
  server: ModelServer,
  question: ModelQuestion,
  signal: AbortSignal,
): AsyncGenerator<ModelPiece> {
  const outcome: StreamOutcome = { ended: false, finish: undefined, refusal: "" };
  let isEmpty = true;
  try {
    for await (const piece of pieces(server, question, signal, outcome)) {
      if (piece.kind === "text" && piece.text.trim() !== "") isEmpty = false;
      if (piece.text !== "") yield piece;
    }
    checkEnd(outcome, isEmpty);
  } catch (error) {
    signal.throwIfAborted();
    throw failureOfConnection(error, server.url);
  }
}

function refused(why: string): CliError {
  return new CliError("usage", `--llm-url: ${why}`, {
    hints: ["name the server's base address, for example --llm-url http://127.0.0.1:11434/v1"],
  });
}

/**
 * The completions endpoint of an OpenAI-compatible server. `base` is its base address with or
 * without `/v1`, or the endpoint itself. A version in the path (`/v1beta/openai`) replaces
 * `/v1`; a query (`?api-version=…`) is kept. Throws CliError `usage` for an address that is
 * not http(s) or holds a secret.
 */
export function completionsUrl(base: string): URL {
  const url = URL.canParse(base) ? new URL(base) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw refused("is not an http or https address");
  if (url.username !== "" || url.password !== "") {
    // The message omits the address: it holds a secret.
    throw refused("holds a user name or password; put the key in KNOWCTL_SANDBOX_LLM_KEY");
  }
  url.hash = "";
  const path = url.pathname.replace(/\/+$/, "");
  if (path.endsWith("/chat/completions")) url.pathname = path;
  else if (/\/v\d/.test(path)) url.pathname = `${path}/chat/completions`;
  else url.pathname = `${path}/v1/chat/completions`;
  return url;
}
