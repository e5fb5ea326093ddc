import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

interface LlmRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: {
    model: string;
    stream: boolean;
    temperature?: number;
    messages: { role: string; content: string }[];
  };
}

export interface LlmServer {
  /** `http://127.0.0.1:PORT`, without `/v1`. */
  url: string;
  requests: LlmRequest[];
}

/** A server that speaks as OpenAI's does; `answer` says what it says, in any way it likes. */
export async function startLlmServer(
  answer: (response: ServerResponse, request: LlmRequest) => unknown,
): Promise<LlmServer> {
  const requests: LlmRequest[] = [];
  const server = createServer((incoming, response) => {
    let text = "";
    incoming.setEncoding("utf8").on("data", (part: string) => (text += part));
    incoming.once("end", () => {
      const { method = "", url: path = "", headers } = incoming;
      const request = { method, path, headers, body: JSON.parse(text || "{}") as never };
      requests.push(request);
      void answer(response, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

/** One chunk of a streamed completion. */
export function chunk(delta: object, finish: string | null = null): object {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return { id: "c1", object: "chat.completion.chunk", model: "m", choices };
}

export const event = (value: unknown): string =>
  `data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`;

/** The events of an answer with these pieces of text. */
export function answerOf(...texts: string[]): string {
  const events = [
    chunk({ role: "assistant", content: "" }),
    ...texts.map((content) => chunk({ content })),
    chunk({}, "stop"),
    { id: "c1", choices: [], usage: { total_tokens: 3 } },
    "[DONE]",
  ];
  return events.map(event).join("");
}

/** Begins a stream of events, which the caller goes on with. */
export function begin(response: ServerResponse, type = "text/event-stream"): ServerResponse {
  response.writeHead(200, { "content-type": type });
  response.flushHeaders();
  return response;
}

/** A promise with its resolve beside it. */
export function gate(): { opened: Promise<void>; open: () => void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}
