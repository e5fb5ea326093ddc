import { readFileSync, readdirSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { streamChat } from "../../../src/api/chat/chat.ts";
import { followMessages, isEnded, startProgress } from "../../../src/api/chat/chat-stream.ts";
import { type ChatEvent, Packet } from "../../../src/api/chat-schemas.ts";
import { createDecoder, decodeChunks } from "../../../src/api/chat/follow-turn.ts";
import { StreamTooLargeError } from "../../../src/api/chat/lines.ts";
import { placesIn } from "../../property.ts";
import { closeAll, errorOf, openClient, startRaw } from "../support.ts";
import * as fc from "../../property.ts";
import { commonEvent, parseObject } from "../../../src/api/chat/common-lines.ts";
import { eventBySchemas, parseStreamLine } from "../../../src/api/chat/packets.ts";
import { createMessageRedactor, redactMessages } from "../../../src/api/chat/redact-messages.ts";
import { createSecrets } from "../../../src/output/terminal/redact.ts";
import { expectLinear } from "../../cost.ts";
import { createUtf8Decoder, isDamaged } from "../../../src/api/chat/utf8.ts";

describe("bad streams", () => {
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
          events
            .filter(({ kind }) => kind !== "unknown" && kind !== "damaged")
            .map(({ raw }) => raw);
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

    it.each(fixtures)(
      "over the network: %s is asked once and told as cut",
      async (_name, bytes) => {
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
      },
    );
  });

  describe("the end of an answer of several models", () => {
    const two = '{"user_message_id":1,"responses":[{"message_id":2},{"message_id":3}]}';
    const stop = (model: number): string =>
      `{"placement":{"model_index":${model}},"obj":{"type":"stop"}}`;
    const word = '{"obj":{"type":"message_delta","content":"x"}}';

    it.each<[string, string[], boolean]>([
      ["the ends of both", [two, stop(0), stop(1)], true],
      ["the end of one, twice", [two, stop(0), stop(0)], false],
      ["the end of a model above those announced", [two, stop(0), stop(2)], false],
      ["the end of a model below the first", [two, stop(0), stop(-1)], false],
      ["no models", ['{"user_message_id":1,"responses":[]}', word], false],
    ])("by %s", async (_name, lines, expected) => {
      const { events, ended } = await follow(Buffer.from(`${lines.join("\n")}\n`));
      expect(events).toHaveLength(lines.length);
      expect(ended).toBe(expected);
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
      const endless = createDecoder({ lineBytes: 4 * MiB });
      const empty = Buffer.from("data:\n".repeat(1000));
      const push = (): void => {
        for (let index = 0; index < 5000; index++) endless.push(empty);
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
});

describe("common lines", () => {
  const folder = new URL("../../fixtures/wire/", import.meta.url);
  const lines = readdirSync(folder)
    .filter((name) => name.endsWith(".ndjson"))
    .flatMap((name) => readFileSync(new URL(name, folder), "utf8").split("\n"));

  /** Types and members that packets have, and some that they have not. */
  const types = [...Packet.def.options.flatMap((each) => [...each.shape.type.def.values]), "later"];
  const members = [
    ...new Set(Packet.def.options.flatMap((each) => Object.keys(each.shape))),
    "more",
  ].filter((name) => name !== "type");

  const document = fc.record(
    {
      document_id: fc.oneof(fc.string(), fc.constant(null), fc.nat()),
      semantic_identifier: fc.oneof(fc.string(), fc.constant(null), fc.nat()),
      link: fc.oneof(fc.string(), fc.constant(null), fc.boolean()),
      updated_at: fc.oneof(fc.string(), fc.constant(null)),
      more: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  const value = fc.oneof(
    fc.string(),
    fc.integer(),
    fc.double(),
    fc.boolean(),
    fc.constant(null),
    fc.array(fc.string(), { maxLength: 3 }),
    fc.array(document, { maxLength: 3 }),
    fc.jsonValue({ maxDepth: 2 }),
  );
  const obj = fc
    .tuple(
      fc.constantFrom<unknown>(...types, 7, null),
      fc.dictionary(fc.constantFrom(...members), value),
    )
    .map(([type, rest]) => ({ ...rest, type }));
  const index = fc.oneof(
    fc.nat(9),
    fc.integer(),
    fc.constant(null),
    fc.constantFrom("1", 1.5, 1e300),
  );
  const placement = fc.oneof(
    fc.record(
      {
        turn_index: index,
        tab_index: index,
        sub_turn_index: index,
        model_index: index,
        more: value,
      },
      { requiredKeys: [] },
    ),
    value,
  );
  const id = fc.oneof(index, fc.string(), fc.uuid());
  const line = fc.oneof(
    { weight: 4, arbitrary: fc.record({ placement, obj }, { requiredKeys: ["obj"] }) },
    fc.record(
      {
        chat_session_id: id,
        user_message_id: id,
        reserved_assistant_message_id: id,
        responses: value,
        error: value,
        obj: value,
      },
      { requiredKeys: [] },
    ),
  );

  /** Without a member that the schemas leave out, since it could reach a prototype. */
  function withoutProto(value: unknown): unknown {
    return JSON.parse(JSON.stringify(value), (name, each: unknown) =>
      name === "__proto__" ? undefined : each,
    );
  }

  function compare(raw: string): "common" | "left" {
    const parsed = parseObject(raw);
    if (parsed === undefined) return "left";
    const common = commonEvent(raw, parsed);
    if (common === undefined) return "left";
    expect(withoutProto(common)).toEqual(withoutProto(eventBySchemas(raw, parsed)));
    return "common";
  }

  describe("commonEvent", () => {
    it("says what the schemas say, or leaves the line to them", () => {
      let [common, all] = [0, 0];
      fc.assert(
        fc.property(line, (each) => {
          all++;
          if (compare(JSON.stringify(each)) === "common") common++;
        }),
      );
      // Else the property would hold of nothing.
      expect(common).toBeGreaterThan(all / 25);
    });

    it("says what the schemas say of every wire fixture", () => {
      const results = lines.map(compare);
      expect(results.filter((each) => each === "common").length).toBeGreaterThan(lines.length / 2);
    });

    it("knows an ordinary answer without the schemas", () => {
      const answer = readFileSync(new URL("answer.ndjson", folder), "utf8").trimEnd().split("\n");
      expect(new Set(answer.map(compare))).toEqual(new Set(["common"]));
    });

    it("takes no nested monster and nothing of the prototype", () => {
      const deep = `{"obj":{"type":"section_end","x":${"[".repeat(2000)}${"]".repeat(2000)}}}`;
      expect(parseObject(deep)).toBeUndefined();
      for (const type of ["__proto__", "constructor", "toString"]) {
        expect(compare(JSON.stringify({ obj: { type } }))).toBe("left");
      }
    });
  });
});

describe("redact messages", () => {
  const key = "abcabcab-key-7d21aa90";

  function redactor() {
    const secrets = createSecrets();
    secrets.add(key);
    return secrets;
  }

  const placement = { turn_index: 1 };
  const delta = (content: string, model = 0): string =>
    JSON.stringify({
      placement: { ...placement, model_index: model },
      obj: { type: "message_delta", content },
    });
  const other = (type: string): string => JSON.stringify({ placement, obj: { type } });

  interface Line {
    placement?: { model_index?: number };
    obj: { type: string; content?: string };
  }

  /** The text of each model, joined. */
  function textsOf(messages: readonly string[]): string[] {
    const lines = messages.map((each) => JSON.parse(each) as Line);
    return [0, 1].map((model) =>
      lines
        .filter((line) => line.placement?.model_index === model)
        .map((line) => line.obj.content ?? "")
        .join(""),
    );
  }

  /** What a text may have been before something in it was hidden; all else has to be there. */
  function withHidden(text: string): RegExp {
    const parts = text.split("***").map((part) => part.replace(/[^\w\s]/g, "\\$&"));
    return new RegExp(`^${parts.join("[\\s\\S]+?")}$`);
  }

  function run(messages: readonly string[]): string[] {
    const redact = createMessageRedactor(redactor());
    return [...messages, undefined].flatMap((message) => redact(message));
  }

  describe("a secret in a stream", () => {
    const piece = fc.constantFrom(
      "a",
      "abc",
      "abcab",
      "cab-key-",
      "7d21aa90",
      "key",
      "x ",
      "\n",
      key,
    );
    const line = fc.oneof(
      {
        weight: 8,
        arbitrary: fc
          .tuple(piece, fc.constantFrom(0, 1))
          .map(([text, model]) => delta(text, model)),
      },
      fc.constantFrom("chat_heartbeat", "citation_info").map(other),
    );

    it("does not show, however it is split, and all other text stays", () => {
      fc.assert(
        fc.property(fc.array(line, { maxLength: 14 }), (lines) => {
          const before = textsOf(lines);
          const after = textsOf(run(lines));
          for (const [model, text] of after.entries()) {
            expect(text).not.toContain(key);
            const whole = before[model] ?? "";
            // What nothing followed yet may be the beginning of the key; all else stays.
            if (!whole.includes(key)) expect(whole).toMatch(withHidden(text));
            // Three characters of it may have passed before anything could tell.
            else
              expect(text.replace(/a?b?c?\*\*\*/g, "***").length).toBeLessThanOrEqual(whole.length);
          }
        }),
      );
    });

    it("passes the text before it, and stays hidden behind what has passed", () => {
      for (let at = 0; at <= key.length; at++) {
        const [text = ""] = textsOf(
          run([delta(`so ${key.slice(0, at)}`), delta(`${key.slice(at)} it`)]),
        );
        expect(text).toMatch(/^so (?:a|ab|abc)?\*\*\* it$/);
      }
    });

    it.each(["model_index", "tab_index", "sub_turn_index"])(
      "is replaced though a text of another %s comes between its pieces",
      (index) => {
        const piece = (content: string, at: number): string =>
          JSON.stringify({
            placement: { turn_index: 1, model_index: 0, [index]: at },
            obj: { type: "message_delta", content },
          });
        const [first, last] = [key.slice(0, 12), key.slice(12)];
        const messages = run([piece(first, 0), piece("other", 1), piece(last, 0)]);
        const contents = messages.map((each) => (JSON.parse(each) as Line).obj.content);
        expect(contents.join("")).toBe("other***");
      },
    );

    it.each(["chat_heartbeat", "citation_info", "section_end"])(
      "is replaced in a packet of type %s, too",
      (type) => {
        const redact = createMessageRedactor(redactor());
        const message = JSON.stringify({ placement, obj: { type, document_id: `a/${key}` } });
        expect(redact(message)).toEqual([message.replace(key, "***")]);
      },
    );

    it.each(["chat_heartbeat", "citation_info"])(
      "is not taken for begun by a text that goes on otherwise behind a packet %s",
      (type) => {
        const begun = key.slice(0, 12);
        const [text] = textsOf(run([delta(`so ${begun}`), other(type), delta("other words")]));
        expect(text).toBe(`so ${begun}other words`);
      },
    );

    it("holds nothing of text that looks like no secret, to the byte", () => {
      const lines = [
        delta("a ab abc abca").replace(":", " : "),
        other("section_end"),
        "no JSON",
        "{}",
      ];
      const redact = createMessageRedactor(redactor());
      expect(redact(delta("so abc"))).toEqual([delta("so abc")]);
      expect(run(lines).join("")).toContain("no JSON");
      expect(redact(lines[2])).toEqual(["no JSON"]);
    });

    it("comes out before the packet that ends its text, and before the fault that ends the stream", async () => {
      const cut = delta("so abcab");
      expect(textsOf(run([cut, other("section_end")]))[0]).toBe("so abcab");
      expect(JSON.parse(run([cut, other("section_end")]).at(-1) ?? "")).toMatchObject({
        obj: { type: "section_end" },
      });
      const seen: string[] = [];
      const batches = (async function* () {
        yield [cut];
        throw new Error("cut");
      })();
      const error = await errorOf(
        (async () => {
          for await (const each of redactMessages(batches, redactor())) seen.push(...each);
        })(),
      );
      expect(error.message).toBe("cut");
      expect(textsOf(seen)[0]).toBe("so abcab");
    });

    const between: [string, string[]][] = [
      ["nothing", []],
      ["a tool", [other("search_tool_start")]],
      ["a packet of tomorrow", [other("of_tomorrow")]],
      ["a damaged line", ["no JSON"]],
      ["a beginning and a tool", [other("message_start"), other("search_tool_start")]],
    ];
    /** The key in two pieces, each split again after `step` characters, in one turn or in two. */
    const split = (at: number, step: number, turn: number, lines: string[]): string[] => {
      const late = (text: string): string =>
        delta(text).replace('"turn_index":1', `"turn_index":${turn}`);
      const [first, second] = [key.slice(0, at), key.slice(at)];
      return [
        delta(`so ${first.slice(0, step)}`),
        delta(first.slice(step)),
        ...lines,
        late(second.slice(0, step)),
        late(`${second.slice(step)} it`),
      ];
    };

    it.each(between)("does not show where %s stands in it", (_name, lines) => {
      for (const turn of [1, 2]) {
        for (let at = 1; at < key.length; at++) {
          for (const step of [0, 2, 8]) {
            const [text = ""] = textsOf(
              run(split(at, step, turn, lines)).filter((each) => each !== "no JSON"),
            );
            expect(text).toMatch(/^so [abc]{0,5}\*\*\* it$/);
          }
        }
      }
    });

    it("does not show its beginning where the stream ends or is cut in it", () => {
      for (let at = 6; at < key.length; at++) {
        expect(textsOf(run([delta(`so ${key.slice(0, at)}`)]))[0]).toBe("so ***");
        expect(run([`{"answer":"so ${key.slice(0, at)}`])).toEqual(['{"answer":"so ***']);
      }
    });

    it("keeps the order of texts of several turns, and what only began like the key", () => {
      const later = delta("def").replace('"turn_index":1', '"turn_index":2');
      expect(textsOf(run([delta("so abcab"), later]))[0]).toBe("so abcabdef");
      const lines = [delta("so abcabcab"), other("section_end"), delta(" it")];
      expect(textsOf(run(lines))[0]).toBe("so *** it");
    });

    it("does not show in any other line, also in member names and unusual escapes", () => {
      const escaped = `${key.slice(0, 9)}\\u006b${key.slice(10)}`;
      const lines = [
        JSON.stringify({ error: `x ${key} y`, details: { [key]: 1 } }),
        `{"error":"x ${escaped} y"}`,
        `${key} is no JSON`,
        `{"obj":{"type":"search_tool_queries_delta","queries":["${escaped}"]}}`,
      ];
      const text = run(lines).join("\n");
      expect(text).not.toContain("7d21aa90");
      expect(text.match(/\*\*\*/g)).toHaveLength(5);
    });
  });
});

describe("stream", () => {
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

    it.each([
      ["a message of several lines", 'data: {"a":\r\ndata: 1}\r\n\r\n', ['{"a":\n1}']],
      ["an error event", "event: error\r\ndata: gone\r\n\r\n", ['{"error":"gone"}']],
    ])("reads %s, with chunks that end within CRLF", (_name, text, expected) => {
      const pieces = text.split(/(?<=\r)/).map((piece) => Buffer.from(piece));
      expect(decode(pieces)).toEqual(expected);
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
    ])(
      "before a fault, gives the unterminated %s only when it is whole",
      async (tail, expected) => {
        const batches: string[][] = [];
        const read = async (): Promise<void> => {
          for await (const batch of decodeChunks(body([tail], new Error("reset")), limits)) {
            batches.push(batch);
          }
        };
        await expect(read()).rejects.toThrow("reset");
        expect(batches).toEqual(expected);
      },
    );
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
      [
        '{"error":{"x":1},"error_code":7}',
        { kind: "failure", failure: { error: "unknown error" } },
      ],
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
});

describe("utf8", () => {
  function decode(pieces: readonly Uint8Array[]): string {
    const utf8 = createUtf8Decoder();
    return pieces.map((piece) => utf8.write(piece)).join("") + utf8.end();
  }

  const bytesOf = (...given: (string | number)[]): Uint8Array =>
    Buffer.concat(given.map((each) => Buffer.from(typeof each === "string" ? each : [each])));

  const padding = Buffer.from("Größe 日 ".repeat(400));

  describe("createUtf8Decoder", () => {
    it("reads valid text as it is, in any chunking", () => {
      fc.assert(
        fc.property(
          fc.string({ unit: "grapheme" }),
          fc.array(fc.nat(60), { maxLength: 6 }),
          (text, cuts) => {
            const bytes = Buffer.from(`${text}\uFFFD é 日 👋`);
            const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
            const pieces = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
            expect(decode(pieces)).toBe(`${text}\uFFFD é 日 👋`);
          },
        ),
      );
    });

    it.each([
      ["a byte that begins nothing", bytesOf("a", 0xff, "b")],
      ["a byte that goes on with nothing", bytesOf("a", 0x80)],
      ["a character that is cut by another one", bytesOf(0xe2, 0x82, "b")],
      ["a character that is cut by the end", bytesOf("a", 0xf0, 0x9f, 0x91)],
      ["a character in too many bytes", bytesOf(0xe0, 0x80, 0xaf)],
      ["half of a pair", bytesOf(0xed, 0xa0, 0xbd)],
      ["Latin-1 beside the mark of a lost character", bytesOf("\uFFFD", 0xe9, "\uFFFD")],
    ])("marks %s, in any chunking", (_name, bytes) => {
      const whole = decode([bytes]);
      expect(isDamaged(whole)).toBe(true);
      expect(whole.isWellFormed()).toBe(false);
      expect(whole.toWellFormed()).toBe(new TextDecoder().decode(bytes));
      expect(decode([...bytes].map((byte) => Uint8Array.of(byte)))).toBe(whole);
    });

    it("reads any bytes as the platform does, but for the mark, in any chunking", () => {
      const byte = fc.oneof(
        fc.nat(255),
        fc.constantFrom(0xc3, 0xa9, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x91, 0x8b, 0xef, 0xbf, 0xbd),
      );
      fc.assert(
        fc.property(fc.array(byte, { maxLength: 24 }), fc.nat(24), (given, cut) => {
          const bytes = Buffer.from(given);
          const whole = decode([bytes]);
          expect(whole.toWellFormed()).toBe(bytes.toString());
          expect(decode([bytes.subarray(0, cut), bytes.subarray(cut)])).toBe(whole);
          // Large chunks go another way.
          const large = Buffer.concat([padding, bytes]);
          expect(decode([large])).toBe(padding.toString() + whole);
          const end = padding.length + cut;
          expect(decode([large.subarray(0, end), large.subarray(end)])).toBe(
            padding.toString() + whole,
          );
          expect(decode([padding])).toBe(padding.toString());
        }),
      );
    });

    it("takes no character for a mark", () => {
      // The second half of this character is the mark.
      const text = decode([bytesOf("a\u{1F4FF}b")]);
      expect(text).toBe("a\u{1F4FF}b");
      expect(isDamaged(text)).toBe(false);
      expect(isDamaged(decode([bytesOf("\u{1F4FF}", 0xff)]))).toBe(true);
    });

    it("keeps a byte order mark in a chunk of any size", () => {
      expect(decode([bytesOf("\uFEFFa")])).toBe("\uFEFFa");
      expect(decode([bytesOf("\uFEFF", padding.toString())])).toBe(`\uFEFF${padding.toString()}`);
    });
  });
});
