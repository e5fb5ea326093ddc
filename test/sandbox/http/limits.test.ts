import { join } from "node:path";
import { connect } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../../../src/database.ts";
import { heldClock } from "../../held-clock.ts";
import { documentOf, key, raw, start } from "../start.ts";

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
              socket.write(`POST /api/svc-api/ingestion HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nx`);
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
