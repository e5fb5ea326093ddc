import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import type { RequestTrace } from "../../src/api/client.ts";
import { createGate } from "../../src/api/retry/gate.ts";
import { listAgents } from "../../src/api/agents.ts";
import { listConnectors } from "../../src/api/connectors.ts";
import { upsertDocument } from "../../src/api/documents.ts";
import { listTools } from "../../src/api/tools.ts";
import { holdTime } from "../held-time.ts";
import {
  bodyOf,
  closeAll,
  createTestClock,
  errorOf,
  httpText,
  jsonText,
  openClient,
  startHttp,
  startRaw,
} from "./support.ts";

afterEach(closeAll);

interface ErrorFixture {
  shape: string;
  status: number;
  headers: Record<string, string>;
  body?: unknown;
  text?: string;
  words: string;
  code?: string;
}

function fixture(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../fixtures/wire/${name}`, import.meta.url), "utf8"));
}

const accepted = { already_existed: false };
const html = httpText(
  "200 OK",
  { "content-type": "text/html", "content-length": 24 },
  "<html>login</html>123456",
);

describe("a request", () => {
  it("with a large body goes out in pieces, each of which is seen, and arrives whole", async () => {
    const got: { headers: Record<string, unknown>; body: string }[] = [];
    const server = await startHttp(async (request, response) => {
      got.push({ headers: request.headers, body: await bodyOf(request) });
      const isFirst = got.length === 1;
      response.writeHead(isFirst ? 503 : 200, { "content-type": "application/json" });
      response.end(JSON.stringify(isFirst ? {} : accepted));
    });
    const client = openClient(server.url);
    const { clock } = client;
    const gate = createGate({ ceiling: 1, clock, signal: new AbortController().signal });
    let moves = 0;
    const counting = { ...gate, moved: () => void moves++ };
    const body = JSON.stringify("é".repeat(500_000));
    await upsertDocument(client, body, { gate: counting });
    expect(got.map((each) => each.body === body)).toEqual([true, true]);
    const length = String(Buffer.byteLength(body));
    expect(got[0]?.headers).toMatchObject({ "content-length": length });
    expect(got[0]?.headers).not.toHaveProperty("transfer-encoding");
    expect(moves).toBeGreaterThan(10);
  });

  it("goes to the base URL with its prefix, the right key, and asks for no coding", async () => {
    let got:
      | { url?: string | undefined; headers: Record<string, unknown>; body: string }
      | undefined;
    const server = await startHttp(async (request, response) => {
      got = { url: request.url, headers: request.headers, body: await bodyOf(request) };
      response.setHeader("content-type", "application/json").end(JSON.stringify(accepted));
    });
    const client = openClient(`${server.url}/prefix/`);
    await upsertDocument(client, '{"é":1}');
    expect(got).toMatchObject({
      url: "/prefix/api/svc-api/ingestion",
      body: '{"é":1}',
      headers: {
        authorization: "Bearer CANARY-api",
        "accept-encoding": "identity",
        "content-type": "application/json",
        "content-length": "8",
      },
    });
  });

  it("takes the connector listing with its null fields whole", async () => {
    const listing = fixture("connector-status.json");
    const server = await startHttp((request, response) => {
      expect(request.headers.authorization).toBe("Bearer CANARY-access");
      response.setHeader("content-type", "application/json; charset=utf-8");
      response.end(JSON.stringify(listing));
    });
    const client = openClient(server.url);
    expect(await listConnectors(client)).toEqual(listing);
    expect(server.seen).toEqual(["GET /api/manage/admin/connector/status"]);
  });

  it.each(
    Object.entries(fixture("ingestion.json") as Record<string, { already_existed: boolean }>),
  )("takes the answer of an upload: %s", async (_name, answer) => {
    const server = await startRaw((socket) => void socket.write(jsonText(answer)));
    const { already_existed } = answer;
    const result = await upsertDocument(openClient(server.url), "{}");
    expect(result).toMatchObject({ already_existed });
  });

  it.each([
    ["Thu, 01 Jan 2026 00:00:05 GMT", Date.UTC(2026, 0, 1, 0, 0, 5)],
    ["yesterday", undefined],
    [undefined, undefined],
  ])("says when the service accepted a document: %s", async (date, answeredAtMs) => {
    const server = await startHttp((request, response) => {
      request.resume();
      response.sendDate = false;
      if (date !== undefined) response.setHeader("date", date);
      response.setHeader("content-type", "application/json").end(JSON.stringify(accepted));
    });
    const result = await upsertDocument(openClient(server.url), "{}");
    expect(result).toEqual({ ...accepted, answeredAtMs });
  });

  it("lists tools", async () => {
    const tools = fixture("tools.json");
    const server = await startRaw((socket) => void socket.write(jsonText(tools)));
    expect(await listTools(openClient(server.url))).toEqual(tools);
  });

  it.each([
    "ftp://a.example",
    "https://user:pass@a.example",
    "https://a.example/?q=1",
    "https://a.example/#x",
    "a.example",
  ])("refuses the base URL %s", (baseUrl) => {
    expect(() => openClient(baseUrl)).toThrow(expect.objectContaining({ exit: "not-configured" }));
  });

  it("uses a connection again", async () => {
    const ports = new Set<number | undefined>();
    const server = await startHttp((request, response) => {
      ports.add(request.socket.remotePort);
      request.resume();
      response.setHeader("content-type", "application/json").end(JSON.stringify(accepted));
    });
    const client = openClient(server.url);
    for (let count = 0; count < 20; count++) await upsertDocument(client, "{}");
    // Two: a connection rests for one turn of the event loop before it is used again.
    expect(ports.size).toBeLessThanOrEqual(2);
  });

  it("ends with the signal's reason", async () => {
    const abort = new AbortController();
    const server = await startHttp(() => abort.abort(new Error("stop")));
    const client = openClient(server.url, { signal: abort.signal });
    await expect(listConnectors(client)).rejects.toThrow("stop");
    await expect(listConnectors(client)).rejects.toThrow("stop");
    expect(server.seen).toHaveLength(1);
  });
});

describe("a refusal", () => {
  it.each(fixture("errors.json") as ErrorFixture[])(
    "of the shape $shape is told in the service's words",
    async (error) => {
      const text = error.text ?? JSON.stringify(error.body);
      const server = await startRaw((socket) => {
        const headers = { ...error.headers, "content-length": Buffer.byteLength(text) };
        socket.write(httpText(`${error.status} No`, headers, text));
      });
      const thrown = await errorOf(
        upsertDocument(openClient(server.url), '{"text":"CONFIDENTIAL"}'),
      );
      const url = `${server.url}/api/svc-api/ingestion`;
      expect(thrown.message).toContain(`upload: POST ${url}: ${error.status}: ${error.words}`);
      expect(thrown.message).not.toMatch(/CONFIDENTIAL|CANARY|\n/);
      expect(thrown.message.length).toBeLessThan(700);
      expect(thrown).toMatchObject({ status: error.status, url, method: "POST" });
      expect(thrown["code"]).toBe(error.code);
    },
  );

  it.each([
    [400, "usage", 1],
    [401, "auth", 1],
    [403, "auth", 1],
    [404, "not-found", 1],
    [405, "not-found", 1],
    [408, "timeout", 5],
    [409, "usage", 2],
    [413, "usage", 1],
    [415, "usage", 1],
    [422, "usage", 1],
    [425, "server-error", 5],
    [429, "rate-limited", 5],
    [431, "server-error", 1],
    [500, "server-error", 3],
    [501, "server-error", 1],
    [502, "server-error", 5],
    [503, "server-error", 5],
    [504, "timeout", 5],
    [505, "server-error", 1],
    [529, "server-error", 5],
  ])("with status %i is %s after %i attempts of an upload", async (status, exit, attempts) => {
    const server = await startRaw(
      (socket) => void socket.write(jsonText({ detail: "no" }, `${status} X`)),
    );
    const client = openClient(server.url);
    const thrown = await errorOf(upsertDocument(client, "{}"));
    expect(thrown).toMatchObject({ exit, status });
    expect(server.seen).toHaveLength(attempts);
    if (attempts > 1) expect(thrown.message).toContain(`(${attempts} attempts)`);
    if (status === 409) expect(client.clock.sleeps[0]).toBeGreaterThanOrEqual(1000);
  });

  it.each([
    ["INSUFFICIENT_PERMISSIONS", /lacks the permission; ask/],
    [undefined, /does not accept the API key/],
  ])("tells token from permission: %s", async (code, hint) => {
    const body = { detail: "no", ...(code ? { error_code: code } : {}) };
    const server = await startRaw((socket) => void socket.write(jsonText(body, "403 X")));
    const thrown = await errorOf(upsertDocument(openClient(server.url), "{}"));
    expect(thrown["hints"]).toEqual([expect.stringMatching(hint)]);
  });
});

describe("what to do", () => {
  it("names both variables where one key serves as both", async () => {
    const server = await startRaw((socket) => void socket.write(jsonText({}, "401 X")));
    const client = openClient(server.url, { accessToken: "one", apiKey: "one" });
    const { hints } = await errorOf(listConnectors(client));
    expect(hints).toEqual([expect.stringContaining("KNOWCTL_API_KEY or KNOWCTL_ACCESS_TOKEN")]);
  });

  it("says that a server without this function stays without it", async () => {
    const detail = "No vector store";
    const server = await startRaw((socket) => void socket.write(jsonText({ detail }, "501 X")));
    const thrown = await errorOf(upsertDocument(openClient(server.url), "{}"));
    expect(thrown).toMatchObject({ exit: "server-error", retryable: false });
    expect(thrown.message).toContain(detail);
    expect(String(thrown["hints"])).toMatch(/set up without this function.*retry does not help/);
    expect(String(thrown["hints"])).not.toContain("later");
    expect(server.seen).toHaveLength(1);
  });

  it.each(["http://127.0.0.1:1", "http://localhost:1"])(
    "names the sandbox where nothing listens on this machine: %s",
    async (url) => {
      const { hints } = await errorOf(listConnectors(openClient(url)));
      expect(String(hints)).toContain("knowctl sandbox");
    },
  );
});

describe("an answer that is not the promised one", () => {
  it.each<[string, string, RegExp]>([
    ["a web page", html, /unexpected response \(text\/html\)/],
    [
      "nothing",
      httpText("200 OK", { "content-type": "application/json", "content-length": 0 }, ""),
      /an empty response/,
    ],
    ["no content type", httpText("200 OK", { "content-length": 2 }, "{}"), /no content type/],
    ["{}", jsonText({}), /already_existed/],
    ["a text for a boolean", jsonText({ already_existed: "true" }), /already_existed/],
    ["an array", jsonText([]), /expected object/i],
    ["201", jsonText(accepted, "201 Created"), /unexpected status/],
    ["204", "HTTP/1.1 204 No Content\r\n\r\n", /unexpected status/],
    ["206", jsonText(accepted, "206 Partial"), /unexpected status/],
  ])("is tried once more, then refused: %s", async (_name, answer, words) => {
    const server = await startRaw((socket) => void socket.write(answer));
    const thrown = await errorOf(upsertDocument(openClient(server.url), "{}"));
    expect(thrown).toMatchObject({ exit: "server-error" });
    expect(thrown.message).toMatch(words);
    expect(thrown["hints"]).toEqual([expect.stringContaining("base URL")]);
    expect(server.seen).toHaveLength(2);
  });

  it("may be the right one the second time", async () => {
    const server = await startRaw((socket, _request, number) => {
      socket.write(number === 1 ? html : jsonText(accepted));
    });
    expect(await upsertDocument(openClient(server.url), "{}")).toEqual(accepted);
  });

  it.each(["gzip", "br", "unknown"])("is refused in %s coding", async (coding) => {
    const body = gzipSync(JSON.stringify(accepted));
    const server = await startHttp((_request, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-encoding": coding });
      response.end(body);
    });
    const thrown = await errorOf(upsertDocument(openClient(server.url), "{}"));
    expect(thrown.message).toContain(`unexpected response (${coding} coding)`);
  });

  it("is refused when it is larger than its class allows", async () => {
    const server = await startHttp((_request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ ...accepted, filler: "x".repeat(2 * 1024 * 1024) }));
    });
    const thrown = await errorOf(upsertDocument(openClient(server.url), "{}"));
    expect(thrown).toMatchObject({ exit: "server-error", code: "ANSWER_TOO_LARGE" });
    expect(server.seen).toHaveLength(1);
  });

  it("names the place of a wrong member of a listing", async () => {
    const agents = [
      { id: 1, name: "One" },
      { id: "x", name: "Two" },
    ];
    const server = await startRaw((socket) => void socket.write(jsonText(agents)));
    const thrown = await errorOf(listAgents(openClient(server.url, { dialect: "onyx" })));
    expect(thrown.message).toMatch(/GET http.*: 200: unexpected response: 1\.id: .*expected/);
  });
});

describe("a redirect", () => {
  it.each([300, 301, 302, 303, 307, 308])("%i is never followed", async (status) => {
    const other = await startHttp((_request, response) => void response.end("{}"));
    const server = await startHttp((_request, response) => {
      response.writeHead(status, { location: `${other.url}/elsewhere?token=SECRET` }).end();
    });
    const thrown = await errorOf(upsertDocument(openClient(server.url), "{}"));
    expect(thrown).toMatchObject({ exit: "server-error", status });
    expect(thrown.message).toContain(`${other.url}/elsewhere`);
    expect(thrown.message).not.toContain("SECRET");
    expect(String(thrown["hints"])).toContain(`set baseUrl to it`);
    expect(other.seen).toEqual([]);
    expect(server.seen).toHaveLength(1);
  });

  it.each(["", "http://[bad", "/app"])("to %j is told without failing", async (location) => {
    const server = await startRaw((socket) => {
      socket.write(httpText("308 X", { location, "content-length": 0 }, ""));
    });
    const thrown = await errorOf(upsertDocument(openClient(server.url), "{}"));
    expect(thrown.message).toContain("redirect");
  });
});

describe("a fault of the wire", () => {
  const cut = httpText(
    "200 OK",
    { "content-type": "application/json", "content-length": 100 },
    '{"alr',
  );
  const long = httpText(
    "200 OK",
    { "content-type": "application/json", "content-length": 2 },
    '{"already_existed":true}',
  );
  const chunked =
    'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"a';
  const lastChunked = chunked.replace("\r\n", "\r\nconnection: close\r\n");
  it.each<[string, string | undefined, string]>([
    ["a reset", undefined, "unreachable"],
    ["a cut body", cut, "unreachable"],
    ["a body longer than it says", long, "server-error"],
    ["a cut chunked body", chunked, "unreachable"],
    ["a cut chunked body of a last answer", lastChunked, "unreachable"],
    ["what is not HTTP", "SSH-2.0-OpenSSH_9\r\n\r\n", "server-error"],
    ["a header of 20 KB", httpText("200 OK", { "x-a": "x".repeat(20_000) }, ""), "server-error"],
  ])("is tried five times: %s", async (_name, answer, exit) => {
    const server = await startRaw((socket) => {
      if (answer === undefined) socket.resetAndDestroy();
      else socket.end(answer);
    });
    const client = openClient(server.url);
    const thrown = await errorOf(upsertDocument(client, "{}"));
    expect(thrown).toMatchObject({ exit });
    expect(client.clock.sleeps.length).toBeGreaterThanOrEqual(1);
    if (exit === "unreachable") expect(server.seen).toHaveLength(5);
    expect(thrown.message).not.toContain("CANARY");
  });

  it("after which the service has the document is made good by sending the same again", async () => {
    const bodies: string[] = [];
    const server = await startRaw((socket, request, number) => {
      bodies.push(request.slice(request.indexOf("\r\n\r\n") + 4));
      if (number === 1) socket.resetAndDestroy();
      else socket.write(jsonText({ already_existed: true }));
    });
    const result = await upsertDocument(openClient(server.url), '{"document":{"id":"a"}}');
    expect(result.already_existed).toBe(true);
    expect(bodies).toEqual(['{"document":{"id":"a"}}', '{"document":{"id":"a"}}']);
  });

  it("at the reuse of an idle connection is not seen", async () => {
    const server = await startRaw((socket) => {
      // Says nothing of closing, and closes: the race of every keep-alive server.
      socket.write(jsonText(accepted), () => setImmediate(() => socket.end()));
    });
    const client = openClient(server.url);
    for (let count = 0; count < 20; count++) {
      expect(await upsertDocument(client, "{}")).toEqual(accepted);
    }
  });

  it("refused connections are tried as often as the table says", async () => {
    const server = await startRaw(() => {});
    const { url } = server;
    await closeAll();
    const client = openClient(url);
    const thrown = await errorOf(listConnectors(client));
    expect(thrown).toMatchObject({ exit: "unreachable", code: "ECONNREFUSED", retryable: true });
    expect(thrown.message).toContain("connection refused (4 attempts)");
    expect(client.clock.sleeps).toEqual([250, 500, 1000]);
  });

  it("an unknown host is tried once more", async () => {
    const client = openClient("http://does-not-exist.invalid");
    const thrown = await errorOf(listConnectors(client));
    expect(thrown).toMatchObject({ exit: "unreachable" });
    // Without a network the resolver says EAI_AGAIN, which is tried as any fault.
    expect(client.clock.sleeps).toHaveLength(thrown["code"] === "ENOTFOUND" ? 1 : 3);
  });

  it("headers that never come end at the limit", async () => {
    const pass = holdTime();
    const server = await startRaw(() => pass(50));
    const thrown = await errorOf(listConnectors(openClient(server.url, { timeoutMs: 40 })));
    expect(thrown).toMatchObject({ exit: "timeout", code: "HEADERS_TIMEOUT" });
    expect(thrown.message).toContain("(4 attempts)");
    expect(server.seen).toHaveLength(4);
  });
});

describe("a class of calls", () => {
  it("503, 503, 200 is one success", async () => {
    const server = await startRaw((socket, _request, number) => {
      socket.write(number < 3 ? jsonText({ detail: "busy" }, "503 X") : jsonText(accepted));
    });
    const client = openClient(server.url);
    expect(await upsertDocument(client, "{}")).toEqual(accepted);
    expect(client.clock.sleeps).toEqual([250, 500]);
  });

  it.each([
    ["2", 2000],
    ["-3", 250],
    ["1.5", 250],
    ["soon", 250],
    ["", 250],
  ])("Retry-After %j waits %i ms", async (value, waited) => {
    const server = await startRaw((socket, _request, number) => {
      const headers = {
        "content-type": "application/json",
        "content-length": 2,
        "retry-after": value,
      };
      socket.write(number === 1 ? httpText("429 X", headers, "{}") : jsonText(accepted));
    });
    const client = openClient(server.url);
    await upsertDocument(client, "{}");
    expect(client.clock.sleeps).toEqual([waited]);
  });

  it.each(["9999999999", "86400", "121"])("Retry-After %s is too long to obey", async (value) => {
    const server = await startRaw((socket) => {
      const headers = {
        "content-type": "application/json",
        "content-length": 2,
        "retry-after": value,
      };
      socket.write(httpText("429 X", headers, "{}"));
    });
    const client = openClient(server.url);
    const thrown = await errorOf(upsertDocument(client, "{}"));
    expect(thrown).toMatchObject({ exit: "rate-limited" });
    expect(thrown.message).toMatch(/the server asks to wait (more than )?\d+ (s|min|h|days)/);
    expect(client.clock.sleeps).toEqual([]);
    expect(server.seen).toHaveLength(1);
  });

  it("ends when everything together has taken too long", async () => {
    const clock = createTestClock(1);
    const server = await startRaw((socket) => {
      clock.advance(200_000);
      socket.write(jsonText({ detail: "busy" }, "503 X"));
    });
    await errorOf(listConnectors(openClient(server.url, { clock })));
    expect(server.seen).toHaveLength(2);
  });
});

describe("a trace", () => {
  it("tells each attempt without credentials", async () => {
    const traces: RequestTrace[] = [];
    const server = await startHttp((request, response) => {
      request.resume();
      response.setHeader("x-request-id", "r-1").setHeader("set-cookie", "session=CANARY");
      response.setHeader("content-type", "application/json");
      response.statusCode = traces.length === 0 ? 503 : 200;
      response.end(JSON.stringify(traces.length === 0 ? { error_code: "BUSY" } : accepted));
    });
    const client = openClient(server.url, {
      dialect: "onyx",
      onTrace: (trace) => void traces.push(trace),
    });
    await upsertDocument(client, "{}");
    expect(traces).toMatchObject([
      {
        method: "POST",
        url: `${server.url}/api/onyx-api/ingestion`,
        status: 503,
        code: "BUSY",
        attempt: 1,
        requestId: "r-1",
      },
      { status: 200, attempt: 2 },
    ]);
    expect(traces[0]?.headers?.request["x-onyx-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
    expect(JSON.stringify(traces)).not.toContain("CANARY");
  });
});
