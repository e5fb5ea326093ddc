import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { chatBody, type ChatParameters } from "../../../src/api/chat/chat-body.ts";
import { askWhole, stopChat, streamChat } from "../../../src/api/chat/chat.ts";
import type { Client } from "../../../src/api/client.ts";
import { dialects } from "../../../src/api/dialects.ts";
import type { ChatEvent, ChatReply } from "../../../src/api/chat-schemas.ts";
import { clientSockets, holdTime, turn, until } from "../../held-time.ts";
import {
  closeAll,
  errorOf,
  httpText,
  jsonText,
  openClient,
  startHttp,
  startRaw,
} from "../support.ts";

afterEach(closeAll);

function fixture(name: string): Buffer {
  return readFileSync(new URL(`../../fixtures/wire/${name}`, import.meta.url));
}

const streamHead =
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\nconnection: close\r\n\r\n";

function play(name: string): (socket: Socket) => void {
  return (socket) => {
    socket.write(streamHead);
    socket.end(fixture(name));
  };
}

interface Heard {
  events: ChatEvent[];
  batches: number;
  error?: Error & Record<string, unknown>;
}

async function hear(
  client: Client,
  parameters: ChatParameters = { message: "Hi" },
): Promise<Heard> {
  const heard: Heard = { events: [], batches: 0 };
  try {
    for await (const batch of streamChat(client, parameters)) {
      heard.events.push(...batch);
      heard.batches += 1;
    }
  } catch (error) {
    heard.error = error as Heard["error"] & Error;
  }
  return heard;
}

const session = "3f1c6b0e-5a52-4a9e-9a38-0c3f1b6d7e21";

describe("chatBody", () => {
  const { standard, onyx } = dialects;

  it.each<[string, ChatParameters, Record<string, unknown>]>([
    ["nothing but the message", { message: "Hi" }, {}],
    [
      "empty lists",
      { message: "Hi", sourceTypes: [], documentSets: [], tags: [], fileDescriptors: [] },
      {},
    ],
    ["a session", { message: "Hi", sessionId: "s", personaId: 3 }, { chat_session_id: "s" }],
    [
      "a blank session",
      { message: "Hi", sessionId: "", personaId: 0 },
      { chat_session_info: { persona_id: 0 } },
    ],
    [
      "agent and project",
      { message: "Hi", personaId: 3, projectId: 4 },
      { chat_session_info: { persona_id: 3, project_id: 4 } },
    ],
    ["a parent", { message: "Hi", parentMessageId: 7 }, { parent_message_id: 7 }],
    [
      "a model",
      { message: "Hi", modelProvider: "p", modelVersion: "v", temperature: 0 },
      { llm_override: { model_provider: "p", model_version: "v", temperature: 0 } },
    ],
    [
      "no tools at all",
      { message: "Hi", allowedToolIds: [], forcedToolId: 0 },
      { allowed_tool_ids: [], forced_tool_id: 0 },
    ],
    ["deep research", { message: "Hi", deepResearch: true }, { deep_research: true }],
    ["no deep research", { message: "Hi", deepResearch: false }, {}],
    [
      "a file",
      { message: "Hi", fileDescriptors: [{ id: "f", type: "document" }] },
      { file_descriptors: [{ id: "f", type: "document" }] },
    ],
    [
      "a payload",
      { message: "Hi", temperature: 1, extra: { message: "Yo", llm_override: null, x: 1 } },
      { message: "Yo", llm_override: null, x: 1 },
    ],
  ])("writes %s", (_name, parameters, expected) => {
    expect(chatBody(parameters, standard, true)).toEqual({
      message: "Hi",
      ...expected,
      stream: true,
    });
    expect(chatBody(parameters, onyx, false)).toEqual({
      message: "Hi",
      ...expected,
      stream: false,
    });
  });

  it("writes filters as each dialect wants them", () => {
    const parameters: ChatParameters = {
      message: "Hi",
      sourceTypes: ["web"],
      documentSets: ["Handbook"],
      timeCutoff: "2026-01-01T00:00:00Z",
      tags: [["team", "people"]],
    };
    const common = {
      source_type: ["web"],
      document_set: ["Handbook"],
      time_cutoff: "2026-01-01T00:00:00Z",
    };
    expect(chatBody(parameters, standard, true)["search_filters"]).toEqual({
      ...common,
      tags: { team: "people" },
    });
    expect(chatBody(parameters, onyx, true)["internal_search_filters"]).toEqual({
      ...common,
      tags: [{ tag_key: "team", tag_value: "people" }],
    });
  });

  it("refuses what a dialect cannot say", () => {
    const parameters: ChatParameters = {
      message: "Hi",
      tags: [
        ["a", "1"],
        ["a", "2"],
      ],
    };
    expect(() => chatBody(parameters, standard, true)).toThrow(
      expect.objectContaining({ exit: "usage" }),
    );
    expect(chatBody(parameters, onyx, true)["internal_search_filters"]).toEqual({
      tags: [
        { tag_key: "a", tag_value: "1" },
        { tag_key: "a", tag_value: "2" },
      ],
    });
  });
});

