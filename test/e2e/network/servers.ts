import {
  createServer as createHttpServer,
  request as httpRequest,
  type IncomingMessage,
} from "node:http";
import { createServer as createHttpsServer, type ServerOptions } from "node:https";
import { connect, type AddressInfo, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type TLSSocket } from "node:tls";
import { onTestFinished } from "vitest";

/** Starts a server on loopback; it and its connections go with the test. */
async function listen(server: Server, host = "127.0.0.1"): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket.on("error", () => {})));
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

export interface Front {
  port: number;
  /** `METHOD path` of each request, with the client certificate's name where one was shown. */
  requests: string[];
}

/** TLS in front of a service: what an ingress does. */
export async function startFront(
  target: string,
  options: ServerOptions,
  host?: string,
): Promise<Front> {
  const requests: string[] = [];
  const { port: targetPort } = new URL(target);
  const server = createHttpsServer(options, (request, response) => {
    const shown = (request.socket as TLSSocket).getPeerCertificate().subject as
      | { CN?: string }
      | undefined;
    requests.push(`${request.method} ${request.url}${shown?.CN ? ` as ${shown.CN}` : ""}`);
    const headers = { ...request.headers, host: `127.0.0.1:${targetPort}` };
    const { method, url } = request;
    const onward = httpRequest(
      { host: "127.0.0.1", port: targetPort, method, path: url, headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    onward.on("error", () => response.destroy());
    request.pipe(onward);
  });
  return { port: await listen(server, host), requests };
}

/** What a proxy does with a CONNECT: leads on, or answers by itself. */
export type Behaviour = (request: IncomingMessage, socket: Socket) => void;

/** Leads every name to 127.0.0.1, as a company's name server might. */
export const leadOn: Behaviour = (request, socket) => {
  const target = connect(Number(request.url?.split(":").at(-1)), "127.0.0.1", () => {
    socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
    target.pipe(socket).pipe(target);
  });
  target.on("error", () => socket.destroy());
  socket.on("close", () => target.destroy());
};

/** Says `text` instead of leading on. */
export const answer =
  (text: string): Behaviour =>
  (_request, socket) => {
    socket.end(text);
  };

/** Opens the TLS of the client with a certificate of its own, and speaks with the service itself. */
export function inspect(options: ServerOptions, target: string): Behaviour {
  return (_request, socket) => {
    const inner = createTlsServer(options, (plain) => {
      plain.on("error", () => {});
      const onward = connect(Number(new URL(target).port), "127.0.0.1");
      onward.on("error", () => plain.destroy());
      // The sandbox serves its own name alone.
      plain.once("data", (chunk: Buffer) => {
        const { port } = new URL(target);
        onward.write(
          chunk.toString("latin1").replace(/^host: .*$/im, `host: 127.0.0.1:${port}`),
          "latin1",
        );
        plain.pipe(onward).pipe(plain);
      });
    });
    inner.on("tlsClientError", () => {});
    socket.write("HTTP/1.1 200 OK\r\n\r\n");
    inner.emit("connection", socket);
  };
}

export interface ProxyServer {
  port: number;
  /** Head of each CONNECT: target and every header. */
  connects: { target: string; headers: Record<string, unknown> }[];
  /** Requests that were no CONNECT. */
  plain: string[];
}

/** A CONNECT proxy; with `tls` one that speaks TLS itself. */
export async function startProxy(
  behaviour: Behaviour = leadOn,
  options: { tls?: ServerOptions; host?: string } = {},
): Promise<ProxyServer> {
  const connects: ProxyServer["connects"] = [];
  const plain: string[] = [];
  const server = options.tls ? createHttpsServer(options.tls) : createHttpServer();
  server.on("tlsClientError", () => {});
  server.on("request", (request, response) => {
    plain.push(request.url ?? "");
    response.end();
  });
  server.on("connect", (request: IncomingMessage, socket: Socket) => {
    connects.push({ target: request.url ?? "", headers: request.headers });
    behaviour(
      request,
      socket.on("error", () => {}),
    );
  });
  return { port: await listen(server, options.host), connects, plain };
}

/** A server of a language model that says `text` to everything. Gives its address. */
export async function startModel(text: string): Promise<string> {
  const server = createHttpServer((request, response) => {
    request.resume();
    const delta = { choices: [{ index: 0, delta: { content: text }, finish_reason: null }] };
    const end = { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
    response.setHeader("content-type", "text/event-stream");
    for (const each of [delta, end]) response.write(`data: ${JSON.stringify(each)}\n\n`);
    response.end("data: [DONE]\n\n");
  });
  return `http://127.0.0.1:${await listen(server)}`;
}
