import { describe, expect, it, vi } from "vitest";
import { SignalReceived } from "../../../../src/context.ts";
import { heldClock } from "../../../held-clock.ts";
import { patienceMs } from "../../../patience.ts";
import { chatPath, createWorld, upload } from "../support.ts";
import { startTalk } from "./talking.ts";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { openKeyboard } from "../../../../src/commands/chat/conversation/conversation.ts";
import type { Input } from "../../../../src/output/terminal/editor.ts";
import { createTestContext } from "../../../support.ts";
import {
  type Platform,
  clipboardSequence,
  copyText,
  createPlatform,
  openAddress,
  webAddress,
} from "../../../../src/commands/chat/conversation/platform.ts";

describe("a conversation", () => {
  it.each(["standard", "onyx"] as const)(
    "asks in one session and ends with 0 (%s)",
    async (dialect) => {
      const world = await createWorld({ dialect });
      const talk = await startTalk(world);
      expect(await talk.enter("first?")).toContain("Extractive answer");
      expect(await talk.enter("second?")).toContain("Extractive answer");
      const [first, second] = world.sandbox.ledger.chats;
      expect(first).not.toHaveProperty("chat_session_id");
      expect(second).toMatchObject({ message: "second?", chat_session_id: expect.any(String) });
      expect(second).not.toHaveProperty("parent_message_id");
      talk.press("\u0004");
      expect(await talk.done).toBe(0);
      expect(talk.news()).toMatch(/session [0-9a-f-]{36} · continue with/);
      expect(talk.modes).toEqual(["\u001b[?2004h", "\u001b[?2004l"]);
    },
  );

  it("tells a failure and goes on", async () => {
    const world = await createWorld({
      faults: { rules: [{ when: { path: "/api/chat", nth: 1 }, do: { status: 403 } }] },
    });
    const talk = await startTalk(world);
    expect(await talk.enter("one")).toMatch(/error: .*403/);
    expect(await talk.enter("/retry")).toContain("asking again");
    expect(world.sandbox.ledger.chats).toHaveLength(1);
    await talk.enter("/exit");
    expect(await talk.done).toBe(0);
  });

  it("stops an answer on Ctrl-C, keeps the text and goes on", async () => {
    // After some words the answer stands still: nothing but the key ends it.
    const clock = heldClock(5);
    const world = await createWorld({ dialect: "onyx", tokenDelayMs: 1, clock });
    const talk = await startTalk(world);
    talk.press("hi\r");
    await talk.until("Extractive");
    talk.press("\u0003");
    await talk.until(/stopped; the part of the answer that arrived is kept[^]*> \u001b\[3G$/);
    const told = world.sandbox.ledger.requests.filter(({ path }) =>
      path.includes("stop-chat-session"),
    );
    expect(told).toHaveLength(1);
    clock.release();
    expect(await talk.enter("again")).toContain("Extractive answer");
  });

  it("says after Ctrl-C that no text of the answer arrived", async () => {
    const world = await createWorld({
      dialect: "onyx",
      faults: { rules: [{ when: { path: chatPath }, do: "hang" }] },
    });
    const talk = await startTalk(world);
    talk.press("hi\r");
    await vi.waitFor(() => expect(world.sandbox.ledger.requestCount).toBe(1), {
      timeout: patienceMs,
    });
    talk.press("\u0003");
    await talk.until(/stopped before the answer began[^]*> \u001b\[3G$/);
  });

  it("says after Ctrl-C where the service cannot be told to stop", async () => {
    const world = await createWorld({ tokenDelayMs: 1, clock: heldClock(5) });
    const talk = await startTalk(world);
    talk.press("hi\r");
    await talk.until("Extractive");
    talk.press("\u0003");
    await talk.until(/stopped; .* is kept \(this service has no stop\s+request and may continue/);
  });

  it("ends by a signal with its code and the terminal restored", async () => {
    const world = await createWorld();
    const talk = await startTalk(world);
    talk.abort(new SignalReceived("SIGTERM", "terminated"));
    expect(await talk.done).toBe(143);
    expect(talk.modes.at(-1)).toBe("\u001b[?2004l");
  });

  it("ends when the terminal goes away", async () => {
    const world = await createWorld();
    const talk = await startTalk(world);
    talk.hangUp();
    expect(await talk.done).toBe(0);
    expect(talk.modes).toHaveLength(2);
  });

  it("leaves after two Ctrl-C on an empty line, and clears one that holds text", async () => {
    const world = await createWorld();
    const talk = await startTalk(world);
    talk.press("some text\u0003");
    await talk.until("some text\u001b[1G\u001b[0J> ");
    talk.press("\u0003");
    await talk.until("press Ctrl-C again or Ctrl-D to leave");
    talk.press("\u0003");
    expect(await talk.done).toBe(0);
    expect(world.sandbox.ledger.chats).toHaveLength(0);
  });

  it("lists and opens sources without a browser", async () => {
    const world = await createWorld();
    await upload(world, "leave.md", "Leave", "Ask your manager for leave two weeks ahead.");
    const talk = await startTalk(world);
    await talk.enter("How do I ask for leave?");
    expect(await talk.enter("/sources")).toContain("[1] Leave");
    expect(await talk.enter("/sources 1")).toContain("error: /sources takes no text after it");
    expect(await talk.enter("/new And in summer?")).toContain("/new takes no text after it");
    expect(await talk.enter("/exit And in May?")).toContain("/exit takes no text after it");
    expect(await talk.enter("/quit And in May?")).toContain("/exit takes no text after it");
    expect(await talk.enter("/open 1")).toContain("the link is https://docs.example.com/leave.md");
    expect(await talk.enter("/open 7")).toMatch(/error: the last answer has no source 7/);
    expect(await talk.enter("/open")).toContain("/open needs the number of a source");
    expect(await talk.enter("/copy")).toContain("\u001b]52;c;");
  });
});

const evil = "\u001b]0;PWN\u0007\u001b[2J\u009b31m\u202eevil\r\u001b]52;c;AAAA\u0007";
const id = "11111111-2222-4333-8444-555555555555";

const packet = (obj: object) => ({ placement: { turn_index: 0, tab_index: 0 }, obj });
const document = {
  document_id: evil,
  semantic_identifier: evil,
  link: `https://example.com/${evil}`,
  blurb: evil,
  source_type: evil,
};
const lines = [
  { chat_session_id: id },
  { user_message_id: 1, reserved_assistant_message_id: 2 },
  packet({ type: "message_start", final_documents: [document] }),
  packet({ type: "citation_info", citation_number: 1, document_id: evil }),
  packet({ type: "message_delta", content: `${evil} [[1]](https://example.com/${evil})` }),
  packet({ type: "stop" }),
];

const session = {
  chat_session_id: id,
  description: evil,
  persona_id: 0,
  messages: [
    {
      message_id: 1,
      parent_message: null,
      latest_child_message: 2,
      message: "",
      message_type: "system",
    },
    {
      message_id: 2,
      parent_message: 1,
      latest_child_message: 3,
      message: evil,
      message_type: "user",
    },
    {
      message_id: 3,
      parent_message: 2,
      latest_child_message: null,
      message: evil,
      message_type: "assistant",
      context_docs: [document],
      citations: { 1: evil },
    },
  ],
};

function answering(path: string, body: unknown) {
  return { when: { path }, do: { status: 200, body } };
}

const rules = [
  answering("/api/persona", [{ id: 1, name: evil, description: evil }]),
  answering("/api/tool", [{ id: 1, name: evil, display_name: evil, description: evil }]),
  answering("/api/chat/get-user-chat-sessions", {
    sessions: [{ id, name: evil, time_updated: evil }],
    has_more: false,
  }),
  answering("/api/chat/get-chat-session", session),
  {
    when: { path: chatPath },
    do: {
      status: 200,
      headers: { "content-type": "text/event-stream" },
      body: lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
    },
  },
];

/** What our own sequences leave: the cursor's ways, erasing, synchronised output, and the clipboard of /copy. */
function withoutOwn(screen: string): string {
  return screen
    .replace(/\u001b\[(?:\?2026[hl]|\d*[A-DGKJ]|\d*m)/g, "")
    .replace(/\u001b\]52;c;(?!AAAA)[A-Za-z0-9+/=]+\u0007/g, "")
    .replace(/\r(?=\n|$|[^\n])/g, "");
}

describe("hostile text", () => {
  it("stays inert in everything that the conversation shows", async () => {
    const world = await createWorld({ dialect: "onyx", faults: { rules } });
    writeFileSync(join(world.home, "a.md"), "x");
    const talk = await startTalk(world, [], { isTimeless: true });
    for (const line of [
      "hi",
      "/sources",
      "/open 1",
      "/open x",
      "/copy",
      "/copy 1",
      "/agent",
      "/tools",
      "/sessions",
      `/session ${id}`,
      "/session",
      "/retry",
      "/model",
      "/save all all.md",
    ]) {
      await talk.enter(line);
    }
    talk.press("/agent \t\t/tools \t\t");
    talk.press(`\u001b[200~${evil}\u001b[201~`);
    await talk.until("evil");
    const screen = talk.screen();
    expect(screen).toContain("^[]0;PWN^G");
    expect(withoutOwn(screen)).not.toMatch(
      /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202e]/,
    );
    // Only /copy may speak of the clipboard, and what it hands over is inert as well.
    for (const [, text] of screen.matchAll(/\u001b\]52;c;([^\u0007]*)\u0007/g)) {
      expect(Buffer.from(text!, "base64").toString()).not.toMatch(
        /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/,
      );
    }
  });

  it("is inert in the file of --save, too", async () => {
    const world = await createWorld({ dialect: "onyx", faults: { rules } });
    expect((await world.run(["--save", "a.md", "hi"])).code).toBe(0);
    const saved = readFileSync(join(world.home, "a.md"), "utf8");
    expect(saved).toContain("evil");
    expect(saved).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/);
  });
});

