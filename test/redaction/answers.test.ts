import type { ServerResponse } from "node:http";
import * as fc from "../property.ts";
import { describe, expect, it } from "vitest";
import { main } from "../main.ts";
import { serve } from "../commands/doctor/support.ts";
import { cleanEnvironment, createTestContext, temporaryFolder } from "../support.ts";
import { everythingIn } from "./files.ts";
import { type Spelling, anySpelling, key, leakIn, writtenAs } from "./key.ts";
import { rmSync } from "node:fs";
import { join } from "node:path";

describe("answers", () => {
  type Answer = (response: ServerResponse, text: string) => void;

  function json(status: number, make: (text: string) => unknown): Answer {
    return (response, text) => {
      response.writeHead(status, { "content-type": "application/json" });
      // The spelling with escapes stands in the JSON as it is.
      response.end(JSON.stringify(make("@")).replaceAll("@", text));
    };
  }

  function body(status: number, type: string, make: (text: string) => string): Answer {
    return (response, text) => {
      response.writeHead(status, { "content-type": type });
      response.end(make(text));
    };
  }

  function headers(status: number, make: (text: string) => Record<string, string>): Answer {
    return (response, text) => {
      response.writeHead(status, { "content-type": "application/json", ...make(text) });
      response.end("{}");
    };
  }

  const record = (text: string): unknown => ({
    cc_pair_id: 1,
    name: text,
    access_type: text,
    connector: { id: 1, name: text, source: text, input_type: text, connector_specific_config: {} },
    credential: { id: 1, user_email: text, credential_json: {} },
    last_status: text,
  });

  /** Where a service may write the key, and after how many characters the text is cut there. */
  const places: readonly [name: string, cut: number, answer: Answer][] = [
    ["detail", 500, json(400, (detail) => ({ detail }))],
    ["message", 500, json(409, (message) => ({ message }))],
    ["error", 500, json(400, (error) => ({ error }))],
    ["detail in a detail", 500, json(400, (message) => ({ detail: { message } }))],
    ["code", 80, json(400, (code) => ({ error_code: code, detail: "x" }))],
    ["code alone", 80, json(400, (code) => ({ error_code: code }))],
    ["validation list", 155, json(422, (msg) => ({ detail: [{ loc: ["body"], msg }] }))],
    ["place of a validation", 160, json(422, (loc) => ({ detail: [{ loc: [loc], msg: "x" }] }))],
    [
      "validation dump",
      150,
      json(422, (text) => ({
        status_code: 422,
        message: `1 validation error: {'type': 'x', 'loc': ('body',), 'msg': '${text}'}`,
      })),
    ],
    ["text", 500, body(400, "text/plain", (text) => text)],
    ["title", 100, body(502, "text/html", (text) => `<html><title>${text}</title></html>`)],
    ["member that is too much", 150, json(200, (text) => [{ cc_pair_id: { [text]: 1 } }])],
    ["cell of a table", 30, json(200, (text) => [record(text)])],
    [
      "tool",
      30,
      json(200, (text) => [
        { id: 1, name: text, description: text, display_name: text, [text]: text },
      ]),
    ],
    [
      "session",
      30,
      json(200, (text) => ({
        sessions: [{ id: "s-1", name: text, time_updated: text, [text]: text }],
        has_more: false,
      })),
    ],
    ["version", 60, json(200, (text) => ({ backend_version: text, status: text }))],
    ["content type", 80, headers(200, (text) => ({ "content-type": `text/${text}` }))],
    ["coding", 40, headers(200, (text) => ({ "content-encoding": text }))],
    ["redirect", 180, headers(302, (text) => ({ location: `http://127.0.0.1:1/${text}` }))],
    ["host of a redirect", 180, headers(302, (text) => ({ location: `/?${text}#${text}` }))],
    ["any header", 30, headers(400, (text) => ({ "x-request-id": text, "x-other": text }))],
  ];

  const outputs: readonly (readonly string[])[] = [
    ["--output", "table"],
    ["--output", "json"],
    ["--output", "ndjson"],
    ["--output", "yaml"],
    ["--output", "csv"],
    ["--output", "tsv"],
    ["--fields", "name,credential,connector"],
    ["--jq", ".[] | .name[0:60], .name[20:]"],
  ];

  const commands = (output: readonly string[]): readonly (readonly string[])[] => [
    ["connectors", "list", ...output],
    ["connectors", "list", "--debug", ...output],
    ["api", "manage/admin/connector/indexing-status", ...output],
    ["api", "tool", "--include"],
    ["api", "tool", "--output", "raw"],
    ["tools", "list", ...output],
    ["sessions", "list", "--dialect", "onyx", ...output],
    ["sessions", "show", "s-1", "--dialect", "onyx"],
    ["connectors", "find", "x"],
    ["connectors", "get", "1", ...output],
    ["doctor", "--bundle", "ticket.json"],
    ["doctor", "--bundle", "ticket.txt", "--dialect", "onyx"],
    ["doctor", "--json"],
  ];

  interface Case {
    spelling: Spelling;
    place: (typeof places)[number];
    offset: number;
    output: readonly string[];
    command: number;
    isTTY: boolean;
    columns: number;
  }

  const anyCase = fc.record<Case>({
    spelling: anySpelling,
    place: fc.constantFrom(...places),
    // Around the cut, where the key is cut in two.
    offset: fc.integer({ min: -34, max: 2 }),
    output: fc.constantFrom(...outputs),
    command: fc.nat({ max: commands([]).length - 1 }),
    isTTY: fc.boolean(),
    columns: fc.constantFrom(20, 40, 80, 200),
  });

  describe("what a service answers", () => {
    it("never shows the key, wherever it stands and wherever it is cut", async () => {
      let answer: (response: ServerResponse) => void = () => {};
      const { url } = await serve((_request, response) => answer(response));
      const cwd = temporaryFolder();
      const show = async (given: Case): Promise<string> => {
        const [, cut, write] = given.place;
        const written = writtenAs(given.spelling);
        const isHeader = /content type|coding|redirect|header/.test(given.place[0]);
        const before = Math.max(0, cut + given.offset);
        const text = `${"x".repeat(before)}${isHeader ? written.replaceAll("\\", "") : written} y`;
        answer = (response) => write(response, text);
        const env = { KNOWCTL_BASE_URL: url, KNOWCTL_API_KEY: key, GITHUB_ACTIONS: "true" };
        const context = createTestContext({
          cwd,
          env: cleanEnvironment(cwd, { ...env, NO_PROXY: "*" }),
          isTTY: given.isTTY,
          columns: given.columns,
        });
        await main(commands(given.output)[given.command] ?? [], context);
        // What is kept: names for completion, the bundle.
        return context.stdoutText() + context.stderrText() + everythingIn(cwd);
      };
      let hidden = 0;
      await fc.assert(
        fc.asyncProperty(anyCase, async (given) => {
          const shown = await show(given);
          if (shown.includes("***")) hidden++;
          expect(leakIn(shown), shown).toBeUndefined();
        }),
        fc.few(40),
      );
      // The key was there to be hidden.
      expect(hidden).toBeGreaterThan(0);
    });
  });
});

