import type { Outcome } from "../../../src/output/chat/renderer.ts";
import { describe, expect, it } from "vitest";
import type { ChatEvent } from "../../../src/api/chat-schemas.ts";
import { searchTurn, sessionId, stop } from "./lines.ts";
import { answer, each, fine, play } from "./play.ts";

describe("machine formats", () => {
  it("json is one object with everything", async () => {
    const { stdout, stderr } = await play(each(searchTurn), { format: "json" });
    expect(stderr).toBe("");
    const result = JSON.parse(stdout) as Record<string, unknown>;
    expect(result).toMatchObject({
      version: 1,
      status: "ok",
      answer,
      citations: [
        {
          number: 1,
          documentId: "hr/leave",
          title: "Leave",
          link: "https://docs.example.com/leave",
        },
      ],
      sessionId,
      messageId: 13,
      userMessageId: 12,
      model: { requested: null, reported: null },
      timings: { firstTextMs: 5, totalMs: 9 },
      error: null,
    });
    expect(result["documents"]).toHaveLength(2);
    expect(result["toolCalls"]).toMatchObject([{ tool: "search" }]);
  });

  it("ndjson has a version in each line and ends with the result", async () => {
    const outcome: Outcome = { ...fine, status: "incomplete" };
    const { stdout, writes } = await play(each(searchTurn.slice(0, -1)), {
      format: "ndjson",
      outcome,
    });
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.every((line) => line["version"] === 1)).toBe(true);
    expect(lines.map((line) => line["type"])).toEqual([
      "session",
      "message",
      "reasoning",
      "reasoning",
      "start",
      "text",
      "interim",
      "tool",
      "tool",
      "tool",
      "end",
      "start",
      "text",
      "citation",
      "text",
      "result",
    ]);
    expect(lines.at(-1)).toMatchObject({ type: "result", status: "incomplete", answer });
    // A write per chunk: one packet here both ends interim text and starts a tool.
    expect(writes.length).toBe(lines.length - 1);
  });

  it("packets are the service's own lines and nothing else", async () => {
    const odd: ChatEvent = { raw: '{"new":\u001b "\u009b"}', kind: "unknown" };
    const { stdout, stderr } = await play(
      [[...searchTurn.slice(0, 2), odd], searchTurn.slice(-1)],
      { format: "packets" },
    );
    const { raw } = stop;
    expect(stdout).toBe(
      `${searchTurn[0]?.raw}\n${searchTurn[1]?.raw}\n{"new":\\u001b "\\u009b"}\n${raw}\n`,
    );
    expect(stderr).toBe("");
  });
});
