import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { completionsUrl } from "../../../src/sandbox/chat/model/address.ts";
import { answerOf, begin, startLlmServer } from "../model/llm-server.ts";
import { type Line, linesOf, start } from "../start.ts";

const observed = (name: string): Line[] =>
  linesOf(readFileSync(new URL(`../../fixtures/wire/${name}`, import.meta.url), "utf8"));
const llm_overrides = ["a", "b"].map((model_version) => ({ model_provider: "llm", model_version }));
const members = (value: object | undefined): string[] => Object.keys(value ?? {}).toSorted();
const ofModel = (lines: Line[], index: number): string[] =>
  lines
    .filter(
      ({ placement }) => (placement as { model_index?: number } | undefined)?.model_index === index,
    )
    .map(({ obj }) => String(obj!["content"] ?? obj!.type));

/** A sandbox whose model server answers with the model's name, or refuses it. */
async function startTwo(refused?: string) {
  const llm = await startLlmServer((response, { body }) => {
    if (body.model === refused) return response.writeHead(429).end();
    return begin(response).end(answerOf(`I am `, body.model));
  });
  const model = { url: completionsUrl(llm.url), key: undefined, model: "tiny", idleMs: 60_000 };
  return await start({ dialect: "onyx", model });
}

describe("several models at once", () => {
  it("answer side by side, each to its own stop, and are stored as branches", async () => {
    const sandbox = await startTwo();
    const lines = await sandbox.ask("x", { llm_overrides });
    const [, ids] = observed("multi-model.ndjson");
    expect(members(lines[1])).toEqual(members(ids));
    const { responses } = lines[1] as unknown as { responses: { message_id: number }[] };
    expect(responses).toMatchObject([{ model_name: "a" }, { model_name: "b" }]);
    for (const [index, name] of ["a", "b"].entries()) {
      expect(ofModel(lines, index).slice(-4)).toEqual(["message_start", "I am ", name, "stop"]);
    }
    const path = `/api/chat/get-chat-session/${lines[0]!.chat_session_id}`;
    const { messages } = (await sandbox.get(path)).json() as {
      messages: {
        message_id: number;
        parent_message: number;
        message: string;
        model_display_name: string;
      }[];
    };
    expect(messages.slice(2)).toMatchObject([
      { message_id: responses[0]!.message_id, message: "I am a", model_display_name: "a" },
      { message_id: responses[1]!.message_id, message: "I am b", model_display_name: "b" },
    ]);
    expect(messages[2]!.parent_message).toBe(messages[3]!.parent_message);
  });

  it("fail alone", async () => {
    const sandbox = await startTwo("b");
    const lines = await sandbox.ask("x", { llm_overrides });
    const failure = lines.find((line) => line["error"] !== undefined);
    const [, , expected] = observed("multi-model-one-fails.ndjson");
    expect(members(failure)).toEqual(members(expected));
    expect(failure).toMatchObject({
      error_code: "RATE_LIMIT",
      details: { model: "b", model_index: 1 },
    });
    expect(ofModel(lines, 0).slice(-3)).toEqual(["I am ", "a", "stop"]);
    expect(ofModel(lines, 1)).not.toContain("stop");
  });

  it("need a stream, go with no Deep Research, and are one when there is one", async () => {
    const sandbox = await startTwo();
    const body = { message: "x", stream: false, llm_overrides };
    expect((await sandbox.send("POST", "/api/chat/send-chat-message", body)).status).toBe(400);
    const both = await sandbox.ask("x", { llm_overrides, deep_research: true });
    expect(both.at(-1)).toMatchObject({ error_code: "VALIDATION_ERROR" });
    // A single entry is not read: observed-service.md 1.1.
    const one = await sandbox.ask("x", { llm_overrides: llm_overrides.slice(0, 1) });
    expect(ofModel(one, 0)).toContain("tiny");
  });
});
