import { describe, expect, it } from "vitest";
import { readErrorBody } from "../../../src/api/transport/exchange.ts";
import { allHeaders } from "../../../src/api/transport/headers.ts";
import { redactBody, redactHeaders, redactText } from "../../../src/api/answers/redaction.ts";
import { readServiceWords } from "../../../src/api/answers/words.ts";
import { createSecrets } from "../../../src/output/terminal/redact.ts";
import { key, leakIn, spellings, writtenAs } from "../../redaction/key.ts";
import { rawHeaders } from "../support.ts";

const secrets = createSecrets();
secrets.add(key);

const bodies: readonly [cut: number, type: string, make: (text: string) => string][] = [
  [500, "application/json", (text) => `{"detail":"${text}"}`],
  [80, "application/json", (text) => `{"error_code":"${text}"}`],
  [160, "application/json", (text) => `{"detail":[{"loc":["a"],"msg":"${text}"}]}`],
  [
    300,
    "application/json",
    (text) => `{"status_code":422,"message":"'loc': ('a',), 'msg': '${text}'"}`,
  ],
  [160, "application/json", (text) => `{"status_code":422,"message":"${text}"}`],
  [500, "text/plain", (text) => text],
  [100, "text/html", (text) => `<title>${text}</title>`],
];

describe("the words of a service", () => {
  it("hold nothing of a key at any place around each cut, in any spelling", () => {
    for (const [cut, type, make] of bodies) {
      for (const spelling of spellings) {
        const written = writtenAs(spelling);
        for (let before = Math.max(0, cut - written.length - 4); before <= cut + 2; before++) {
          const body = redactBody(Buffer.from(make(`${"x".repeat(before)}${written} y`)), secrets);
          const { text, code = "" } = readServiceWords(body, type, 400);
          expect(leakIn(text + code), `${type} ${before}`).toBeUndefined();
        }
      }
    }
  });
});

describe("redactText", () => {
  it("keeps JSON what it is, to the byte where it holds no secret", () => {
    const same = '{ "a" : 12345678901234567890, "b": "\\u0041\\/" }';
    expect(redactText(same, secrets)).toBe(same);
    expect(
      JSON.parse(redactText(`{"a\\u002f":"${key.replaceAll("/", "\\/")}","b":1}`, secrets)),
    ).toEqual({
      "a/": "***",
      b: 1,
    });
  });

  it("takes no escape apart that only looks like the beginning of a secret", () => {
    const other = createSecrets();
    other.add("n23456");
    expect(redactText('{"a":"x\\n23456"}', other)).toBe('{"a":"x\\n23456"}');
    expect(JSON.parse(redactText('{"a":"x\\n23456 n23456"}', other))).toEqual({
      a: "x\n23456 ***",
    });
  });
});

it.each(spellings)(
  "leaves nothing of a key where the service cut what it repeats: $name",
  (spelling) => {
    const pieces = spelling.name.startsWith("base64") ? [...writtenAs(spelling)] : spelling.pieces;
    for (let shown = spelling.tooMany; shown <= pieces.length; shown++) {
      const cut = pieces.slice(0, shown).join("");
      const places = [
        `bad key ${cut}`,
        `{"detail":"bad key ${cut}"}`,
        `{"error":{"message":"bad key ${cut}"},"rest":["${cut}"],"${cut}":1}`,
      ];
      for (const place of places) {
        expect(leakIn(redactText(place, secrets)), place).toBeUndefined();
      }
    }
  },
);

it("takes a key out of names and values of headers", () => {
  const headers = redactHeaders(rawHeaders({ location: `/?k=${key}`, "x-other": "1" }), secrets);
  expect(allHeaders(headers)).toEqual({ location: "/?k=***", "x-other": "1" });
});

it("leaves nothing of a key where a long answer is cut", async () => {
  const size = 1024 * 1024;
  for (const shown of [1, 7, 20, 31]) {
    const body = (async function* () {
      yield Buffer.from("x".repeat(size - 10));
      yield Buffer.from(`${"x".repeat(10)}${key.slice(0, shown)}`);
      yield Buffer.from(key.slice(shown));
    })();
    const answer = await readErrorBody({ status: 400, headers: [], body }, secrets);
    expect(leakIn(answer.body.toString("latin1"))).toBeUndefined();
    expect(answer.body.length).toBe(size);
  }
});