describe("streamChat", () => {
  it.each(["answer.ndjson", "answer.sse", "answer-crlf.sse"])(
    "gives the events of %s",
    async (name) => {
      const server = await startRaw(play(name));
      const { events, error } = await hear(openClient(server.url));
      expect(error).toBeUndefined();
      expect(
        events.map((event) => (event.kind === "packet" ? event.packet.type : event.kind)),
      ).toEqual([
        "session",
        "ids",
        "reasoning_start",
        "reasoning_delta",
        "reasoning_done",
        "search_tool_start",
        "search_tool_queries_delta",
        "search_tool_filter_delta",
        "search_tool_documents_delta",
        "section_end",
        "chat_heartbeat",
        "message_start",
        "message_delta",
        "citation_info",
        "message_delta",
        "message_delta",
        "section_end",
        "stop",
      ]);
      expect(server.seen).toEqual(["POST /api/chat/send-chat-message"]);
    },
  );

  it("gives one batch for what came together, each as soon as it came", async () => {
    const lines = fixture("answer.ndjson").toString().split("\n").filter(Boolean);
    let socket: Socket | undefined;
    const server = await startRaw((opened) => {
      socket = opened;
      socket.write(`${streamHead}${lines[0]}\n${lines[1]}\n`);
    });
    const sizes: number[] = [];
    for await (const batch of streamChat(openClient(server.url), { message: "Hi" })) {
      sizes.push(batch.length);
      const next = sizes.length + 1;
      if (next < lines.length) socket?.write(`${lines[next]}\n`);
    }
    expect(sizes).toEqual([2, ...lines.slice(2).map(() => 1)]);
  });

  it("ends with the end packet although the connection stays open", async () => {
    const server = await startRaw((socket) => {
      socket.write(streamHead);
      socket.write(fixture("answer.ndjson"));
      socket.write('{"after":1}\n');
    });
    const { events, error } = await hear(openClient(server.url));
    expect(error).toBeUndefined();
    expect(events.at(-1)).toMatchObject({ kind: "packet", packet: { type: "stop" } });
  });

  it.each([
    ["error-line.ndjson", "MODEL_ERROR"],
    ["error-line-unterminated.ndjson", undefined],
    ["session-error.ndjson", "VALIDATION_ERROR"],
  ])("gives the error line of %s and ends", async (name, code) => {
    const opened = clientSockets();
    for (const end of ["end", "resetAndDestroy"] as const) {
      const server = await startRaw(async (socket) => {
        socket.write(streamHead);
        socket.write(fixture(name));
        // A reset may overtake the bytes before it.
        await until(() => opened.at(-1)!.bytesRead === socket.bytesWritten);
        socket[end]();
      });
      const { events, error } = await hear(openClient(server.url));
      expect(error).toBeUndefined();
      const last = events.at(-1);
      expect(last?.kind).toBe("failure");
      if (last?.kind === "failure") expect(last.failure.error_code).toBe(code);
    }
  });

  it("gives an error line although the chunked body around it breaks off", async () => {
    const line = fixture("error-line-unterminated.ndjson");
    const server = await startRaw((socket) => {
      const head = streamHead.replace("connection: close", "transfer-encoding: chunked");
      socket.write(`${head}${line.length.toString(16)}\r\n${line.toString()}\r\n`);
      socket.end();
    });
    const { events, error } = await hear(openClient(server.url));
    expect(error).toBeUndefined();
    expect(events.map((event) => event.kind)).toEqual(["session", "ids", "failure"]);
  });

  it("keeps what it does not know", async () => {
    const server = await startRaw(play("unknown-packets.ndjson"));
    const { events, error } = await hear(openClient(server.url));
    expect(error).toBeUndefined();
    expect(events.map((event) => event.kind)).toEqual([
      "ids",
      "unknown",
      // Pieces of text without the text.
      "damaged",
      "damaged",
      "unknown",
      "unknown",
      "unknown",
      "packet",
      "packet",
    ]);
    expect(events[1]?.raw).toContain("hologram");
  });

  it.each([
    ["multi-model.ndjson", 2],
    ["multi-model-one-fails.ndjson", 1],
  ])("waits for every model of %s", async (name, stops) => {
    const server = await startRaw(play(name));
    const { events, error } = await hear(openClient(server.url));
    expect(error).toBeUndefined();
    const ends = events.filter((event) => event.kind === "packet" && event.packet.type === "stop");
    expect(ends).toHaveLength(stops);
  });

  it("takes a stop by the user as the end of all", async () => {
    const server = await startRaw(play("user-cancelled.ndjson"));
    const { events } = await hear(openClient(server.url));
    expect(events.at(-1)).toMatchObject({ packet: { stop_reason: "user_cancelled" } });
  });

  it("says incomplete for a stream that ends inside a line, and keeps all of it", async () => {
    const server = await startRaw(play("cut.ndjson"));
    const { events, error } = await hear(openClient(server.url));
    expect(error).toMatchObject({ exit: "incomplete" });
    const lines = fixture("cut.ndjson").toString().split("\n");
    expect(events.map(({ raw }) => raw)).toEqual(lines);
    expect(events.at(-1)?.kind).toBe("damaged");
  });

  it("says incomplete when the end packet is missing, wherever the stream is cut", async () => {
    const whole = fixture("answer.ndjson");
    for (const length of [0, 1, 60, 200, whole.length - 60, whole.length - 3]) {
      for (const end of ["end", "resetAndDestroy"] as const) {
        const server = await startRaw((socket) => {
          socket.write(streamHead);
          socket.write(whole.subarray(0, length), () => socket[end]());
        });
        const { error } = await hear(openClient(server.url));
        expect(error).toMatchObject({ exit: "incomplete" });
        expect(server.seen).toHaveLength(1);
        if (length > 100 && end === "end") expect(error?.message).toContain(`session ${session}`);
      }
    }
  });

  it("ends a silent stream at the idle limit, and takes comments for life", async () => {
    const pass = holdTime();
    const opened = clientSockets();
    let isOver = false;
    const overBefore: boolean[] = [];
    const server = await startRaw(async (socket) => {
      const write = async (text: string): Promise<void> => {
        socket.write(text);
        await until(() => opened[0]!.bytesRead === socket.bytesWritten);
        await turn();
      };
      await write(`${streamHead}{"chat_session_id":"s"}\n`);
      for (let count = 0; count < 6; count++) {
        pass(100);
        await write(": alive\n");
        overBefore.push(isOver);
      }
      pass(130);
    });
    const { events, error } = await hear(openClient(server.url, { timeoutMs: 120 })).finally(
      () => (isOver = true),
    );
    expect(overBefore).toEqual(Array(6).fill(false));
    expect(events).toHaveLength(1);
    expect(error).toMatchObject({ exit: "incomplete", code: "IDLE_TIMEOUT" });
    expect(error?.message).toContain("session s");
  });

  it("never sends a question twice that may have arrived", async () => {
    const pass = holdTime();
    const answers: ((socket: Socket) => void)[] = [
      (socket) => socket.resetAndDestroy(),
      (socket) => void socket.end(),
      (socket) => void socket.end("garbage\r\n\r\n"),
      (socket) => void socket.end("HTTP/1.1 200 OK\r\ncontent-type: text/ev"),
      () => pass(1_000_000),
    ];
    for (const answer of answers) {
      const server = await startRaw(answer);
      const client = openClient(server.url, { timeoutMs: 60_000 });
      const { error } = await hear(client);
      expect(error).toMatchObject({ exit: "incomplete" });
      expect(error?.message).toContain("may have been delivered");
      expect(client.clock.sleeps).toEqual([]);
      expect(server.seen).toHaveLength(1);
      const whole = await errorOf(askWhole(client, { message: "Hi" }));
      expect(whole).toMatchObject({ exit: "incomplete" });
      expect(server.seen).toHaveLength(2);
    }
  });

  it("tries again when surely nothing was sent", async () => {
    const server = await startRaw(() => {});
    const { url } = server;
    await closeAll();
    const client = openClient(url);
    const { error } = await hear(client);
    expect(error).toMatchObject({ exit: "unreachable", code: "ECONNREFUSED" });
    expect(client.clock.sleeps).toHaveLength(2);
  });

  it.each([
    [429, undefined, 3],
    [429, "1", 3],
    [503, "1", 3],
    [503, undefined, 1],
    [500, "1", 1],
    [502, undefined, 1],
    [504, undefined, 1],
    [400, undefined, 1],
  ])("after %i with Retry-After %s asks %i times", async (status, retryAfter, times) => {
    const server = await startHttp((request, response) => {
      request.resume();
      if (retryAfter !== undefined) response.setHeader("retry-after", retryAfter);
      response.setHeader("content-type", "application/json");
      response.writeHead(status).end('{"detail":"no"}');
    });
    const { error } = await hear(openClient(server.url));
    expect(error).toMatchObject({ status });
    expect(server.seen).toHaveLength(times);
  });

  it("does not take a web page for an answer", async () => {
    const server = await startRaw((socket) => {
      socket.write(
        httpText("200 OK", { "content-type": "text/html", "content-length": 6 }, "<html>"),
      );
    });
    const { error } = await hear(openClient(server.url));
    expect(error).toMatchObject({ exit: "server-error" });
    expect(error?.message).toContain("unexpected response (text/html)");
    expect(server.seen).toHaveLength(1);
  });

  it.each([404, 405])("with %i says which endpoint is needed", async (status) => {
    const server = await startRaw((socket) => {
      socket.write(jsonText({ detail: `${status}: Not Found` }, `${status} X`));
    });
    const { error } = await hear(openClient(server.url));
    expect(error).toMatchObject({ exit: "not-found" });
    expect(String(error?.["hints"])).toContain("/api/chat/send-chat-message");
  });

  it("ends the request when the reader leaves", async () => {
    let closed: () => void = () => {};
    const gone = new Promise<void>((resolve) => (closed = resolve));
    const server = await startRaw((socket) => {
      socket.on("close", closed);
      socket.write(`${streamHead}{"chat_session_id":"s"}\n`);
    });
    for await (const batch of streamChat(openClient(server.url), { message: "Hi" })) {
      expect(batch).toHaveLength(1);
      break;
    }
    await gone;
  });

  it("ends with the signal's reason within the stream", async () => {
    const abort = new AbortController();
    const server = await startRaw(
      (socket) => void socket.write(`${streamHead}{"chat_session_id":"s"}\n`),
    );
    const client = openClient(server.url, { signal: abort.signal });
    const read = async (): Promise<void> => {
      for await (const _batch of streamChat(client, { message: "Hi" }))
        abort.abort(new Error("Ctrl-C"));
    };
    await expect(read()).rejects.toThrow("Ctrl-C");
  });

  it("reads no faster than it is read, and does not call that silence", async () => {
    const line = Buffer.from(
      `{"placement":null,"obj":{"type":"message_delta","content":"${"x".repeat(60_000)}"}}\n`,
    );
    const pass = holdTime();
    const opened = clientSockets();
    let sent = 0;
    const server = await startRaw((socket) => {
      socket.write(streamHead);
      const more = (): void => {
        while (sent < 400) {
          sent += 1;
          if (!socket.write(line)) return void socket.once("drain", more);
        }
        socket.end(fixture("continued-session.ndjson"));
      };
      more();
    });
    /** Until the client has as much as it reads ahead, and both ends rest for many turns. */
    const untilQuiet = async (): Promise<void> => {
      await until(() => opened[0]!.bytesRead > 1024 * 1024);
      const moved = (): string => `${sent} ${opened[0]!.bytesRead}`;
      for (let [before, quiet] = [moved(), 0]; quiet < 100; quiet++) {
        await turn();
        if (moved() === before) continue;
        [before, quiet] = [moved(), 0];
      }
    };
    let count = 0;
    const client = openClient(server.url, { timeoutMs: 100 });
    for await (const batch of streamChat(client, { message: "Hi" })) {
      if (count === 0) {
        await untilQuiet();
        // Longer than the idle limit; the sender must have been held back.
        pass(350);
        expect(sent).toBeLessThan(400);
      }
      count += batch.length;
    }
    expect(count).toBe(404);
  });
});

