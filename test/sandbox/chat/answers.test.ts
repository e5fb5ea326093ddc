import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { main } from "../../main.ts";
import { SignalReceived } from "../../../src/context.ts";
import { cleanEnvironment, createTestContext, temporaryFolder } from "../../support.ts";
import { answerOf, startLlmServer } from "../model/llm-server.ts";

const key = "CANARY-model-key";
const wire = fileURLToPath(new URL("../../fixtures/wire/answer.ndjson", import.meta.url));

/** Runs `knowctl sandbox …` until it has said its address; `stop` ends it with its exit code. */
async function run(args: string[], env: Record<string, string> = {}) {
  const home = temporaryFolder();
  copyFileSync(wire, join(home, "answer.ndjson"));
  const context = createTestContext({ cwd: home, env: cleanEnvironment(home, env) });
  let code: number | undefined;
  const done = main(["sandbox", "--port", "0", ...args], context).then((given) => (code = given));
  while (code === undefined && !context.stderrText().includes("connectors list --base-url http")) {
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
