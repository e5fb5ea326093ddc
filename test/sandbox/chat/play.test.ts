import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { entryLine, headLine, type RecordedEntry } from "../../../src/recording.ts";
import { temporaryFolder } from "../../support.ts";
import { start } from "../start.ts";

const wire = fileURLToPath(new URL("../../fixtures/wire/", import.meta.url));
const chat = "/api/chat/send-chat-message";

function recording(name: string, ...entries: RecordedEntry[]): string {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, headLine(new Date(0), "x") + entries.map(entryLine).join(""));
  return path;
}

const packet = (obj: object): string => JSON.stringify({ placement: { turn_index: 0 }, obj });
const said = [
  { atMs: 20, line: '{"user_message_id":1,"reserved_assistant_message_id":2}' },
  { atMs: 100, line: packet({ type: "message_start" }) },
  { atMs: 100, line: packet({ type: "message_delta", content: "Grüße" }) },
  { atMs: 400, line: packet({ type: "stop" }) },
  { atMs: 401, end: "ok", exit: null },
];

/** A clock that notes its pauses instead of making them. */
function notingClock() {
  const pauses: number[] = [];
  const sleep = (ms: number) => Promise.resolve(void pauses.push(ms));
  return { pauses, now: Date.now, random: Math.random, sleep };
}

describe("playing recorded streams", () => {
  it("names the tools of a whole reply by their class", async () => {
    const objects = [
      { type: "search_tool_start", is_internet_search: true },
      { type: "search_tool_queries_delta", queries: ["news"] },
      { type: "search_tool_start", is_internet_search: false },
      { type: "search_tool_documents_delta", documents: [] },
      { type: "research_agent_start", research_task: "look" },
    ];
    const [ids, ...rest] = said;
    const lines = objects.map((obj) => ({ atMs: 20, line: packet(obj) }));
    const path = recording("tools.ndjson", ids!, ...lines, ...rest);
    const { send } = await start({ play: { paths: [path], speed: 0 } });
    const answer = await send("POST", chat, { message: "x", stream: false });
    expect(JSON.parse(answer.text)).toMatchObject({
      tool_calls: [
        { tool_name: "web_search", tool_arguments: { queries: ["news"] } },
        { tool_name: "internal_search", search_docs: [] },
        { tool_name: "research_agent", tool_arguments: { task: "look" } },
      ],
    });
  });

  it.each([
    "answer.ndjson",
    "answer.sse",
    "answer-crlf.sse",
    "cut.ndjson",
    "error-line-unterminated.ndjson",
    "compact-mixed.txt",
  ])("%s byte by byte", async (name) => {
    const { send } = await start({ play: { paths: [join(wire, name)], speed: 1 } });
    const answer = await send("POST", chat, { message: "x" });
    expect(answer.text).toBe(readFileSync(join(wire, name), "utf8").replace(/^\uFEFF/, ""));
    expect(answer.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  });

  it.each([
    ["standard", 1, [20, 80, 300, 1]],
    ["onyx", 2, [10, 40, 150, 0.5]],
    ["onyx", 0, []],
  ] as const)("a recording in %s at speed %d", async (dialect, speed, pauses) => {
    const clock = notingClock();
    const { send } = await start({
      dialect,
      clock,
      play: { paths: [recording("r.ndjson", ...said)], speed },
    });
    const { text } = await send("POST", chat, { message: "x" });
    const lines = said.flatMap((entry) => ("line" in entry ? [entry.line] : []));
    expect(text).toBe(
      lines.map((line) => (dialect === "onyx" ? `${line}\n` : `data: ${line}\n\n`)).join(""),
    );
    expect(clock.pauses).toEqual(pauses);
  });

  it("without a stream, from either form", async () => {
    const paths = [
      recording("r.ndjson", ...said),
      join(wire, "answer.sse"),
      join(wire, "reply.json"),
    ];
    const { whole } = await start({ play: { paths, speed: 1 }, clock: notingClock() });
    expect((await whole("x")).answer).toBe("Grüße");
    expect((await whole("x")).answer).not.toBe("");
    expect((await whole("x")).answer).toBe(
      JSON.parse(readFileSync(join(wire, "reply.json"), "utf8")).answer,
    );
  });

  it("a recording that was not streamed is the same body again", async () => {
    const reply = '{"answer": "whole"}';
    const play = { paths: [recording("r.ndjson", { atMs: 5, reply })], speed: 0 };
    const { send } = await start({ play });
    const answer = await send("POST", chat, { message: "x", stream: false });
    expect([answer.text, answer.headers.get("content-type")]).toEqual([reply, "application/json"]);
  });

  it("one after the other, a folder's by name, or by name", async () => {
    const folder = temporaryFolder();
    for (const name of ["b.ndjson", "a.sse", "ignored.md"]) writeFileSync(join(folder, name), name);
    const last = join(temporaryFolder(), "c.txt");
    writeFileSync(last, "c");
    const { send } = await start({ play: { paths: [folder, last], speed: 1 } });
    const ask = async (message: string) => (await send("POST", chat, { message })).text;
    const heard = [];
    for (const message of ["1", "play:b", "2", "tell me play:c.txt please", "3", "4"]) {
      heard.push(await ask(message));
    }
    expect(heard).toEqual(["a.sse", "b.ndjson", "b.ndjson", "c", "c", "a.sse"]);
    expect(await ask("play:../a")).toMatch(
      /^data: \{"error":"No recording has this name.*a\.sse, b\.ndjson, c\.txt/,
    );
    const whole = await send("POST", chat, { message: "play:none", stream: false });
    expect(whole.status).toBe(400);
  });

  it("still checks the question, and goes on when a recording is broken", async () => {
    const logged: string[] = [];
    const path = recording("r.ndjson", said[0]!);
    writeFileSync(path, "garbage\n{}\n", { flag: "a" });
    const play = { paths: [path], speed: 0 };
    const { send } = await start({ play, onLog: (line) => logged.push(line) });
    expect((await send("POST", chat, { message: 1 })).status).toBe(422);
    await expect(send("POST", chat, { message: "x" })).rejects.toThrow();
    await expect.poll(() => logged.join("\n")).toContain("r.ndjson is not a recording: line 3");
    expect((await send("GET", "/api/tool")).status).toBe(200);
  });

  it.each([
    ["nothing there", () => [join(temporaryFolder(), "none")], /cannot read .*none: no such file/],
    ["an empty folder", () => [temporaryFolder()], /contains no file to play/],
  ])("refuses %s", async (_, paths, message) => {
    await expect(start({ play: { paths: paths(), speed: 1 } })).rejects.toMatchObject({
      exit: "usage",
      message: expect.stringMatching(message),
    });
  });
});
