import { readFileSync } from "node:fs";
import { expectConstant } from "../../cost.ts";
import * as fc from "../../property.ts";
import { describe, expect, it } from "vitest";
import { readServiceWords, shorten } from "../../../src/api/answers/words.ts";

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
  it.each(fixtures.filter(({ shape }) => shape !== "empty"))("reads the shape: $shape", (error) => {
    const body = Buffer.from(error.text ?? JSON.stringify(error.body));
    const words = readServiceWords(body, error.headers["content-type"] ?? "", error.status);
    expect(words).toEqual({ text: error.words, ...(error.code ? { code: error.code } : {}) });
  });

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
