import { connect } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { documentOf, key, raw, start } from "./start.ts";
import { openDatabase } from "../../src/database.ts";
import { createGuard } from "../../src/sandbox/http/guard.ts";
import { startSandbox } from "../../src/sandbox/http/server.ts";
import { heldClock } from "../held-clock.ts";
import { temporaryFolder } from "../support.ts";

function head(port: number, lines: string[], target = "GET /api/tool"): string {
  const all = [`${target} HTTP/1.1`, ...lines, `authorization: Bearer ${key}`, "connection: close"];
  return `${all.join("\r\n").replaceAll("PORT", String(port))}\r\n\r\n`;
}
const statusOf = (answer: string): number => Number(answer.slice(9, 12));

describe("who may ask", () => {
  it.each([
    ["the address itself", ["host: 127.0.0.1:PORT"], 200],
    ["localhost", ["host: localhost:PORT"], 200],
    ["localhost in capitals", ["host: LOCALHOST:PORT"], 200],
    ["IPv6 loopback", ["host: [::1]:PORT"], 200],
    ["a name rebound to loopback", ["host: evil.example:PORT"], 421],
    ["a name that begins alike", ["host: localhost.evil.example:PORT"], 421],
    ["user information", ["host: 127.0.0.1:PORT@evil.example"], 421],
    ["another port", ["host: 127.0.0.1:1"], 421],
    ["no port", ["host: 127.0.0.1"], 421],
    ["two host headers", ["host: 127.0.0.1:PORT", "host: evil.example"], 421],
    ["an empty host", ["host:"], 421],
    ["its own origin", ["host: 127.0.0.1:PORT", "origin: http://127.0.0.1:PORT"], 200],
    ["a foreign origin", ["host: 127.0.0.1:PORT", "origin: https://evil.example"], 403],
    ["the opaque origin", ["host: 127.0.0.1:PORT", "origin: null"], 403],
    ["another port's origin", ["host: 127.0.0.1:PORT", "origin: http://127.0.0.1:1"], 403],
    [
      "localhost's origin elsewhere",
      ["host: 127.0.0.1:PORT", "origin: http://localhost:PORT"],
      403,
    ],
  ])("%s", async (_, lines, status) => {
    const { port, ledger } = await start();
    const answer = await raw(port, head(port, lines as string[]));
    expect(statusOf(answer)).toBe(status);
    expect(answer.toLowerCase()).not.toContain("access-control-");
    expect(ledger.requestCount).toBe(1);
  });

  it("refuses a request without a host", async () => {
    const { port } = await start();
    expect(statusOf(await raw(port, head(port, [])))).toBe(400);
  });

  it("refuses a preflight, also of its own page", async () => {
    const { port } = await start();
    const lines = ["host: 127.0.0.1:PORT", "origin: http://127.0.0.1:PORT"];
    const answer = await raw(port, head(port, lines, "OPTIONS /api/svc-api/ingestion"));
    expect(statusOf(answer)).toBe(403);
  });

  it("lets addresses but no names through on a wildcard address", () => {
    const guard = createGuard("0.0.0.0", 8787);
    const asked = (host: string) => (): void =>
      guard({ headers: { host }, rawHeaders: ["Host", host], method: "GET" });
    expect(asked("192.0.2.7:8787")).not.toThrow();
    expect(asked("[2001:db8::1]:8787")).not.toThrow();
    expect(asked("evil.example:8787")).toThrow(expect.objectContaining({ status: 421 }));
  });
});

describe("paths", () => {
  it.each([
    ["/api/..%2fapi/tool", 400],
    ["/api/../api/tool", 400],
    ["/api/%2e%2e/api/tool", 400],
    ["//api/tool", 400],
    ["/api//tool", 400],
    ["/api\\tool", 400],
    ["/api/%00", 400],
    ["/api/%ff", 400],
    ["/api/%", 400],
    ["http://evil.example/api/tool", 400],
    ["*", 400],
    ["/API/tool", 404],
    ["/api/tool/extra", 404],
    ["/api/a%2fb", 404],
    ["/%2fapi/tool", 404],
    ["/__proto__", 404],
    ["/api/constructor", 404],
    ["/api/tool?x=1", 200],
    ["/api/tool?../..", 200],
  ])("%s is %i", async (target, status) => {
    const { port } = await start();
    const answer = await raw(port, head(port, ["host: 127.0.0.1:PORT"], `GET ${target}`));
    expect(statusOf(answer)).toBe(status);
  });

  it("answers a wrong method with 405", async () => {
    const { send } = await start();
    const answer = await send("DELETE", "/api/tool");
    expect([answer.status, answer.json()]).toEqual([405, { detail: "Method Not Allowed" }]);
  });
});

