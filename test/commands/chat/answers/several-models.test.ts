import { describe, expect, it } from "vitest";
import { sessionId } from "../../../output/chat/lines.ts";
import { replay, type Result } from "../support.ts";

const session = { chat_session_id: sessionId };
const models = {
  user_message_id: 12,
  responses: [
    { message_id: 13, model_name: "m-1" },
    { message_id: 14, model_name: "m-2" },
  ],
};

const line = (model: number | null, obj: object) => ({
  placement: { turn_index: 0, model_index: model },
  obj,
});
const start = (model: number) => line(model, { type: "message_start", final_documents: null });
const text = (model: number, content: string) => line(model, { type: "message_delta", content });
const stop = (model: number | null, reason: string | null = null) =>
  line(model, { type: "stop", stop_reason: reason });
const failure = (model: number) => ({ error: "m gave up", details: { model_index: model } });

const begun = [session, models, start(0), start(1), text(0, "One"), text(1, "Two ")];
const both = "## m-1\n\nOne\n\n## m-2\n\nTwo begins and ends\n";

async function ask(lines: readonly (string | object)[], ...flags: string[]): Promise<Result> {
  return (await replay(lines)).run([...flags, "hi"]);
}

describe("the end of one of several models", () => {
  const rest = [text(1, "begins "), text(1, "and ends")];

  it.each([
    ["its own, told twice", [stop(0), stop(0), ...rest, stop(1)]],
    ["that of a model nobody announced", [stop(0), stop(7), ...rest, stop(1)]],
    ["that of a negative number", [stop(0), stop(-1), ...rest, stop(1)]],
  ])("is no end of the others: %s", async (_name, end) => {
    for (const flags of [[], ["--live"]]) {
      expect(await ask([...begun, ...end], ...flags)).toMatchObject({ code: 0, stdout: both });
    }
  });

  it("that failed and then stops is no end of the others", async () => {
    const { code, stdout, stderr } = await ask([...begun, failure(0), stop(0), ...rest, stop(1)]);
    expect({ code, stdout }).toEqual({ code: 8, stdout: both });
    expect(stderr).toContain("m-1 broke off its answer: m gave up");
  });

  it.each([
    ["has sent its text twice ended", [stop(0), stop(0)]],
    ["goes on when the body ends", [stop(1), stop(1)]],
  ])("leaves the answer incomplete where another one %s", async (_name, end) => {
    expect((await ask([...begun, ...end])).code).toBe(11);
    const { stdout } = await ask([...begun, ...end], "--json");
    expect(JSON.parse(stdout)).toMatchObject({ status: "incomplete" });
  });

  it("that was cancelled makes the answer incomplete", async () => {
    const { code, stderr } = await ask([...begun, stop(0), stop(1, "user_cancelled")]);
    expect(code).toBe(11);
    expect(stderr).toContain("was stopped");
  });
});

describe("a stop without a model", () => {
  it.each([
    ["is the end of all", stop(null)],
    ["and without a placement is the end of all", { obj: { type: "stop", stop_reason: null } }],
  ])("%s", async (_name, end) => {
    const lines = [...begun, text(1, "begins and ends"), end, text(1, ", and more")];
    expect(await ask(lines)).toMatchObject({ code: 0, stdout: both });
    const { stdout } = await ask(lines, "--json");
    expect(JSON.parse(stdout)).toMatchObject({ status: "ok", answers: [{}, {}] });
  });
});

describe("a model that nobody announced", () => {
  const ids = { user_message_id: 12, reserved_assistant_message_id: 13 };
  const unread = { user_message_id: 12, responses: [{ message_id: "13" }, { message_id: "14" }] };
  const lines = [start(0), start(1), text(0, "One"), text(1, "Two"), stop(0), stop(1)];

  it.each([
    ["without a line of models", [session, ids, ...lines]],
    ["behind a line of models that cannot be read", [session, unread, ...lines]],
    ["beside two others", [...begun, text(2, "Three"), stop(0), stop(1)]],
    ["whose failure is told", [...begun, failure(2), stop(0), stop(1)]],
  ])("makes the answer damaged: %s", async (_name, all) => {
    const { code, stdout, stderr } = await ask(all);
    expect(code).toBe(11);
    expect(stdout).toContain("One");
    expect(stderr).toContain("the answer is damaged");
    const json = await ask(all, "--json");
    expect(JSON.parse(json.stdout)).toMatchObject({ status: "incomplete" });
  });

  it("is told also where its text comes after the end of the others", async () => {
    const late = [session, unread, start(0), text(0, "One"), stop(0), text(1, "Two"), stop(1)];
    const { code, stdout } = await ask(late);
    expect({ code, stdout }).toEqual({ code: 11, stdout: "One\n" });
  });
});
