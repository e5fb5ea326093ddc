import { readFileSync } from "node:fs";
import { expectLinear } from "../../cost.ts";
import * as fc from "../../property.ts";
import { describe, expect, it } from "vitest";
import { StreamTooLargeError } from "../../../src/api/chat/lines.ts";
import { parseStreamLine } from "../../../src/api/chat/packets.ts";
import { Packet } from "../../../src/api/chat-schemas.ts";
import { createDecoder, decodeChunks } from "../../../src/api/chat/follow-turn.ts";

const limits = { lineBytes: 1024 * 1024 };

function fixture(name: string): Buffer {
  return readFileSync(new URL(`../../fixtures/wire/${name}`, import.meta.url));
}

function decode(pieces: readonly Uint8Array[], lineBytes = limits.lineBytes): string[] {
  const decoder = createDecoder({ lineBytes });
  return [...pieces.flatMap((piece) => decoder.push(piece)), ...decoder.end()];
}

function cutAt(bytes: Buffer, ...cuts: number[]): Uint8Array[] {
  const places = [0, ...cuts, bytes.length];
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end));
}

describe("createDecoder", () => {
  it.each<[string, string, string[]]>([
    ["JSON lines", '{"a":1}\n{"b":2}\n', ['{"a":1}', '{"b":2}']],
    ["a last line without its end", '{"a":1}\n{"b":2}', ['{"a":1}', '{"b":2}']],
    ["SSE", 'data: {"a":1}\n\ndata:{"b":2}\n\n', ['{"a":1}', '{"b":2}']],
    ["an SSE message of several lines", 'data: {"a":\ndata: 1}\n\n', ['{"a":\n1}']],
    [
      "SSE messages without an empty line between",
      'data: {"a":1}\ndata: {"b":2}\n\n',
      ['{"a":1}', '{"b":2}'],
    ],
    ["an SSE message that nothing ended", 'data: {"a":1}', ['{"a":1}']],
    ["CRLF", 'data: {"a":1}\r\n\r\n{"b":2}\r\n', ['{"a":1}', '{"b":2}']],
    ["CR", 'data: {"a":1}\r\r{"b":2}\r', ['{"a":1}', '{"b":2}']],
    ["comments and other fields", ': hi\nevent: x\nid: 1\nretry: 5\n{"a":1}\n', ['{"a":1}']],
    ["a byte order mark", '\uFEFF{"a":1}\n', ['{"a":1}']],
    ["a byte order mark inside", '{"a":"\uFEFF"}\n', ['{"a":"\uFEFF"}']],
    [
      "both framings mixed",
      'data: {"a":1}\n{"b":2}\n\ndata: {"c":3}\n\n',
      ['{"a":1}', '{"b":2}', '{"c":3}'],
    ],
    ["empty data", "data:\n\ndata\n\n \n\n", []],
    ["what is neither", 'oops\n{"a":1}\nevents: 1\n', ["oops", '{"a":1}', "events: 1"]],
    ["the end mark of other interfaces", "data: [DONE]\n\n", ["[DONE]"]],
    ["line separators inside JSON", '{"a":"\u2028\u0085"}\n', ['{"a":"\u2028\u0085"}']],
    ["nothing", "", []],
    [
      "an event named error",
      'event: error\ndata: {"message":"gone","error_code":"X"}\n\ndata: {"a":1}\n\n',
      ['{"message":"gone","error_code":"X","error":"gone"}', '{"a":1}'],
    ],
    [
      "an event that is named behind its data",
      'data: {"detail":"gone"}\nevent:error\n\n',
      ['{"detail":"gone","error":"gone"}'],
    ],
    ["an error event of plain text", "event: error\ndata: gone\n\n", ['{"error":"gone"}']],
    ["an error event of nothing", "event: error\n\n{}\n", ['{"error":""}', "{}"]],
    [
      "error events that no empty line separates",
      'data: {"a":1}\nevent: error\ndata: {"message":"gone"}\ndata: {"b":2}\n\n',
      ['{"a":1}', '{"message":"gone","error":"gone"}', '{"b":2}'],
    ],
    [
      "an error event that is one already",
      'event: error\ndata: {"error":"gone"}\n\n',
      ['{"error":"gone"}'],
    ],
    // A failed tool does not end the turn.
    [
      "a packet under the name of its type",
      'event: error\ndata: {"obj":{"type":"error"}}\n\n',
      ['{"obj":{"type":"error"}}'],
    ],
    ["events of other names", 'event: errors\ndata: {"message":"m"}\n\n', ['{"message":"m"}']],
    ["an event that nothing ended", "event: error\ndata: gone", ['{"error":"gone"}']],
  ])("reads %s", (_name, text, expected) => {
    expect(decode([Buffer.from(text)])).toEqual(expected);
  });

  it("gives the same for every cut, and for every pair of cuts", () => {
    const bytes = fixture("compact-mixed.txt");
    const whole = decode([bytes]);
    expect(whole).toEqual([
      '{"chat_session_id":"s"}',
      '{\n"placement":{"turn_index":0},"obj":{"type":"message_delta","content":"né 日 👋"}}',
      '{"placement":{"turn_index":0},"obj":{"type":"message_delta","content":"né 日 👋"}}',
      '{"obj":{"type":"new_thing"}}',
      "not json",
      "[DONE]",
      '{"error":"late"}',
    ]);
    for (let first = 0; first <= bytes.length; first++) {
      const seconds = fc.placesIn(bytes.length, 16).filter((second) => second > first);
      for (const second of [first, ...seconds]) {
        const cut = decode(cutAt(bytes, first, second));
        if (cut.join("\0") !== whole.join("\0")) {
          expect({ first, second, cut }).toEqual({ first, second, cut: whole });
        }
      }
    }
  });

  it.each(["answer.ndjson", "answer.sse", "answer-crlf.sse", "every-packet.ndjson"])(
    "gives the same for %s in any chunking",
    (name) => {
      const bytes = fixture(name);
      const whole = decode([bytes]);
      expect(decode([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(whole);
      fc.assert(
        fc.property(fc.array(fc.nat(bytes.length), { maxLength: 40 }), (cuts) => {
          const pieces = cutAt(bytes, ...cuts.toSorted((a, b) => a - b));
          expect(decode(pieces)).toEqual(whole);
        }),
      );
    },
  );

  it("gives both framings of one stream the same messages", () => {
    const values = (name: string): unknown[] =>
      decode([fixture(name)]).map((message) => JSON.parse(message) as unknown);
    expect(values("answer.sse")).toEqual(values("answer.ndjson"));
    expect(values("answer-crlf.sse")).toEqual(values("answer.ndjson"));
  });

  it("takes any bytes without throwing, in any chunking alike", () => {
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 12 }),
      fc
        .constantFrom("\r", "\n", "data:", "{", "}", ":", "\uFEFF", "é", "data: {}\n")
        .map((text) => Buffer.from(text)),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        expect(decode(pieces)).toEqual(decode([Buffer.concat(pieces)]));
      }),
    );
  });

  it.each([
    ["a line", [`{"a":"${"x".repeat(200)}`]],
    ["a line in pieces", Array.from({ length: 20 }, () => "x".repeat(10))],
    ["an SSE message in lines", Array.from({ length: 20 }, () => "data: xxxxxxxx\n")],
  ])("refuses %s above the limit", (_name, pieces) => {
    const bytes = pieces.map((piece) => Buffer.from(piece));
    expect(() => decode(bytes, 100)).toThrow(StreamTooLargeError);
    expect(() => decode(bytes, 1000)).not.toThrow();
  });

  it("takes a line of 20 MB in small pieces in time that grows with its length only", () => {
    const piece = Buffer.alloc(4096, "x");
    expectLinear(5000, (count) => {
      const decoder = createDecoder({ lineBytes: 64 * 1024 * 1024 });
      for (let index = 0; index < count; index++) decoder.push(piece);
      expect(decoder.push(Buffer.from("\n"))[0]).toHaveLength(count * 4096);
    });
  });
});

