import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMessageRedactor, redactMessages } from "../../src/api/redact-messages.ts";
import { createSecrets } from "../../src/output/redact.ts";
import { errorOf } from "./support.ts";

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

  it("does not show, however it is split, and all other text stays (500 cases)", () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 14 }), (lines) => {
        const before = textsOf(lines);
        const after = textsOf(run(lines));
        for (const [model, text] of after.entries()) {
          expect(text).not.toContain(key);
          const whole = before[model] ?? "";
          if (!whole.includes(key)) expect(text).toBe(whole);
          // Three characters of it may have passed before anything could tell.
          else
            expect(text.replace(/a?b?c?\*\*\*/g, "***").length).toBeLessThanOrEqual(whole.length);
        }
      }),
      { numRuns: 500 },
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
    const cut = delta("so abcabcab-k");
    expect(textsOf(run([cut, other("section_end")]))[0]).toBe("so abcabcab-k");
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
    expect(textsOf(seen)[0]).toBe("so abcabcab-k");
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
