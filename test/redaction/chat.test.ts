import { rmSync } from "node:fs";
import { join } from "node:path";
import * as fc from "../property.ts";
import { describe, expect, it } from "vitest";
import { main } from "../main.ts";
import { serve } from "../commands/doctor/support.ts";
import { cleanEnvironment, createTestContext, temporaryFolder } from "../support.ts";
import { everythingIn } from "./files.ts";
import { anySpelling, key, leakIn, writtenAs, type Spelling } from "./key.ts";

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
      fc.few(60),
    );
    expect(hidden).toBeGreaterThan(0);
  });
});
