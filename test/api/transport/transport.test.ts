import { once } from "node:events";
import { type AddressInfo, type Socket, createServer } from "node:net";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { streamChat } from "../../../src/api/chat/chat.ts";
import { listConnectors } from "../../../src/api/connectors.ts";
import { holdTime } from "../../held-time.ts";
import {
  closeAll,
  createTestClock,
  errorOf,
  jsonText,
  openClient,
  startHttp,
  startRaw,
} from "../support.ts";
import { readFault } from "../../../src/api/transport/faults.ts";
import { type Headers, allHeaders, header } from "../../../src/api/transport/headers.ts";
import {
  goesDirect,
  isLoopbackHost,
  parseProxy,
  proxyFor,
} from "../../../src/api/transport/tunnel.ts";
import * as z from "zod/mini";
import { createGate } from "../../../src/api/retry/gate.ts";
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { type Exchange, type Watch, watch } from "../../../src/api/transport/watch.ts";
import { upsertDocument } from "../../../src/api/documents.ts";

describe("connector", () => {
  afterEach(closeAll);

  /** Takes connections and never says a word: no handshake ends, no tunnel opens. */
  async function startSilent() {
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket.on("error", () => {}).resume());
      server.emit("taken", socket);
    });
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    return { server, sockets, port: (server.address() as AddressInfo).port };
  }

  describe.each<[string, (port: number) => [url: string, options: { proxy?: string }]]>([
    ["a TLS handshake", (port) => [`https://localhost:${port}`, {}]],
    ["a tunnel", (port) => ["https://service.test", { proxy: `http://127.0.0.1:${port}` }]],
  ])("%s that never ends", (_name, addressOf) => {
    it("is given up with the client, not held to its own limit", async () => {
      const { server, port } = await startSilent();
      const [url, options] = addressOf(port);
      const abort = new AbortController();
      const client = openClient(url, { ...options, signal: abort.signal });
      const asked = errorOf(listConnectors(client));
      const [socket] = (await once(server, "taken")) as [Socket];
      abort.abort(new Error("stop"));
      expect((await asked).message).toBe("stop");
      const closed = once(socket, "close");
      await client.close();
      await closed;
    });

    it("cannot have taken a question: it may be asked again and is a timeout", async () => {
      const pass = holdTime();
      const { server, sockets, port } = await startSilent();
      server.on("taken", () => pass(110));
      const [url, options] = addressOf(port);
      const client = openClient(url, { ...options, timeoutMs: 100 });
      const error = await errorOf(streamChat(client, { message: "hi" }).next());
      expect(error).toMatchObject({ exit: "timeout", code: "HEADERS_TIMEOUT" });
      expect(error.message).not.toContain("delivered");
      expect(sockets).toHaveLength(3);
    });
  });
});

describe("faults", () => {
  it.each(["EMFILE", "ENFILE"])("%s ends the run: no later attempt would find more", (code) => {
    const error = Object.assign(new Error(`connect ${code}`), { code, syscall: "connect" });
    for (const unsent of [true, false]) {
      expect(readFault(error, unsent)).toMatchObject({
        kind: "fatal",
        exit: "local",
        words: "too many open files",
        hints: [expect.stringContaining("ulimit -n")],
      });
    }
  });

  it("advises a longer --timeout only where it has an effect: the time for a connection is fixed", () => {
    const hintsOf = (code: string): string[] | undefined =>
      readFault(Object.assign(new Error(code), { code, syscall: "connect" }), true)?.hints;
    for (const code of ["UND_ERR_CONNECT_TIMEOUT", "ETIMEDOUT"]) {
      expect(hintsOf(code)).toEqual([expect.stringContaining("reachable from here")]);
    }
    for (const code of ["HEADERS_TIMEOUT", "IDLE_TIMEOUT", "TOTAL_TIMEOUT"]) {
      expect(hintsOf(code)).toEqual(["a longer --timeout may help"]);
    }
  });
});

