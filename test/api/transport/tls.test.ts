import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:https";
import { connect, createServer as createNetServer, type AddressInfo, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { streamChat } from "../../../src/api/chat/chat.ts";
import { listConnectors } from "../../../src/api/connectors.ts";
import { createAuthority } from "../../e2e/network/authority.ts";
import { holdTime } from "../../held-time.ts";
import { closeAll, errorOf, openClient, startRaw } from "../support.ts";

const closers: (() => void)[] = [];
const { certify, read } = createAuthority();
certify("localhost", "DNS:localhost");
certify("service.test", "DNS:service.test");
certify("expired", "DNS:localhost", "-1");

afterEach(async () => {
  for (const close of closers.splice(0)) close();
  await closeAll();
});

interface TlsServer {
  port: number;
  connections: () => number;
  requests: string[];
}

async function startTls(name: string, body = "[]", type = "application/json"): Promise<TlsServer> {
  const requests: string[] = [];
  let connections = 0;
  const options = { key: read(`${name}.key`), cert: read(`${name}.crt`) };
  const server = createServer(options, (request, response) => {
    requests.push(`${request.method} ${request.url}`);
    request.resume();
    response.setHeader("content-type", type).end(body);
  });
  server.on("connection", () => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return { port: (server.address() as AddressInfo).port, connections: () => connections, requests };
}

type ProxyMode = "ok" | "407" | "502" | "destroy" | "hang";

interface ProxyServer {
  port: number;
  /** `CONNECT` targets with the credentials that came. */
  connects: string[];
  plain: string[];
}

/** A CONNECT proxy that leads every name to 127.0.0.1. */
async function startProxy(mode: ProxyMode, onHang = (): void => {}): Promise<ProxyServer> {
  const connects: string[] = [];
  const plain: string[] = [];
  const sockets = new Set<Socket>();
  const server = createHttpServer((request, response) => {
    plain.push(request.url ?? "");
    response.end();
  });
  server.on("connect", (request, socket: Socket) => {
    connects.push(`${request.url} ${request.headers["proxy-authorization"] ?? "-"}`);
    sockets.add(socket.on("error", () => {}));
    if (mode === "destroy") return void socket.destroy();
    if (mode === "407")
      return void socket.end("HTTP/1.1 407 Authenticate\r\ncontent-length: 0\r\n\r\n");
    if (mode === "502") return void socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
    if (mode === "hang") return onHang();
    const target = connect(Number(request.url?.split(":").at(-1)), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      target.pipe(socket).pipe(target);
    });
    sockets.add(target.on("error", () => socket.destroy()));
    return undefined;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
    server.closeAllConnections();
  });
  return { port: (server.address() as AddressInfo).port, connects, plain };
}

describe("a certificate", () => {
  it("of our own CA is accepted with the CA given", async () => {
    const server = await startTls("localhost");
    const client = openClient(`https://localhost:${server.port}`, { ca: read("ca.crt") });
    expect(await listConnectors(client)).toEqual([]);
  });

  it.each([
    ["localhost", false, /unknown CA|not complete/],
    ["service.test", true, /another host name/],
    ["expired", true, /expired/],
  ])("of %s is refused at once", async (name, withCa, words) => {
    const server = await startTls(name);
    const ca = withCa ? { ca: read("ca.crt") } : {};
    const client = openClient(`https://localhost:${server.port}`, ca);
    const thrown = await errorOf(listConnectors(client));
    expect(thrown).toMatchObject({ exit: "unreachable", retryable: false });
    expect(thrown.message).toMatch(words);
    const hints = String(thrown["hints"]);
    expect(hints).toContain("--ca-file");
    expect(hints).toContain("NODE_EXTRA_CA_CERTS");
    expect(hints).not.toMatch(/insecure|REJECT_UNAUTHORIZED/i);
    expect(client.clock.sleeps).toEqual([]);
    expect(server.connections()).toBe(1);
    expect(server.requests).toEqual([]);
  });

  it("is not looked at when the profile says so", async () => {
    const server = await startTls("localhost");
    const client = openClient(`https://localhost:${server.port}`, { allowInsecureTls: true });
    expect(await listConnectors(client)).toEqual([]);
  });

  it("is asked for although the environment says otherwise", async () => {
    const server = await startTls("localhost");
    const before = process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
    process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
    try {
      const thrown = await errorOf(listConnectors(openClient(`https://localhost:${server.port}`)));
      expect(thrown).toMatchObject({ exit: "unreachable", retryable: false });
      expect(server.requests).toEqual([]);
    } finally {
      if (before === undefined) delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
      else process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = before;
    }
  });

  it("is not asked of a server that speaks plain HTTP", async () => {
    const server = createNetServer((socket) => {
      socket.on("error", () => {}).once("data", () => socket.end("HTTP/1.1 400 Bad\r\n\r\n"));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closers.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    const client = openClient(`https://localhost:${port}`);
    const thrown = await errorOf(listConnectors(client));
    expect(thrown).toMatchObject({ exit: "unreachable", retryable: false });
    expect(String(thrown["hints"])).toContain("http://");
    expect(client.clock.sleeps).toEqual([]);
  });
});

describe("a proxy", () => {
  const base = (port: number): string => `https://service.test:${port}`;

  it("gives a tunnel: the request and its key go through TLS inside", async () => {
    const server = await startTls("service.test");
    const proxy = await startProxy("ok");
    const client = openClient(base(server.port), {
      proxy: `http://alice:CANARY-proxy@127.0.0.1:${proxy.port}`,
      ca: read("ca.crt"),
    });
    expect(await listConnectors(client)).toEqual([]);
    const credentials = Buffer.from("alice:CANARY-proxy").toString("base64");
    expect(proxy.connects).toEqual([`service.test:${server.port} Basic ${credentials}`]);
    expect(proxy.plain).toEqual([]);
    expect(server.requests).toEqual(["GET /api/manage/admin/connector/status"]);
  });

  it("carries a chat on a connection of its own", async () => {
    const stream = '{"chat_session_id":"s"}\n{"placement":null,"obj":{"type":"stop"}}\n';
    const server = await startTls("service.test", stream, "text/event-stream");
    const proxy = await startProxy("ok");
    const client = openClient(base(server.port), {
      proxy: `http://127.0.0.1:${proxy.port}`,
      ca: read("ca.crt"),
    });
    for (let count = 0; count < 2; count++) {
      let events = 0;
      for await (const batch of streamChat(client, { message: "Hi" })) events += batch.length;
      expect(events).toBe(2);
    }
    expect(proxy.connects).toHaveLength(2);
  });

  it("gives a tunnel for plain http, too", async () => {
    const server = await startRaw((socket) => {
      socket.write(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n[]",
      );
    });
    const proxy = await startProxy("ok");
    const client = openClient(`http://service.test:${server.port}`, {
      proxy: `127.0.0.1:${proxy.port}`,
    });
    expect(await listConnectors(client)).toEqual([]);
    expect(proxy.connects).toEqual([`service.test:${server.port} -`]);
  });

  it.each<[ProxyMode, number, RegExp]>([
    ["destroy", 4, /closed the connection/],
    ["502", 4, /answered 502/],
    ["407", 1, /answered 407/],
  ])("in mode %s is asked %i times", async (mode, times, words) => {
    const proxy = await startProxy(mode);
    const client = openClient(base(1), {
      proxy: `http://alice:CANARY-proxy@127.0.0.1:${proxy.port}`,
    });
    const thrown = await errorOf(listConnectors(client));
    expect(thrown).toMatchObject({ exit: "unreachable" });
    expect(thrown.message).toContain(`proxy 127.0.0.1:${proxy.port}: `);
    expect(thrown.message).toMatch(words);
    expect(JSON.stringify(thrown) + thrown.stack).not.toContain("CANARY");
    expect(proxy.connects).toHaveLength(times);
  });

  it("that is down is asked as often as any", async () => {
    const proxy = await startProxy("ok");
    for (const close of closers.splice(0)) close();
    const client = openClient(base(1), { proxy: `http://127.0.0.1:${proxy.port}` });
    const thrown = await errorOf(listConnectors(client));
    expect(thrown).toMatchObject({ exit: "unreachable" });
    expect(thrown.message).toMatch(/proxy 127.0.0.1:\d+: ECONNREFUSED/);
    expect(client.clock.sleeps).toHaveLength(3);
  });

  it("that says nothing does not hold the call beyond its limit", async () => {
    const pass = holdTime();
    const proxy = await startProxy("hang", () => pass(60));
    const client = openClient(base(1), {
      proxy: `http://127.0.0.1:${proxy.port}`,
      timeoutMs: 50,
    });
    const thrown = await errorOf(listConnectors(client));
    expect(thrown).toMatchObject({ exit: "timeout" });
    expect(proxy.connects).toHaveLength(4);
  });

  it("sees nothing of loopback", async () => {
    const server = await startTls("localhost");
    const proxy = await startProxy("ok");
    const client = openClient(`https://localhost:${server.port}`, {
      proxy: `http://127.0.0.1:${proxy.port}`,
      ca: read("ca.crt"),
    });
    expect(await listConnectors(client)).toEqual([]);
    expect(proxy.connects).toEqual([]);
  });

  it("a question that never got a tunnel may be asked again", async () => {
    const proxy = await startProxy("502");
    const client = openClient(base(1), { proxy: `http://127.0.0.1:${proxy.port}` });
    const ask = async (): Promise<void> => {
      for await (const _batch of streamChat(client, { message: "Hi" }));
    };
    expect(await errorOf(ask())).toMatchObject({ exit: "unreachable" });
    expect(proxy.connects).toHaveLength(3);
  });
});