describe("the key", () => {
  it.each([
    ["standard", undefined, 401, "Not authenticated"],
    ["standard", "Bearer wrong", 401, "Not authenticated"],
    ["standard", key, 401, "Not authenticated"],
    ["onyx", undefined, 403, "Access denied. User is not authenticated."],
    ["onyx", "Bearer wrong", 403, "Access denied. User is not authenticated."],
    ["onyx", `bearer ${key}`, 403, "Access denied. User is not authenticated."],
  ] as const)("%s refuses %s", async (dialect, authorization, status, detail) => {
    const { url } = await start({ dialect });
    const headers: Record<string, string> = authorization ? { authorization } : {};
    // In onyx, an unknown path is 404 before the key is looked at.
    const unknown = dialect === "onyx" ? [] : ["/api/unknown"];
    for (const path of ["/api/tool", "/api/manage/admin/connector/status", ...unknown]) {
      const response = await fetch(url + path, { headers });
      expect([response.status, await response.json()]).toEqual([status, { detail }]);
    }
  });

  it("takes the other header and the bare key in onyx", async () => {
    const { url } = await start({ dialect: "onyx" });
    for (const headers of [{ "x-onyx-authorization": `Bearer ${key}` }, { authorization: key }]) {
      expect((await fetch(`${url}/api/tool`, { headers })).status).toBe(200);
    }
  });

  it("reads no body before the key was seen", async () => {
    const { url, ledger } = await start();
    const body = "x".repeat(512 * 1024);
    const response = await fetch(`${url}/api/svc-api/ingestion`, { method: "POST", body });
    expect(response.status).toBe(401);
    expect(ledger.attempts.size).toBe(0);
  });

  it("is in no log line and not in the ledger", async () => {
    const lines: string[] = [];
    const { get, ledger } = await start({ onLog: (line) => lines.push(line) });
    await get("/api/tool");
    await get("/api/none", { "x-api-authorization": key, cookie: key });
    expect(lines).toHaveLength(2);
    expect(JSON.stringify([lines, ledger.requests])).not.toContain(key);
  });

  it.each([
    ["0.0.0.0", "sandbox"],
    ["::", "sandbox"],
    ["192.0.2.1", "sandbox"],
    ["127.0.0.1", ""],
  ])("on %s it may not be %j", async (host, weak) => {
    const options = { port: 0, dataFolder: temporaryFolder(), host, key: weak };
    await expect(startSandbox(options)).rejects.toMatchObject({ exit: "usage" });
  });
});

