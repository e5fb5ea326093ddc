import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createSessionsWorld } from "../../sessions/support.ts";
import { chatPath, createWorld, rawTurn, replay } from "../support.ts";

const unknown = "00000000-0000-4000-8000-000000000009";
const sessions = "knowctl sessions list";
const agents = "knowctl agents list";
const projects = "knowctl api user/projects";
const sets = "knowctl api manage/document-set";
const tools = "knowctl tools list";

describe("what the service does not know is 9, with the command that lists it", () => {
  it.each([
    [["--session", unknown], sessions],
    [["--agent", "5"], agents],
    [["--project", "5"], projects],
    [["--document-set", "Gone"], sets],
    [["--force-tool", "99"], tools],
    [["--tool", "2", "--force-tool", "1"], tools],
    [["--no-stream", "--agent", "5"], agents],
    [["--no-stream", "--project", "5"], projects],
    [["--no-stream", "--force-tool", "99"], tools],
  ])("of the sandbox: chat %j", async (flags, command) => {
    const world = await createWorld({ dialect: "onyx" });
    const { code, stdout, stderr } = await world.run([...flags, "hi"]);
    expect({ code, stdout }).toEqual({ code: 9, stdout: "" });
    expect(stderr).toContain(command);
    expect(stderr).not.toMatch(/permission|--dialect|base URL/);
  });

  it.each([
    [["delete", unknown, "--yes"], sessions],
    [["rename", unknown, "x"], sessions],
    [["show", unknown], sessions],
    [["export", unknown], sessions],
    [["recover", unknown], sessions],
  ])("of the sandbox: sessions %j", async (args, command) => {
    const world = await createSessionsWorld();
    const { code, stdout, stderr } = await world.command(["sessions", ...args]);
    expect({ code, stdout }).toEqual({ code: 9, stdout: "" });
    expect(stderr).toContain(command);
  });

  it.each([
    ["VALIDATION_ERROR", "Invalid Chat Session ID provided", sessions],
    ["VALIDATION_ERROR", "User does not have access to persona", agents],
    ["VALIDATION_ERROR", "User does not have access to project", projects],
    ["INSUFFICIENT_PERMISSIONS", "User does not have access to document sets: ['x']", sets],
    ["UNKNOWN_ERROR", "Forced tool 9 not found in tools", tools],
  ])("of a literal stream: %s %s", async (error_code, error, command) => {
    const line = { error, error_code, is_retryable: true, details: null, stack_trace: null };
    const world = await replay([...rawTurn.slice(0, 2), line]);
    const { code, stderr } = await world.run(["hi"]);
    expect([code, stderr]).toEqual([9, expect.stringContaining(command)]);
  });

  it.each<[string, string, number, object, string]>([
    [
      "DELETE",
      "delete-chat-session",
      400,
      { detail: "Invalid Chat Session ID provided" },
      sessions,
    ],
    ["PUT", "rename-chat-session", 400, { message: "Invalid Chat Session ID provided" }, sessions],
    [
      "POST",
      "create-chat-session",
      403,
      { detail: "User does not have access to project" },
      projects,
    ],
  ])("of a literal refusal: %s %s %i", async (method, name, status, body, command) => {
    const rules = [{ when: { path: `/api/chat/${name}` }, do: { status, body } }];
    const world = await createSessionsWorld({ faults: { rules } });
    const calls: Record<string, string[]> = {
      DELETE: ["sessions", "delete", unknown, "--yes"],
      PUT: ["sessions", "rename", unknown, "x"],
      POST: ["chat", "--no-stream", "--project", "5", "hi"],
    };
    const { code, stderr } = await world.command(calls[method]!);
    expect([code, stderr]).toEqual([9, expect.stringContaining(command)]);
  });
});

describe("what the caller gave is 2", () => {
  it.each([
    [400, { error_code: "INVALID_INPUT", detail: "no" }],
    [400, { message: "no" }],
    [422, { status_code: 422, message: "1 validation error: {'type': 'missing'}", data: null }],
  ])("a question that is refused with %i %j", async (status, body) => {
    const rules = [{ when: { path: chatPath }, do: { status, body } }];
    const world = await createWorld({ faults: { rules } });
    expect((await world.run(["hi"])).code).toBe(2);
  });

  it("but the web page of a proxy is no judgement of the question", async () => {
    const rules = [
      {
        when: { path: chatPath },
        do: {
          status: 400,
          headers: { "content-type": "text/html" },
          body: "<html><title>400 Bad Request</title></html>",
        },
      },
    ];
    const world = await createWorld({ faults: { rules } });
    expect((await world.run(["hi"])).code).toBe(8);
  });
});

it("an empty answer of the model is 11, and says that asking again may help", async () => {
  const line = { error: "Model returned nothing", error_code: "EMPTY_LLM_RESPONSE" };
  const world = await replay([...rawTurn.slice(0, 2), line]);
  const { code, stderr } = await world.run(["hi"]);
  expect([code, stderr]).toEqual([11, expect.stringContaining("asking again may help")]);
});

it("a whole reply of deep research names its tools by class: no warning", async () => {
  const call = { tool_name: "research_agent", tool_arguments: {}, tool_result: "" };
  const reply = { answer: "Long.", tool_calls: [call], message_id: 3, error_msg: null };
  const rules = [{ when: { path: chatPath }, do: { status: 200, body: reply } }];
  const world = await createWorld({ faults: { rules } });
  const { code, stderr } = await world.run(["--deep-research", "--no-stream", "hi"]);
  expect(code).toBe(0);
  expect(stderr).not.toContain("no deep research ran");
});

it("a whole reply that is refused leaves no session for `last`", async () => {
  const world = await createSessionsWorld();
  const first = await world.ask("hi");
  const { code } = await world.run(["--no-stream", "--document-set", "Gone", "hi"]);
  expect(code).toBe(2);
  const { stdout } = await world.command(["sessions", "show", "last", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({ sessionId: first });
});

it.runIf(process.platform !== "win32").each(["answer.md", "answer.md.partial"])(
  "--save follows no link at %s",
  async (name) => {
    const world = await createWorld();
    const target = join(world.home, "precious");
    writeFileSync(target, "mine");
    symlinkSync(target, join(world.home, name));
    const { code, stderr } = await world.run(["--save", "answer.md", "hi"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("is a symbolic link")]);
    expect(readFileSync(target, "utf8")).toBe("mine");
    expect(world.sandbox.ledger.chats).toEqual([]);
  },
);
