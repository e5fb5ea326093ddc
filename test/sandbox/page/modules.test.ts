import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { projectFolder } from "../../support.ts";

describe("texts", async () => {
  /** The browser's modules are no part of the program's types. */
  const load = (name: string): Promise<unknown> =>
    import(new URL(`../../../src/sandbox/page/browser/${name}`, import.meta.url).href);
  const { visible, readableId } = (await load("dom.js")) as {
    visible(text: string): string;
    readableId(id: string): string;
  };

  describe("the texts of the page", () => {
    it.each([
      ["a\tb\r\nc", "a\tb\nc"],
      ["\u001b[31m\u0000", "␛[31m␀"],
      ["\u007f\u0085", "␡[U+0085]"],
      ["\u202ecod.exe\u2069", "[U+202E]cod.exe[U+2069]"],
      ["שלום\u200f world", "שלום world"],
    ])("show what is hidden in %j", (text, shown) => {
      expect(visible(text)).toBe(shown);
    });

    it.each([
      ["docs%2Fann%C3%A9e.md", "docs/année.md"],
      ["100%", "100%"],
      ["a_b", "a_b"],
    ])("make the id %s readable", (id, readable) => {
      expect(readableId(id)).toBe(readable);
    });
  });
});

describe("answers", async () => {
  interface Turn {
    text: string;
    queries: string[];
    documents: Map<string, unknown>;
    citations: Map<number, string>;
    session: string | undefined;
    failure: string | undefined;
    isComplete: boolean;
    damaged: number;
  }

  /** The browser's module, which is no part of the program's types. */
  const module = new URL("../../../src/sandbox/page/browser/turn.js", import.meta.url).href;
  const { newTurn, linesOf, addLine, failureOf } = (await import(module)) as {
    newTurn(): Turn;
    linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string>;
    addLine(turn: Turn, line: string): void;
    failureOf(status: number, retryAfter: string | null, type: string, body: string): string;
  };

  /** The turn of a stream that arrives in pieces of so many bytes. */
  async function read(text: string, size = 7): Promise<Turn> {
    const bytes = new TextEncoder().encode(text);
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.slice(at * size, (at + 1) * size),
    );
    const turn = newTurn();
    for await (const line of linesOf(ReadableStream.from(pieces))) addLine(turn, line);
    return turn;
  }

  const packet = (obj: object): string => JSON.stringify({ placement: {}, obj });
  const answer = [
    `{"chat_session_id":"s1"}`,
    packet({ type: "message_delta", content: "Größe " }),
    packet({ type: "message_delta", content: "10 €" }),
    packet({ type: "stop" }),
  ];

  describe("the stream of an answer, read by the page", () => {
    it.each([
      ["events", answer.map((line) => `data: ${line}\n\n`).join("")],
      ["bare lines", answer.map((line) => `${line}\n`).join("")],
      ["bare lines without an end", answer.join("\n")],
      [
        "events with comments",
        `: hello\n\n${answer.map((line) => `data:${line}\r\n\r\n`).join("")}`,
      ],
    ])("is the same as %s", async (_, text) => {
      for (const size of [1, 7, 10_000]) {
        expect(await read(text, size)).toMatchObject({
          text: "Größe 10 €",
          session: "s1",
          isComplete: true,
          damaged: 0,
        });
      }
    });

    it("knows a cut stream, an error and a damaged line", async () => {
      expect(await read(answer.slice(0, 2).join("\n"))).toMatchObject({ isComplete: false });
      expect(await read(`{"error":"No model","error_code":"X"}\n`)).toMatchObject({
        failure: "No model",
      });
      expect(await read(`{"broken\n${answer.join("\n")}`)).toMatchObject({
        damaged: 1,
        isComplete: true,
      });
    });

    it("takes nothing but texts from a recording, whatever it holds", async () => {
      const hostile = { document_id: "a\ud800", semantic_identifier: {}, blurb: 5, updated_at: 9 };
      const turn = await read(
        [
          "null",
          "5",
          packet({
            type: "message_start",
            final_documents: [hostile, null, 5, { document_id: 1 }],
          }),
          packet({ type: "search_tool_documents_delta", documents: "none" }),
          packet({ type: "message_delta", content: { a: 1 } }),
          packet({ type: "search_tool_queries_delta", queries: [{ a: 1 }, "b"] }),
          packet({ type: "citation_info", citation_number: "1", document_id: {} }),
          packet({ type: "stop" }),
        ].join("\n"),
      );
      expect(turn).toMatchObject({ text: "", queries: ["", "b"], isComplete: true, damaged: 2 });
      expect(turn.citations.size).toBe(0);
      expect([...turn.documents.values()]).toEqual([
        { document_id: "a\ufffd", semantic_identifier: "", link: "", blurb: "", updated_at: "" },
      ]);
    });

    it("accepts every packet that the service sends", async () => {
      const file = join(projectFolder, "test", "fixtures", "wire", "every-packet.ndjson");
      const turn = await read(readFileSync(file, "utf8"), 1_000);
      expect(turn).toMatchObject({
        text: "Done.",
        queries: ["a", "b"],
        isComplete: true,
        damaged: 0,
      });
      expect([...turn.citations]).toEqual([[2, "https://example.com/a"]]);
      expect([...turn.documents.keys()]).toContain("handbook/leave-3.md");
    });

    it.each([
      [
        401,
        null,
        "application/json",
        `{"detail":"Not authenticated"}`,
        "status 401: Not authenticated.",
      ],
      [429, "1", "application/json", `{"detail":"Slow down."}`, "429: Slow down. Retry after 1 s."],
      [
        422,
        null,
        "application/json",
        `{"message":"1 validation error"}`,
        "422: 1 validation error.",
      ],
      [502, null, "text/html", "<html>Bad gateway</html>", "status 502: a web page."],
      [500, null, "", "", "status 500."],
      [200, null, "text/html", "<html>", "A web page came"],
      [200, null, "application/json", "{}", "not a stream"],
    ])("explains status %i", (status, retryAfter, type, body, message) => {
      expect(failureOf(status, retryAfter, type, body)).toContain(message);
    });
  });
});