describe("askWhole", () => {
  it("gives the reply", async () => {
    const reply = JSON.parse(fixture("reply.json").toString()) as Record<string, unknown>;
    const server = await startRaw((socket) => void socket.write(jsonText(reply)));
    expect(await askWhole(openClient(server.url), { message: "Hi" })).toEqual(reply);
  });

  it("gives a failed turn with its reason", async () => {
    const reply = JSON.parse(fixture("reply-failed.json").toString()) as Record<string, unknown>;
    const server = await startRaw((socket) => void socket.write(jsonText(reply)));
    const failed = await askWhole(openClient(server.url), { message: "Hi" });
    const { error_msg, answer } = failed as ChatReply;
    expect({ error_msg, answer }).toEqual({ error_msg: "The model is overloaded", answer: "" });
  });

  it("uses a connection of its own each time", async () => {
    const ports = new Set<number | undefined>();
    const server = await startRaw((socket, request) => {
      ports.add(socket.remotePort);
      expect(request).toMatch(/^connection: close\r$/im);
      socket.write(jsonText({ answer: "Yes" }));
    });
    const client = openClient(server.url, { connections: 1 });
    for (let count = 0; count < 3; count++) {
      await askWhole(client, { message: "Hi" });
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(ports.size).toBe(3);
  });

  it("explains the words of a turn that could not begin", async () => {
    const server = await startRaw((socket) => {
      socket.write(jsonText({ message: "Message ID is required" }, "400 X"));
    });
    const thrown = await errorOf(askWhole(openClient(server.url), { message: "Hi" }));
    expect(thrown.message).toContain("could not begin the turn");
    expect(String(thrown["hints"])).toContain("--no-stream");
  });

  it("asks a broken reply only once", async () => {
    const server = await startRaw((socket) => void socket.write(jsonText({ nothing: 1 })));
    await errorOf(askWhole(openClient(server.url), { message: "Hi" }));
    expect(server.seen).toHaveLength(1);
  });
});

describe("stopChat", () => {
  it("reaches the service after the client was interrupted", async () => {
    const abort = new AbortController();
    abort.abort(new Error("Ctrl-C"));
    const server = await startRaw((socket) => void socket.write(jsonText({ message: "stopped" })));
    const client = openClient(server.url, { dialect: "onyx", signal: abort.signal });
    await stopChat(client, "a/b");
    expect(server.seen).toEqual(["POST /api/chat/stop-chat-session/a%2Fb"]);
  });

  it("does nothing where the dialect has no such endpoint", async () => {
    const server = await startRaw(() => {});
    await stopChat(openClient(server.url), "s");
    expect(server.seen).toEqual([]);
  });

  it("gives up in time", async () => {
    const pass = holdTime();
    const server = await startRaw(() => pass(60));
    await stopChat(openClient(server.url, { dialect: "onyx" }), "s", 50);
    expect(server.seen).toHaveLength(1);
  });
});
