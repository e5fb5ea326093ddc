import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { SignalReceived } from "../../../src/context.ts";
import { completionsUrl } from "../../../src/sandbox/chat/model/client.ts";
import { main } from "../../main.ts";
import { cleanEnvironment, createTestContext, temporaryFolder } from "../../support.ts";
import { answerOf, begin, startLlmServer } from "../model/llm-server.ts";
import { type Line, linesOf, start } from "../start.ts";

describe("quoted answers", () => {
  const key = "CANARY-model-key";
  const wire = fileURLToPath(new URL("../../fixtures/wire/answer.ndjson", import.meta.url));

  /** Runs `knowctl sandbox …` until it has said its address; `stop` ends it with its exit code. */
  async function run(args: string[], env: Record<string, string> = {}) {
    const home = temporaryFolder();
    copyFileSync(wire, join(home, "answer.ndjson"));
    const context = createTestContext({ cwd: home, env: cleanEnvironment(home, env) });
    let code: number | undefined;
    const done = main(["sandbox", "--port", "0", ...args], context).then((given) => (code = given));
    while (
      code === undefined &&
      !context.stderrText().includes("connectors list --base-url http")
    ) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    const url = /http:\/\/127\.0\.0\.1:\d+(?=\n)/.exec(context.stdoutText())?.[0] ?? "";
    const ask = async (message: string) => {
      const response = await fetch(`${url}/api/chat/send-chat-message`, {
        method: "POST",
        headers: { authorization: "Bearer sandbox", "content-type": "application/json" },
        body: JSON.stringify({ message }),
      });
      return await response.text();
    };
    const stop = async (): Promise<number | undefined> => {
      context.abort(new SignalReceived("SIGINT", "interrupted"));
      return await done;
    };
    return { context, ask, stop, code: () => code };
  }

  describe("knowctl sandbox with a model", () => {
    it("answers through it, says so, and never says its key", async () => {
      const llm = await startLlmServer((response) => response.end(answerOf("From a model.")));
      const args = [
        "--llm-url",
        `${llm.url}/v1?tenant=secret`,
        "--llm-model",
        "tiny",
        "--llm-system",
        "Be brief.",
        "--verbose",
      ];
      const { context, ask, stop } = await run(args, { KNOWCTL_SANDBOX_LLM_KEY: key });
      expect(await ask("x")).toContain("From a model.");
      expect(llm.requests[0]).toMatchObject({
        path: "/v1/chat/completions?tenant=secret",
        headers: { authorization: `Bearer ${key}` },
        body: { model: "tiny", messages: [{ role: "system", content: "Be brief." }, {}] },
      });
      expect(await stop()).toBe(130);
      const said = context.stderrText() + context.stdoutText();
      expect(said).toContain(`tiny at ${llm.url}/v1/chat/completions (with your key)`);
      expect(said).not.toMatch(/CANARY|secret|warning/);
    });

    it("says when it has no key", async () => {
      const { context, stop } = await run(
        ["--llm-url", "http://192.0.2.1:8000", "--llm-model", "m"],
        {},
      );
      expect(context.stderrText()).toContain("no key, KNOWCTL_SANDBOX_LLM_KEY is not set");
      expect(context.stderrText()).toContain(
        "warning: questions and passages are sent unencrypted to http://192.0.2.1:8000",
      );
      await stop();
    });

    it.each([
      [["--llm-url", "http://127.0.0.1:1"], "--llm-url needs the name of a model"],
      [["--llm-model", "m"], "--llm-model needs a model server"],
      [["--llm-system", "x"], "--llm-system needs a model server"],
      [["--llm-url", "", "--llm-model", "m"], "Expected a value"],
      [["--llm-url", "ollama", "--llm-model", "m"], "is not an http or https address"],
      [
        ["--llm-url", "http://u:CANARY-p@h", "--llm-model", "m"],
        "put the key in KNOWCTL_SANDBOX_LLM_KEY",
      ],
      [["--llm-url", "http://h", "--llm-model", "m", "--play", "answer.ndjson"], "use one of them"],
      [
        ["--llm-url", "http://llm.example.test:81/v1", "--llm-model", "m"],
        "the key in KNOWCTL_SANDBOX_LLM_KEY is not sent to llm.example.test:81 over plain http",
      ],
      [["--play-speed", "2"], "--play-speed needs a recording"],
      [["--play", "none.ndjson"], "none.ndjson: no such file"],
      [["--play", "answer.ndjson", "--play-speed", "-1"], "Expected a number from 0"],
    ])("refuses %j", async (args, words) => {
      const { context, code } = await run(args, { KNOWCTL_SANDBOX_LLM_KEY: key });
      expect(code()).toBe(2);
      expect(context.stderrText()).toContain(words);
      expect(context.stderrText()).not.toContain("CANARY");
    });
  });

  it("knowctl sandbox --play answers with what was recorded", async () => {
    const { context, ask, stop } = await run(["--play", "answer.ndjson"]);
    expect(await ask("x")).toMatch(/"type": ?"stop"/);
    expect(context.stderrText()).toContain('recordings, in turn or by "play:NAME" in the question');
    await stop();
  });
});

describe("several models", () => {
  const observed = (name: string): Line[] =>
    linesOf(readFileSync(new URL(`../../fixtures/wire/${name}`, import.meta.url), "utf8"));
  const llm_overrides = ["a", "b"].map((model_version) => ({
    model_provider: "llm",
    model_version,
  }));
  const members = (value: object | undefined): string[] => Object.keys(value ?? {}).toSorted();
  const ofModel = (lines: Line[], index: number): string[] =>
    lines
      .filter(
        ({ placement }) =>
          (placement as { model_index?: number } | undefined)?.model_index === index,
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
});