it("hears the keys after a question has paused the input", async () => {
  const context = createTestContext({ isTTY: true });
  const stream = new PassThrough();
  stream.pause();
  const heard = new Promise<Input>((onInput) => {
    const listener = { onInput, onResize: () => {}, onEnd: () => {} };
    openKeyboard({ ...context, stdin: { ...context.stdin, stream } }, listener);
  });
  stream.write("a");
  expect(await heard).toMatchObject({ text: "a" });
  stream.destroy();
});

/** A machine that has these programs; `calls` says what was run. */
function machine(name: NodeJS.Platform, env: Record<string, string>, programs: string[] = []) {
  const calls: string[][] = [];
  const platform: Platform = {
    name,
    env,
    run(program, args, input) {
      calls.push([program, ...args, ...(input === undefined ? [] : [`<${input}`])]);
      return Promise.resolve(programs.includes(program));
    },
  };
  return { platform, calls };
}

describe("a link", () => {
  it.each([
    ["https://docs.example.com/a b?c=$(id)", "https://docs.example.com/a%20b?c=$(id)"],
    ["http://x", "http://x/"],
    ["file:///etc/passwd", undefined],
    ["javascript:alert(1)", undefined],
    ["-version", undefined],
    ["/relative", undefined],
    ["", undefined],
  ])("%j may be opened as %j", (link, address) => {
    expect(webAddress(link)).toBe(address);
  });

  it.each<[NodeJS.Platform, Record<string, string>, string[]]>([
    ["darwin", {}, ["open", "https://x/"]],
    ["win32", {}, ["rundll32", "url.dll,FileProtocolHandler", "https://x/"]],
    ["linux", { DISPLAY: ":0" }, ["xdg-open", "https://x/"]],
    ["linux", { WAYLAND_DISPLAY: "w" }, ["xdg-open", "https://x/"]],
  ])("is opened on %s with %j", async (name, env, call) => {
    const { platform, calls } = machine(name, env, [call[0]!]);
    expect(await openAddress(platform, "https://x/")).toBe(true);
    expect(calls).toEqual([call]);
  });

  it.each<[NodeJS.Platform, string, string[], string[][]]>([
    ["linux", "firefox", ["firefox"], [["firefox", "https://x/"]]],
    ["linux", "w3m -T %s -x", ["w3m"], [["w3m", "-T", "https://x/", "-x"]]],
    [
      "linux",
      "none: lynx :",
      ["lynx"],
      [
        ["none", "https://x/"],
        ["lynx", "https://x/"],
      ],
    ],
    [
      "darwin",
      "none",
      ["open"],
      [
        ["none", "https://x/"],
        ["open", "https://x/"],
      ],
    ],
    ["win32", "C:\\b.exe", ["C:\\b.exe"], [["C:\\b.exe", "https://x/"]]],
    ["linux", "$(id)", ["$(id)"], [["$(id)", "https://x/"]]],
  ])("is opened on %s by BROWSER=%j", async (name, browser, programs, tried) => {
    const { platform, calls } = machine(name, { BROWSER: browser }, programs);
    expect(await openAddress(platform, "https://x/")).toBe(true);
    expect(calls).toEqual(tried);
  });

  it("is not opened where there is no screen, or no opener", async () => {
    expect(await openAddress(machine("linux", {}).platform, "https://x/")).toBe(false);
    expect(await openAddress(machine("linux", { DISPLAY: ":0" }).platform, "https://x/")).toBe(
      false,
    );
  });
});