describe("headers", () => {
  const raw = (...texts: string[]): Headers => texts.map((text) => Buffer.from(text, "latin1"));
  const some = raw(
    "Content-Type",
    "text/plain",
    "Via",
    "a",
    "via",
    "b",
    "VIA",
    "c",
    "x-caf\u00e9",
    "\u00e9",
  );

  describe("headers of an answer", () => {
    it("are found by name, however it is written, the first of several", () => {
      expect(header(some, "content-type")).toBe("text/plain");
      expect(header(some, "via")).toBe("a");
      expect(header(some, "x-caf\u00e9")).toBe("\u00e9");
      expect(header(some, "text/plain")).toBeUndefined();
      expect(header([], "via")).toBeUndefined();
    });

    it("are all given by lower-case name, those that come several times as a list", () => {
      const all = allHeaders([...some, ...raw("__proto__", "x", "constructor", "y")]);
      expect(Object.entries(all)).toEqual([
        ["content-type", "text/plain"],
        ["via", ["a", "b", "c"]],
        ["x-caf\u00e9", "\u00e9"],
        ["__proto__", "x"],
        ["constructor", "y"],
      ]);
      expect(Object.getPrototypeOf(all)).toBe(Object.prototype);
    });
  });
});

describe("goesDirect", () => {
  it.each<[string, string | undefined, boolean]>([
    // Loopback never meets the proxy.
    ["http://127.0.0.1:8787", undefined, true],
    ["http://127.9.8.7", "", true],
    ["http://localhost:1", undefined, true],
    ["http://api.localhost", undefined, true],
    ["http://[::1]:8787", undefined, true],
    ["http://[::ffff:127.0.0.1]", undefined, true],
    // What only looks like it.
    ["http://127.0.0.1.nip.io", undefined, false],
    ["http://localhost.example", undefined, false],
    ["http://localhost@evil.example", undefined, false],
    ["https://a.example", undefined, false],
    ["https://a.example", "*", true],
    ["https://a.example", "a.example", true],
    ["https://A.Example.", "a.EXAMPLE", true],
    ["https://b.a.example", "a.example", true],
    ["https://b.a.example:8443", "a.example:8443", true],
    ["https://b.a.example:8443", "a.example:443", false],
    ["https://a.example", "b.a.example", false],
    ["https://nota.example", "a.example", false],
    ["https://b.a.example", ".a.example", true],
    ["https://a.example", ".a.example", false],
    ["https://xa.example", ".a.example", false],
    ["https://b.a.example", "*.a.example", true],
    ["https://a.example:8443", "a.example:8443", true],
    ["https://a.example:8443", "a.example:443", false],
    ["https://a.example", "a.example:443", true],
    ["http://a.example", "a.example:80", true],
    ["https://b.a.example:8443", ".a.example:8443", true],
    ["https://10.1.2.3", "10.1.2.3", true],
    ["https://10.1.2.3", "10.0.0.0/8", true],
    ["https://11.1.2.3", "10.0.0.0/8", false],
    ["https://10.1.2.3", "10.0.0.0/99", false],
    ["https://[::ffff:10.1.2.3]", "10.0.0.0/8", true],
    ["https://[2001:db8::1]", "2001:db8::/32", true],
    ["https://[2001:db9::1]", "2001:db8::/32", false],
    ["https://[2001:db8::1]", "2001:db8::1", true],
    ["https://[2001:db8::1]:8443", "[2001:db8::1]:8443", true],
    ["https://128.1.1.1", "127.*", false],
    ["https://10.4.4.4", "10.*", true],
    ["https://a.example", "b.example, ,c.example a.example", true],
    ["https://a.example", "not/a/network,,:80", false],
  ])("%s with NO_PROXY %j: %s", (url, noProxy, expected) => {
    expect(goesDirect(url, noProxy)).toBe(expected);
  });
});

describe("isLoopbackHost", () => {
  it.each([
    ["LOCALHOST", true],
    ["[::1]", true],
    ["127.0.0.1", true],
    ["0.0.0.0", false],
    ["127.example", false],
  ])("%s: %s", (host, expected) => {
    expect(isLoopbackHost(host)).toBe(expected);
  });
});

