import { describe, expect, it } from "vitest";
import { readErrorBody } from "../../../src/api/transport/exchange.ts";
import { allHeaders } from "../../../src/api/transport/headers.ts";
import { redactBody, redactHeaders, redactText } from "../../../src/api/answers/redaction.ts";
import { readServiceWords, shorten } from "../../../src/api/answers/words.ts";
import { createSecrets } from "../../../src/output/terminal/redact.ts";
import { key, leakIn, spellings, writtenAs } from "../../redaction/key.ts";
import { rawHeaders } from "../support.ts";
import { readFileSync } from "node:fs";
import { expectConstant } from "../../cost.ts";
import * as fc from "../../property.ts";

describe("redaction", () => {
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
            const body = redactBody(
              Buffer.from(make(`${"x".repeat(before)}${written} y`)),
              secrets,
            );
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
      const pieces = spelling.name.startsWith("base64")
        ? [...writtenAs(spelling)]
        : spelling.pieces;
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
});

describe("words", () => {
  interface ErrorFixture {
    shape: string;
    status: number;
    headers: Record<string, string>;
    body?: unknown;
    text?: string;
    words: string;
    code?: string;
  }

  const fixtures = JSON.parse(
    readFileSync(new URL("../../fixtures/wire/errors.json", import.meta.url), "utf8"),
  ) as ErrorFixture[];

  describe("readServiceWords", () => {
    it.each(fixtures.filter(({ shape }) => shape !== "empty"))(
      "reads the shape: $shape",
      (error) => {
        const body = Buffer.from(error.text ?? JSON.stringify(error.body));
        const words = readServiceWords(body, error.headers["content-type"] ?? "", error.status);
        expect(words).toEqual({
          text: error.words,
          ...(error.code ? { code: error.code } : {}),
          ...(error.words.includes("web page") ? { isPage: true } : {}),
        });
      },
    );

    const dump = (items: string[]): Buffer => {
      const message = `${items.length} validation errors:\n${items.map((item) => `  ${item}\n`).join("")}`;
      return Buffer.from(JSON.stringify({ status_code: 422, message, data: null }));
    };

    it("names three problems of a validation dump and counts the rest", () => {
      const items = [1, 2, 3, 4, 5].map(
        (index) =>
          `{'type': 'missing', 'loc': ('body', 'a', ${index}), 'msg': 'Field required', 'input': {'text': 'SECRET'}}`,
      );
      const { text } = readServiceWords(dump(items), "application/json", 422);
      expect(text).toBe(
        "body.a.1: Field required; body.a.2: Field required; body.a.3: Field required (and 2 more)",
      );
    });

    const samples = JSON.parse(
      readFileSync(new URL("../../fixtures/samples/errors-422.json", import.meta.url), "utf8"),
    ) as { responses: { note: string; status: number; body: unknown }[] };

    it("reads every sample of a refused request in short", () => {
      const read = samples.responses.map(({ note, status, body }) => {
        const { text } = readServiceWords(
          Buffer.from(JSON.stringify(body)),
          "application/json",
          status,
        );
        expect(text.length, note).toBeLessThan(300);
        expect(text, note).not.toMatch(/'loc'|'type'|\.py|[…{]/);
        return `${note}: ${text}`;
      });
      expect(read).toEqual(
        expect.arrayContaining([
          'wrong source name: body.document.source: "nonsense" is unknown; ' +
            "the nearest of 59 valid names: confluence, notion, zendesk",
          "wrong date: body.document.doc_updated_at: Input should be a valid datetime or date, " +
            'input is too short, found "soon"',
          "blank session id: body.chat_session_id: Input should be a valid UUID, invalid length: found 0",
          "sections missing: body.document.sections: Field required",
        ]),
      );
    });

    const names = Array.from({ length: 60 }, (_, index) => `'source_${index}'`).join(", ");
    it.each<[string, { msg: string; input: unknown }, string]>([
      [
        "the nearest names",
        { msg: `Input should be ${names} or 'google_drive'`, input: "googledrvie" },
        'body.x: "googledrvie" is unknown; the nearest of 61 valid names: google_drive, source_0, source_1',
      ],
      [
        "all of few names",
        { msg: "Input should be 'a' or 'b'", input: "c" },
        'body.x: "c" is unknown; valid: a, b',
      ],
      [
        "no long value",
        { msg: "Input should be 'a' or 'b'", input: "SECRET".repeat(20) },
        "body.x: unknown name; valid: a, b",
      ],
      [
        "no value that is an object",
        { msg: "Input should be 'a' or 'b'", input: { text: "SECRET" } },
        "body.x: unknown name; valid: a, b",
      ],
    ])("names %s for an unknown name", (_what, problem, expected) => {
      const item = { type: "enum", loc: ["body", "x"], ...problem };
      const listed = Buffer.from(JSON.stringify({ detail: [item] }));
      expect(readServiceWords(listed, "application/json", 422)).toEqual({ text: expected });
      const input = JSON.stringify(problem.input).replaceAll('"', "'");
      const python = `{'type': 'enum', 'loc': ('body', 'x'), 'msg': "${problem.msg}", 'input': ${input}}`;
      expect(readServiceWords(dump([python]), "application/json", 422)).toEqual({ text: expected });
    });

    it.each([
      [
        "an unknown dump",
        `{"status_code":422,"message":"1 error: bad {'input': 'SECRET'}","data":null}`,
      ],
      ["a dump that is cut", `{"status_code":422,"message":"1 error: bad, input=SECRET`],
      ["a list with inputs", `{"detail":[{"loc":["body"],"msg":"bad","input":"SECRET"}]}`],
    ])("does not repeat the document from %s", (_name, body) => {
      const { text } = readServiceWords(Buffer.from(body), "application/json", 422);
      expect(text).toContain("bad");
      expect(text).not.toContain("SECRET");
    });

    it("is short and one line whatever comes", () => {
      fc.assert(
        fc.property(
          fc.oneof(fc.string(), fc.json()),
          fc.constantFrom(400, 422, 500),
          (text, status) => {
            const words = readServiceWords(Buffer.from(text), "application/json", status);
            expect(words.text.length).toBeLessThanOrEqual(600);
            expect(words.text).not.toMatch(/[\r\n]/);
          },
        ),
      );
    });

    it("does not go down into endless nesting", () => {
      const body = `${'{"detail":'.repeat(5000)}"deep"${"}".repeat(5000)}`;
      expect(readServiceWords(Buffer.from(body), "application/json", 400).text).toBe("");
    });

    it.each([
      [" x", "text/plain", 500],
      ["'loc': (", "application/json", 422],
    ] as const)("reads no more than the beginning of a huge body: %j", (part, type, status) => {
      const huge = Buffer.alloc(20_000_000, part);
      expectConstant([100_000, huge.length], (size) => {
        readServiceWords(huge.subarray(0, size), type, status);
      });
    });
  });

  describe("shorten", () => {
    it("does not split a character", () => {
      expect(shorten("aaa👋", 4)).toBe("aaa…");
    });
  });
});
