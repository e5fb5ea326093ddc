import type { SandboxOptions } from "../../src/sandbox/options.ts";
import { connect } from "node:net";
import { onTestFinished } from "vitest";
import type { ChatReply } from "../../src/api/chat-schemas.ts";
import type { IngestionDocument } from "../../src/api/schemas.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/http/server.ts";
import { temporaryFolder } from "../support.ts";

export const key = "a-key-of-the-test";

interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** The parsed body; throws when it is not JSON. */
  json: () => never;
}

/** A line of a chat stream, before it is checked. */
export interface Line {
  placement?: { turn_index: number };
  obj?: { type: string; [member: string]: unknown };
  chat_session_id?: string;
  user_message_id?: number;
  reserved_assistant_message_id?: number;
  [member: string]: unknown;
}

export interface Started extends Sandbox {
  dataFolder: string;
  send: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<Answer>;
  get: (path: string, headers?: Record<string, string>) => Promise<Answer>;
  /** Posts a document to the dialect's path. */
  ingest: (document: Record<string, unknown>, ccPairId?: unknown) => Promise<Answer>;
  /** The lines of a streamed turn, parsed. */
  ask: (message: string, more?: Record<string, unknown>) => Promise<Line[]>;
  whole: (message: string, more?: Record<string, unknown>) => Promise<ChatReply>;
}

const paths = { standard: "/api/svc-api/ingestion", onyx: "/api/onyx-api/ingestion" };

export function documentOf(more: Partial<IngestionDocument> = {}): Record<string, unknown> {
  return {
    id: "a.md",
    semantic_identifier: "A",
    sections: [{ text: "Some text." }],
    source: "file",
    metadata: {},
    ...more,
  };
}

export function linesOf(text: string): Line[] {
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => JSON.parse(line.replace(/^data: /, "")) as Line);
}

/** A sandbox for the running test, closed when the test ends. */
export async function start(options: Partial<SandboxOptions> = {}): Promise<Started> {
  const dataFolder = options.dataFolder ?? temporaryFolder();
  const sandbox = await startSandbox({ port: 0, dataFolder, key, ...options });
  onTestFinished(() => sandbox.close());
  const authorization = `Bearer ${options.key ?? key}`;
  const send: Started["send"] = async (method, path, body, headers) => {
    const response = await fetch(sandbox.url + path, {
      method,
      redirect: "manual",
      headers: {
        authorization,
        ...(body === undefined || body instanceof FormData
          ? {}
          : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : {
            body:
              typeof body === "string" || body instanceof FormData ? body : JSON.stringify(body),
          }),
    });
    const text = await response.text();
    const { status } = response;
    return { status, headers: response.headers, text, json: () => JSON.parse(text) as never };
  };
  const chat = "/api/chat/send-chat-message";
  return {
    ...sandbox,
    dataFolder,
    send,
    get: (path, headers) => send("GET", path, undefined, headers),
    ingest: (document, ccPairId = 2) =>
      send("POST", paths[options.dialect ?? "standard"], { document, cc_pair_id: ccPairId }),
    ask: async (message, more) => linesOf((await send("POST", chat, { message, ...more })).text),
    whole: async (message, more) =>
      (await send("POST", chat, { message, stream: false, ...more })).json(),
  };
}

/** Sends bytes as they are and returns everything that comes back until the end. */
export async function raw(port: number, ...parts: string[]): Promise<string> {
  return await new Promise((resolve) => {
    let text = "";
    const socket = connect(port, "127.0.0.1", () => {
      for (const part of parts) socket.write(part);
    });
    socket.setEncoding("latin1").on("data", (chunk: string) => (text += chunk));
    socket.on("error", () => {}).on("close", () => resolve(text));
  });
}