describe("parseProxy", () => {
  it.each([
    ["http://proxy:3128", { protocol: "http:", hostname: "proxy", port: 3128 }],
    ["proxy:3128", { protocol: "http:", hostname: "proxy", port: 3128 }],
    ["proxy", { protocol: "http:", hostname: "proxy", port: 80 }],
    ["https://proxy", { protocol: "https:", hostname: "proxy", port: 443 }],
    [
      "http://al%40ice:p%3Aw@proxy:1",
      {
        protocol: "http:",
        hostname: "proxy",
        port: 1,
        authorization: `Basic ${Buffer.from("al@ice:p:w").toString("base64")}`,
      },
    ],
  ])("%s", (value, expected) => {
    expect(parseProxy(value)).toEqual(expected);
  });

  it.each(["socks5://alice:SECRET@proxy:1", "http://alice:SECRET@:1", "http://", "://SECRET"])(
    "refuses %s without repeating it",
    (value) => {
      let error: unknown;
      try {
        parseProxy(value, "HTTPS_PROXY");
      } catch (caught) {
        error = caught;
      }
      expect(error).toMatchObject({ exit: "not-configured" });
      expect(String(error)).toContain("HTTPS_PROXY");
      expect(String(error)).not.toContain("SECRET");
    },
  );
});

describe("proxyFor", () => {
  it.each([
    ["https://a.example", undefined, undefined, false],
    ["https://a.example", "", undefined, false],
    ["https://a.example", "http://p:1", undefined, true],
    ["https://a.example", "http://p:1", "a.example", false],
    ["http://127.0.0.1:1", "http://p:1", undefined, false],
  ])("%s through %s except %s: %s", (url, proxy, noProxy, used) => {
    expect(proxyFor(url, proxy, noProxy) !== undefined).toBe(used);
  });
});

describe("status", () => {
  afterEach(closeAll);

  const call = { what: "look", policy: "list", method: "GET", path: "/x", key: "apiKey" } as const;
  const anything = z.object({});

  describe.each([
    "000 Nothing",
    "099 Odd",
    "000",
    "1000 Too long",
    "99 Short",
    "-1 Negative",
    "abc Words",
    "",
    "101 Switching Protocols",
    "100 Continue",
  ])("a response with the status %j", (status) => {
    it("is a fault of the transport, and asked again", async () => {
      const server = await startRaw((socket, _request, number) => {
        socket.end(jsonText({}, number === 1 ? status : "200 OK"));
      });
      await openClient(server.url).call(call, anything);
      expect(server.seen).toHaveLength(2);
    });

    it("is a fault also without a body and an end", async () => {
      const server = await startRaw((socket, _request, number) => {
        if (number > 1) socket.end(jsonText({}));
        else socket.write(`HTTP/1.1 ${status}\r\n\r\n`, () => socket.end());
      });
      await openClient(server.url).call(call, anything);
      expect(server.seen).toHaveLength(2);
    });
  });

  it("ends the call alone, with exit 8, if the service never answers with a status", async () => {
    const server = await startRaw((socket, request) => {
      socket.end(jsonText({}, request.includes("/odd") ? "000 Nothing" : "200 OK"));
    });
    const clock = createTestClock();
    const { signal } = new AbortController();
    const gate = createGate({ ceiling: 1, clock, signal });
    const client = openClient(server.url, { clock });
    await client.call({ ...call, gate }, anything);
    const error = await errorOf(client.call({ ...call, path: "/odd", gate }, anything));
    expect(error).toMatchObject({ exit: "server-error" });
    expect(error.message).toContain("the response is not HTTP (4 attempts)");
    await client.call({ ...call, gate }, anything);
    expect(gate.state().stopped).toBe(undefined);
  });
});

