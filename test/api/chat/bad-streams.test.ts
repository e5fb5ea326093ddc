import { readFileSync, readdirSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { streamChat } from "../../../src/api/chat/chat.ts";
import { followMessages, isEnded, startProgress } from "../../../src/api/chat/chat-stream.ts";
import type { ChatEvent } from "../../../src/api/chat-schemas.ts";
import { createDecoder, decodeChunks } from "../../../src/api/chat/follow-turn.ts";
import { StreamTooLargeError } from "../../../src/api/chat/lines.ts";
import { placesIn } from "../../property.ts";
import { closeAll, openClient, startRaw } from "../support.ts";

afterEach(closeAll);

const folder = new URL("../../fixtures/wire/", import.meta.url);
const fixtures = readdirSync(folder)
  .filter((name) => /\.(?:ndjson|sse|txt)$/.test(name))
  .map((name) => [name, readFileSync(new URL(name, folder))] as const);

const MiB = 1024 * 1024;

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** The events of a body without a network, and whether the answer came to its end. */
async function follow(bytes: Uint8Array): Promise<{ events: ChatEvent[]; ended: boolean }> {
  const progress = startProgress();
  const events: ChatEvent[] = [];
  for await (const batch of followMessages(
    decodeChunks(once(bytes), { lineBytes: MiB }),
    progress,
  )) {
    events.push(...batch);
  }
  return { events, ended: isEnded(progress) };
}

describe("a stream cut at every byte", () => {
  it.each(fixtures)(
    "of %s keeps what had come, and is no complete answer",
    async (_name, bytes) => {
      const whole = await follow(bytes);
      const rawsOf = (events: readonly ChatEvent[]): string[] =>
        events.filter(({ kind }) => kind !== "unknown" && kind !== "damaged").map(({ raw }) => raw);
      const raws = rawsOf(whole.events);
      for (const end of placesIn(bytes.length, 120)) {
        const { events, ended } = await follow(bytes.subarray(0, end));
        // What the cut goes through is no packet; the others are those that had come.
        const known = rawsOf(events);
        if (known.some((raw, index) => raw !== raws[index])) {
          expect({ end, known }).toEqual({ end, known: raws });
        }
        if (ended) expect(known, `byte ${end}`).toEqual(raws);
        else if (end === bytes.length) expect(ended).toBe(whole.ended);
      }
    },
  );

  it.each(fixtures)("over the network: %s is asked once and told as cut", async (_name, bytes) => {
    const whole = await follow(bytes);
    let end = 0;
    const server = await startRaw((socket) => {
      const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";
      socket.write(`${head}content-length: ${bytes.length + 1}\r\n\r\n`);
      socket.end(bytes.subarray(0, end));
    });
    let asked = 0;
    for (end of placesIn(bytes.length - 1, 12)) {
      const client = openClient(server.url);
      const events: ChatEvent[] = [];
      let exit = "ok";
      try {
        for await (const batch of streamChat(client, { message: "Hi" })) events.push(...batch);
      } catch (error) {
        ({ exit } = error as { exit: string });
      }
      expect(server.seen).toHaveLength(++asked);
      const { ended } = await follow(bytes.subarray(0, end));
      expect(exit, `byte ${end}`).toBe(ended ? "ok" : "incomplete");
      expect(events.length).toBeLessThanOrEqual(whole.events.length);
      await client.close();
    }
  });
});

describe("giants", () => {
  it("a line of 200 MB stops at the cap: no more is read", async () => {
    const chunk = Buffer.alloc(MiB, "x");
    let sent = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('{"chat_session_id":"s"}\n{"obj":"');
      for (; sent < 200; sent++) yield chunk;
    }
    const messages: string[] = [];
    const read = async (): Promise<void> => {
      for await (const batch of decodeChunks(endless(), { lineBytes: 64 * MiB })) {
        messages.push(...batch);
      }
    };
    await expect(read()).rejects.toThrow(StreamTooLargeError);
    expect(messages).toEqual(['{"chat_session_id":"s"}']);
    expect(sent).toBeLessThanOrEqual(64);
  });

  it("an event of a million lines is one message; of ever more, it stops at the cap", () => {
    const lines = Buffer.from("data: 1,\n".repeat(1000));
    const decoder = createDecoder({ lineBytes: 64 * MiB });
    for (let index = 0; index < 1000; index++) expect(decoder.push(lines)).toEqual([]);
    const [message, ...more] = decoder.push(Buffer.from("\n"));
    expect(message).toHaveLength(1_000_000 * 3 - 1);
    expect(more).toEqual([]);
    const empty = Buffer.from("data:\n".repeat(1000));
    const push = (): void => {
      for (let index = 0; index < 5000; index++) decoder.push(empty);
    };
    expect(push).toThrow(StreamTooLargeError);
  });

  it("messages before a line that is too long are not lost with it", () => {
    const decoder = createDecoder({ lineBytes: 100 });
    const text = `{"a":1}\ndata: {"b":2}\n\n${"x".repeat(200)}\n{"c":3}\n`;
    expect(decoder.push(Buffer.from(text))).toEqual(['{"a":1}', '{"b":2}']);
    expect(() => decoder.push(Buffer.from('{"d":4}\n'))).toThrow(StreamTooLargeError);
    expect(() => decoder.end()).toThrow(StreamTooLargeError);
  });
});