describe("the clipboard", () => {
  it.each<[NodeJS.Platform, Record<string, string>, string[], string | undefined, number]>([
    ["darwin", {}, ["pbcopy"], "pbcopy", 1],
    ["win32", {}, ["clip"], "clip", 1],
    ["linux", { WAYLAND_DISPLAY: "w" }, ["wl-copy"], "wl-copy", 1],
    ["linux", { DISPLAY: ":0" }, ["xsel"], "xsel", 2],
    ["linux", { DISPLAY: ":0" }, [], undefined, 2],
    ["linux", { DISPLAY: ":0", SSH_CONNECTION: "x" }, ["xclip"], undefined, 0],
    ["linux", {}, [], undefined, 0],
  ])("of %s with %j and %j is %s", async (name, env, programs, found, tried) => {
    const { platform, calls } = machine(name, env, programs);
    expect(await copyText(platform, "text")).toBe(found);
    expect(calls).toHaveLength(tried);
  });

  it("of the terminal takes texts of bounded length", () => {
    expect(clipboardSequence("é\n")).toBe("\u001b]52;c;w6kK\u0007");
    expect(clipboardSequence("x".repeat(74_001))).toBeUndefined();
  });
});

describe("a program", () => {
  it("gets its input, and its failure is known", async () => {
    const platform = createPlatform({ PATH: process.env["PATH"] });
    expect(await platform.run("grep", ["-q", "^two$"], "one\ntwo\n")).toBe(true);
    expect(await platform.run("grep", ["-q", "^three$"], "one\ntwo\n")).toBe(false);
    expect(await platform.run("knowctl-no-such-program", [], "x")).toBe(false);
    expect(await platform.run("knowctl-no-such-program", [])).toBe(false);
  });

  it("sees no shell", async () => {
    const platform = createPlatform({ PATH: process.env["PATH"] });
    expect(await platform.run("grep", ["-qxF", "--", "$(id)"], "$(id)\n")).toBe(true);
  });
});