describe("transport", () => {
  const require = createRequire(import.meta.url);

  /** What a fresh process has loaded after it required these modules. */
  function loadedBy(...modules: string[]): string[] {
    const script = `
    for (const name of ${JSON.stringify(modules)}) require(name);
    process.stdout.write(JSON.stringify(Object.keys(require.cache)));`;
    const output = execFileSync(process.execPath, ["-e", script], {
      cwd: new URL("../../..", import.meta.url),
      encoding: "utf8",
    });
    return JSON.parse(output) as string[];
  }

  describe("undici", () => {
    it("is the version whose inner files are named here", () => {
      const { version } = require("undici/package.json") as { version: string };
      expect(version).toBe("7.30.2");
    });

    it("is loaded by its pool alone: no index, no fetch, no second HTTP stack", () => {
      const loaded = loadedBy("undici/lib/dispatcher/pool.js", "undici/lib/core/connect.js");
      const names = loaded.map((path) => path.split("/undici/")[1] ?? path);
      expect(names).toContain("lib/dispatcher/pool.js");
      expect(
        names.filter((name) => /^index\.js|^lib\/(web|mock|cache|interceptor)\//.test(name)),
      ).toEqual([]);
      expect(names.length).toBeLessThan(40);
      expect(loadedBy("undici").length).toBeGreaterThan(names.length);
    });

    it("still calls the handler that the exchange implements as it is", () => {
      const Pool = require("undici/lib/dispatcher/pool.js") as new (...args: unknown[]) => object;
      expect(Pool.prototype).toHaveProperty("dispatch");
      const wrapper = require("undici/lib/handler/unwrap-handler.js") as {
        unwrap(handler: object): object;
      };
      const exchange = { headersMs: 0, idleMs: 0, totalMs: 0, responseBytes: 1 };
      const listener = { onHeaders() {}, onChunk() {}, onEnd() {}, onError() {} };
      const { handler } = watch(
        { ...exchange, method: "GET", path: "/", headers: {}, fresh: false },
        listener,
        [],
      );
      expect(wrapper.unwrap(handler)).toBe(handler);
    });
  });
});

describe("watch", () => {
  const exchange: Exchange = {
    method: "GET",
    path: "/",
    headers: {},
    headersMs: 0,
    idleMs: 0,
    totalMs: 0,
    responseBytes: 10,
    fresh: false,
  };

  /** An exchange, and what its listener is told. */
  function follow(inFlight: Watch[] = []): { watched: Watch; told: unknown[] } {
    const told: unknown[] = [];
    const listener = {
      onHeaders: (status: number) => told.push(status),
      onChunk: (chunk: Buffer) => told.push(String(chunk)),
      onEnd: () => told.push("end"),
      onError: (error: Error) => told.push(error),
    };
    return { watched: watch(exchange, listener, inFlight), told };
  }

  it("leaves those in flight at its end, and no other one with it", () => {
    const inFlight: Watch[] = [];
    const [first, second, third] = Array.from({ length: 3 }, () => follow(inFlight).watched);
    first?.handler.onComplete([]);
    first?.abort(new Error("again"));
    expect(new Set(inFlight)).toEqual(new Set([second, third]));
    third?.abort(new Error("ended"));
    expect(inFlight).toEqual([second]);
  });

  it("does not let a request out that was ended while it waited for a connection", () => {
    const { watched, told } = follow();
    const reason = new Error("ended");
    watched.abort(reason);
    const ended: Error[] = [];
    watched.handler.onConnect((error) => ended.push(error));
    expect(ended).toEqual([reason]);
    watched.handler.onError(reason);
    expect(told).toEqual([reason]);
  });

  it("takes no interim answer for the answer", () => {
    const { watched, told } = follow();
    watched.handler.onConnect(() => {});
    expect(watched.handler.onHeaders(103, [], () => {})).toBe(true);
    expect(watched.handler.onHeaders(200, [], () => {})).toBe(true);
    watched.handler.onData(Buffer.from("text"));
    watched.handler.onComplete([]);
    expect(told).toEqual([200, "text", "end"]);
  });

  describe("the deadlines of an exchange", () => {
    beforeEach(() => void vi.useFakeTimers());
    afterEach(() => void vi.useRealTimers());

    /** Starts an exchange with limits; says when it ended, and why. */
    function start(limits: Partial<Exchange>, isBehind = () => false) {
      const begun = performance.now();
      const ended: [ms: number, code: string][] = [];
      const inFlight: Watch[] = [];
      const onError = (error: Error) => {
        const { code } = error as Error & { code: string };
        ended.push([Math.round(performance.now() - begun), code]);
      };
      const listener = { onHeaders() {}, onChunk() {}, onEnd() {}, onError, isBehind };
      const { handler } = watch({ ...exchange, ...limits }, listener, inFlight);
      handler.onConnect(() => {});
      return { handler, ended, inFlight };
    }

    it.each<[string, Partial<Exchange>, [number, string]]>([
      ["headers that do not come", { headersMs: 500 }, [500, "HEADERS_TIMEOUT"]],
      ["no end in time", { headersMs: 500, totalMs: 20 }, [20, "TOTAL_TIMEOUT"]],
      ["a limit beyond those of timers", { totalMs: 3e9 }, [3e9, "TOTAL_TIMEOUT"]],
    ])("end it: %s", (_name, limits, expected) => {
      const { ended, inFlight } = start(limits);
      vi.advanceTimersByTime(4e9);
      expect([ended, inFlight.length, vi.getTimerCount()]).toEqual([[expected], 0, 0]);
    });

    it("count the wait for an answer from the last piece of the body", () => {
      let sent = 0;
      const limits = { headersMs: 1000, totalMs: 5000, onSent: () => void sent++ };
      const { handler, ended } = start(limits);
      for (const ms of [900, 900, 900, 900, 900]) {
        vi.advanceTimersByTime(ms);
        handler.onBodySent(Buffer.from("piece"));
      }
      vi.advanceTimersByTime(10_000);
      expect([sent, ended]).toEqual([5, [[5000, "TOTAL_TIMEOUT"]]]);
    });

    it("count the silence within a body, unless its reader is behind", () => {
      let isBehind = true;
      const { handler, ended } = start({ headersMs: 9000, idleMs: 100 }, () => isBehind);
      vi.advanceTimersByTime(1000);
      handler.onHeaders(200, [], () => {});
      vi.advanceTimersByTime(350);
      expect(ended).toEqual([]);
      isBehind = false;
      vi.advanceTimersByTime(100);
      expect(ended).toEqual([[1400, "IDLE_TIMEOUT"]]);
    });

    it("hold the process only while something is in flight and has a limit", () => {
      start({});
      expect(vi.getTimerCount()).toBe(0);
      const { handler } = start({ totalMs: 1000 });
      expect(vi.getTimerCount()).toBe(1);
      handler.onComplete([]);
      expect(vi.getTimerCount()).toBe(0);
    });
  });
});

describe("without api", () => {
  afterEach(closeAll);

  /** A service that has its paths below `prefix`; its headers at `/version`. */
  async function serviceAt(prefix: string, missing = "404: Not Found") {
    const keys: (string | undefined)[] = [];
    const server = await startHttp(({ url, headers }, response) => {
      const isVersion = url === `${prefix}/version`;
      if (isVersion) keys.push(headers.authorization);
      response.writeHead(isVersion ? 200 : 404, { "content-type": "application/json" });
      response.end(JSON.stringify(isVersion ? { backend_version: "4.6.0" } : { detail: missing }));
    });
    return { ...server, keys };
  }

  const words = "the service (version 4.6.0) answers at this address without /api";

  describe("a service without /api", () => {
    it("is found by /version, without a key", async () => {
      const { url, seen, keys } = await serviceAt("");
      const error = await errorOf(listConnectors(openClient(url)));
      expect(error).toMatchObject({ exit: "not-found", status: 404 });
      expect(error.message).toContain(words);
      expect(error["hints"]).toEqual([expect.stringContaining("the proxy in front of it")]);
      expect(seen).toEqual(["GET /api/manage/admin/connector/status", "GET /version"]);
      expect(keys).toEqual([undefined]);
    });

    it("is found below the path of the base URL, for a question too", async () => {
      const { url } = await serviceAt("/inner");
      const stream = streamChat(openClient(`${url}/inner`), { message: "x" });
      const error = await errorOf(stream.next());
      expect(error.message).toContain(words);
      expect(error.message).not.toContain("no such endpoint");
    });

    it("is looked for once by many uploads", async () => {
      const { url, seen } = await serviceAt("");
      const client = openClient(url);
      const errors = await Promise.all([1, 2, 3].map(() => errorOf(upsertDocument(client, "{}"))));
      for (const error of errors) expect(error.message).toContain(words);
      expect(seen.filter((each) => each === "GET /version")).toHaveLength(1);
    });

    it("is not looked for where the service lacks only what was asked for", async () => {
      const { url, seen } = await serviceAt("", "Chat session not found");
      const error = await errorOf(listConnectors(openClient(url)));
      expect(error.message).not.toContain(words);
      expect(seen).toHaveLength(1);
    });

    it.each(["/elsewhere", "/api"])("is not told with /version at %s", async (prefix) => {
      const { url } = await serviceAt(prefix);
      const error = await errorOf(listConnectors(openClient(url)));
      expect(error.message).toMatch(/404: Not Found$/);
      expect(error["hints"]).toEqual(["check the base URL and --dialect"]);
    });
  });
});
