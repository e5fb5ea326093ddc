import * as fc from "../../property.ts";
import { describe, expect, it } from "vitest";
import { createMessageRedactor, redactMessages } from "../../../src/api/chat/redact-messages.ts";
import { createSecrets } from "../../../src/output/terminal/redact.ts";
import { errorOf } from "../support.ts";

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
      arbitrary: fc.tuple(piece, fc.constantFrom(0, 1)).map(([text, model]) => delta(text, model)),
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