describe("chat", () => {
  const placement = { turn_index: 1, tab_index: 0, sub_turn_index: null, model_index: 0 };
  const packet = (obj: object): object => ({ placement, obj });
  const document = (text: string): object => ({
    document_id: text,
    semantic_identifier: text,
    link: `https://docs.example.com/${text}`,
    blurb: text,
    source_type: text,
    metadata: { [text]: text },
    updated_at: null,
  });

  /** Cuts a text into pieces at these places. */
  function cutAt(text: string, cuts: readonly number[]): string[] {
    const places = [0, ...cuts.map((cut) => cut % (text.length + 1)).toSorted((a, b) => a - b)];
    return places.map((place, at) => text.slice(place, places[at + 1] ?? text.length));
  }

  type Lines = (text: string, pieces: string[]) => object[];

  /** Where a stream may hold the key, and after how many characters the text is cut there. */
  const places: readonly [name: string, cut: number, lines: Lines][] = [
    ["answer", 60, (_, all) => all.map((content) => packet({ type: "message_delta", content }))],
    [
      "answer with packets between",
      60,
      (_, all) =>
        all.flatMap((content, at) => [
          packet({
            type: at % 2 === 0 ? "chat_heartbeat" : "citation_info",
            citation_number: 1,
            document_id: "d",
          }),
          packet({ type: "message_delta", content }),
        ]),
    ],
    [
      "answer with other packets between",
      60,
      (_, all) =>
        all.flatMap((content, at) => [
          packet({
            type: ["section_end", "message_start", "search_tool_start", "of_tomorrow"][at % 4],
          }),
          { placement: { ...placement, turn_index: at }, obj: { type: "message_delta", content } },
        ]),
    ],
    [
      "reasoning",
      60,
      (_, all) => all.map((reasoning) => packet({ type: "reasoning_delta", reasoning })),
    ],
    [
      "output of a tool",
      60,
      (_, all) => [
        packet({ type: "python_tool_start", code: "1" }),
        ...all.map((stdout) =>
          packet({ type: "python_tool_delta", stdout, stderr: "", file_ids: [] }),
        ),
      ],
    ],
    [
      "queries",
      60,
      (text) => [
        packet({ type: "search_tool_start" }),
        packet({ type: "search_tool_queries_delta", queries: [text] }),
        packet({ type: "search_tool_documents_delta", documents: [document(text)] }),
      ],
    ],
    [
      "documents",
      100,
      (text) => [packet({ type: "message_start", final_documents: [document(text)] })],
    ],
    ["unknown packet", 60, (text) => [packet({ type: "of_tomorrow", [text]: text })]],
    ["error", 500, (text) => [{ error: text, error_code: "x", stack_trace: text }]],
    ["code of an error", 60, (text) => [{ error: "x", error_code: text }]],
    ["session", 8, (text) => [{ chat_session_id: text }]],
    ["line", 60, (text) => [{ [text]: text }]],
  ];

  const outputs: readonly (readonly string[])[] = [
    ["--output", "text"],
    ["--output", "json"],
    ["--output", "ndjson"],
    ["--output", "packets"],
    ["--debug"],
    ["--save", "answer.md"],
    ["--record", "turn.jsonl", "--output", "json"],
  ];

  interface Case {
    spelling: Spelling;
    place: (typeof places)[number];
    offset: number;
    cuts: number[];
    output: readonly string[];
    isTTY: boolean;
    columns: number;
    chunk: number;
  }

  const anyCase = fc.record<Case>({
    spelling: anySpelling,
    place: fc.constantFrom(...places),
    offset: fc.integer({ min: -34, max: 2 }),
    cuts: fc.array(fc.nat(400), { maxLength: 8 }),
    output: fc.constantFrom(...outputs),
    isTTY: fc.boolean(),
    columns: fc.constantFrom(20, 80, 200),
    chunk: fc.constantFrom(7, 50, 100_000),
  });

  function streamOf({ spelling, place: [, cut, lines], offset, cuts }: Case): string {
    const written = writtenAs(spelling);
    // Escapes of JSON are written into the JSON; split text has none.
    const isEscaped = written.includes("\\");
    const secret = isEscaped ? "@" : written;
    const text = `${"x".repeat(Math.max(0, cut + offset))}${secret} y`;
    const all = [
      ...lines(text, cutAt(text, cuts)),
      packet({ type: "message_delta", content: "The end." }),
      packet({ type: "stop" }),
    ];
    return all.map((line) => `${JSON.stringify(line)}\n`.replaceAll("@", written)).join("");
  }

  describe("a stream", () => {
    it("never shows the key, wherever it stands and however it is split", async () => {
      let body = "";
      let chunkBytes = 1;
      const { url } = await serve((_request, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        for (let at = 0; at < body.length; at += chunkBytes) {
          response.write(body.slice(at, at + chunkBytes));
        }
        response.end();
      });
      const home = temporaryFolder();
      let hidden = 0;
      await fc.assert(
        fc.asyncProperty(anyCase, async (given) => {
          body = streamOf(given);
          chunkBytes = given.chunk;
          const cwd = join(temporaryFolder());
          const context = createTestContext({
            cwd,
            env: cleanEnvironment(home, { KNOWCTL_BASE_URL: url, KNOWCTL_API_KEY: key }),
            isTTY: given.isTTY,
            columns: given.columns,
          });
          await main(["chat", "Who?", ...given.output], context);
          const shown = context.stdoutText() + context.stderrText();
          const kept = everythingIn(cwd) + everythingIn(home);
          for (const folder of ["state", "data"]) {
            rmSync(join(home, folder), { recursive: true, force: true });
          }
          if ((shown + kept).includes("***")) hidden++;
          expect(leakIn(shown), shown).toBeUndefined();
          expect(leakIn(kept), kept).toBeUndefined();
        }),
        fc.few(30),
      );
      expect(hidden).toBeGreaterThan(0);
    });
  });
});