describe("decodeChunks", () => {
  async function* body(pieces: string[], error?: Error): AsyncGenerator<Uint8Array> {
    for (const piece of pieces) yield Buffer.from(piece);
    if (error) throw error;
  }

  it("gives one batch for each chunk that completes something", async () => {
    const batches: string[][] = [];
    for await (const batch of decodeChunks(
      body(['{"a":1}\n{"b":', '2}\n{"c"', ":3}", "\n"]),
      limits,
    )) {
      batches.push(batch);
    }
    expect(batches).toEqual([['{"a":1}'], ['{"b":2}'], ['{"c":3}']]);
  });

  it.each([
    ['{"error":"x"}', [['{"error":"x"}']]],
    ['{"error":"x', []],
  ])("before a fault, gives the unterminated %s only when it is whole", async (tail, expected) => {
    const batches: string[][] = [];
    const read = async (): Promise<void> => {
      for await (const batch of decodeChunks(body([tail], new Error("reset")), limits)) {
        batches.push(batch);
      }
    };
    await expect(read()).rejects.toThrow("reset");
    expect(batches).toEqual(expected);
  });
});

describe("parseStreamLine", () => {
  it("knows every packet type of the interface", () => {
    const events = decode([fixture("every-packet.ndjson")]).map(parseStreamLine);
    expect(events.filter((event) => event.kind === "unknown")).toEqual([]);
    const seen = events.flatMap((event) => (event.kind === "packet" ? [event.packet.type] : []));
    const known = Packet.def.options.map((option) => option.def.shape.type.def.values[0]);
    const what = "add a line for the type to test/fixtures/wire/every-packet.ndjson";
    expect(new Set(seen), what).toEqual(new Set(known));
  });

  it.each([
    ['{"chat_session_id":"s","incognito":false}', { kind: "session", sessionId: "s" }],
    [
      '{"user_message_id":12,"reserved_assistant_message_id":13}',
      { kind: "ids", userMessageId: 12, assistantMessageId: 13 },
    ],
    [
      '{"user_message_id":null,"reserved_assistant_message_id":13}',
      { kind: "ids", userMessageId: null, assistantMessageId: 13 },
    ],
    [
      '{"user_message_id":1,"responses":[{"message_id":2,"model_name":"m"},{"message_id":3}]}',
      {
        kind: "models",
        userMessageId: 1,
        responses: [
          { messageId: 2, modelName: "m" },
          { messageId: 3, modelName: null },
        ],
      },
    ],
    ['{"error":"no"}', { kind: "failure", failure: { error: "no" } }],
    ['{"error":{"message":"no"}}', { kind: "failure", failure: { error: "no" } }],
    ['{"error":{"x":1},"error_code":7}', { kind: "failure", failure: { error: "unknown error" } }],
    ['{"obj":{"type":"stop"}}', { kind: "packet", placement: null, packet: { type: "stop" } }],
    [
      '{"placement":{"turn_index":1},"obj":{"type":"error"}}',
      { kind: "packet", packet: { type: "error" } },
    ],
    ['{"placement":{},"obj":{"type":"hologram"}}', { kind: "unknown" }],
    ['{"placement":{},"obj":{"type":"message_delta","content":7}}', { kind: "damaged" }],
    ['{"answer":"yes","chat_session_id":"s"}', { kind: "reply", reply: { answer: "yes" } }],
    [
      '{"error":null,"answer":"yes","chat_session_id":"s"}',
      { kind: "reply", reply: { answer: "yes" } },
    ],
    ['{"error":null,"chat_session_id":"s"}', { kind: "session", sessionId: "s" }],
    ['{"error":null}', { kind: "unknown" }],
    ['{"answer":7}', { kind: "unknown" }],
    ['{"placement":7,"obj":{"type":"stop"}}', { kind: "unknown" }],
    ['{"chat_session_id":7}', { kind: "unknown" }],
    ['{"responses":[7]}', { kind: "damaged" }],
    ['{"__proto__":{"error":"x"}}', { kind: "unknown" }],
    ["{}", { kind: "unknown" }],
    ["null", { kind: "unknown" }],
    ["7", { kind: "unknown" }],
    ["{", { kind: "damaged" }],
    ["", { kind: "damaged" }],
  ])("%s", (raw, expected) => {
    const event = parseStreamLine(raw);
    expect(event).toMatchObject(expected);
    expect(event.raw).toBe(raw);
  });

  it("never throws", () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (raw) => void parseStreamLine(raw)));
  });
});

describe("parseStreamLine with what no service should send", () => {
  const nested = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;

  it.each([
    [
      "a packet",
      `{"placement":null,"obj":{"type":"custom_tool_args","tool_args":{"a":${nested}}}}`,
    ],
    ["an unknown member", `{"chat_session_id":"a","more":${nested}}`],
  ])("does not trust %s that is nested too deep to be walked", (_name, line) => {
    expect(parseStreamLine(line)).toEqual({ raw: line, kind: "damaged" });
  });

  it.each(["a\nerror: forged", "$(reboot)", "..", "a b", "", "x".repeat(300)])(
    "takes %j for no session id: it would stand in addresses and commands",
    (id) => {
      const line = JSON.stringify({ chat_session_id: id });
      expect(parseStreamLine(line)).toEqual({ raw: line, kind: "unknown" });
    },
  );
});