describe("limits", () => {
  const head = (port: number, ...lines: string[]): string =>
    [
      "POST /api/svc-api/ingestion HTTP/1.1",
      `host: 127.0.0.1:${port}`,
      `authorization: Bearer ${key}`,
      "content-type: application/json",
      ...lines,
      "",
      "",
    ].join("\r\n");

  describe("too much", () => {
    it("announced: 413 before the body", async () => {
      const { port } = await start();
      expect(await raw(port, head(port, "content-length: 1073741824"))).toMatch(/^HTTP\/1\.1 413 /);
    });

    it("announced with a question: no 100", async () => {
      const { port } = await start();
      const answer = await raw(
        port,
        head(port, "content-length: 1073741824", "expect: 100-continue"),
      );
      expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    });

    it("without end: cut off, memory bounded, others served", async () => {
      const { port, get } = await start();
      const before = process.memoryUsage().rss;
      const block = `100000\r\n${"x".repeat(0x100000)}\r\n`;
      let sent = 0;
      let answer = "";
      await new Promise<void>((resolve) => {
        const socket = connect(port, "127.0.0.1", () => {
          socket.write(head(port, "transfer-encoding: chunked"));
          const more = (): void => {
            while (!socket.destroyed && sent < 512) {
              sent += 1;
              if (!socket.write(block)) return void socket.once("drain", more);
            }
          };
          more();
        });
        socket.on("data", (data) => (answer += data.toString("latin1")));
        socket.on("error", () => {}).on("close", () => resolve());
      });
      expect(sent).toBeLessThan(512);
      expect(answer === "" || answer.startsWith("HTTP/1.1 413 ")).toBe(true);
      expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
      expect((await get("/api/tool")).status).toBe(200);
    });

    it("headers: 431", async () => {
      const { port } = await start();
      const lines = Array.from({ length: 100_000 }, (_, index) => `x-${index}: 1`);
      expect(await raw(port, head(port, ...lines))).toMatch(/^(HTTP\/1\.1 431 |$)/);
      const one = await raw(port, head(port, `x: ${"y".repeat(20_000)}`));
      expect(one).toMatch(/^HTTP\/1\.1 431 /);
    });

    it("a body where none is read is ignored, as by the service", async () => {
      const { send } = await start({ dialect: "onyx" });
      expect((await send("DELETE", "/api/tool", "{}")).status).toBe(405);
      expect((await send("DELETE", "/api/onyx-api/ingestion/x", "{}")).status).toBe(404);
    });

    it("nesting: an answer, and the next request too", async () => {
      const { send, ingest } = await start();
      const deep = `${'{"document":'.repeat(100_000)}1${"}".repeat(100_000)}`;
      expect((await send("POST", "/api/svc-api/ingestion", deep)).status).toBe(422);
      expect((await ingest(documentOf())).status).toBe(200);
    });
  });

  describe("nonsense", () => {
    it.each([
      "\r\n\r\n",
      "GET\r\n\r\n",
      "\u0016\u0003\u0001\u0002\u0000",
      "GET / HTTP/9.9\r\nhost: x\r\n\r\n",
      "POST /api/svc-api/ingestion HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n",
      "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
      "GET / HTTP/1.1\r\nhost: x\r\nbad header\r\n\r\n",
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ])("%j is refused", async (bytes) => {
      const { port, get } = await start();
      const answer = await new Promise<string>((resolve) => {
        let text = "";
        const socket = connect(port, "127.0.0.1", () => socket.end(Buffer.from(bytes, "latin1")));
        socket.on("data", (data) => (text += data.toString("latin1")));
        socket.on("error", () => {}).on("close", () => resolve(text));
      });
      expect(answer).not.toMatch(/^HTTP\/1\.1 2/);
      expect((await get("/api/tool")).status).toBe(200);
    });
  });

  describe("many and slow", () => {
    it("serves a good client among 500 that send nothing", async () => {
      const { port, ingest } = await start();
      const sockets = await Promise.all(
        Array.from(
          { length: 500 },
          () =>
            new Promise<ReturnType<typeof connect>>((resolve) => {
              const socket = connect(port, "127.0.0.1", () => {
                socket.write(
                  `POST /api/svc-api/ingestion HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nx`,
                );
                resolve(socket);
              });
              socket.on("error", () => {});
            }),
        ),
      );
      onTestFinished(() => {
        for (const socket of sockets) socket.destroy();
      });
      expect((await ingest(documentOf())).status).toBe(200);
    });

    it("ends with open streams and half-sent requests, which nobody would end", async () => {
      const clock = heldClock();
      const sandbox = await start({ clock, tokenDelayMs: 1 });
      const idle = connect(sandbox.port, "127.0.0.1");
      const closed = new Promise<void>((resolve) =>
        idle.on("error", () => {}).on("close", () => resolve()),
      );
      idle.write("POST /api/tool HTTP/1.1\r\n");
      const stream = sandbox.ask("hello").catch((error: unknown) => String(error));
      await clock.pausing;
      await sandbox.close();
      await Promise.all([closed, stream]);
      expect(sandbox.ledger.chats).toHaveLength(1);
    });
  });

  it("names the cause of an internal error", async () => {
    const { dataFolder, get } = await start({ dialect: "onyx" });
    const database = await openDatabase(join(dataFolder, "sandbox.sqlite"));
    database.exec("ALTER TABLE sessions RENAME TO lost");
    database.close();
    const answer = await get("/api/chat/get-user-chat-sessions");
    expect(answer.status).toBe(500);
    expect(JSON.stringify(answer.json())).toContain("sandbox: no such table: sessions");
  });
});
