import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseCommand } from "../../../../src/commands/chat/conversation/commands.ts";
import { createWorld, upload, type World } from "../support.ts";
import { startTalk } from "./talking.ts";

const lastSent = (world: World) => world.sandbox.ledger.chats.at(-1) as Record<string, unknown>;

describe("a line", () => {
  it.each([
    ["/help", { name: "help", argument: "" }],
    ["/Open  3 ", { name: "open", argument: "3" }],
    ["/save all my talk.md", { name: "save", argument: "all my talk.md" }],
    [" /help", undefined],
    ["/etc/hosts, what is it?", undefined],
    ["/help\nme", undefined],
    ["what is /help?", undefined],
    ["/ 3", undefined],
  ])("%j is the command %j", (text, command) => {
    expect(parseCommand(text)).toEqual(command);
  });
});

describe("slash commands", () => {
  it("are told from messages", async () => {
    const world = await createWorld();
    const talk = await startTalk(world);
    expect(await talk.enter("/sesion")).toMatch(/no command \/sesion[^]*did you mean \/session\?/);
    await talk.enter(" /help");
    expect(lastSent(world)).toMatchObject({ message: "/help" });
    await talk.enter("/etc/hosts?");
    expect(lastSent(world)).toMatchObject({ message: "/etc/hosts?" });
    expect(await talk.enter("\u001b[200~/exit\u001b[201~")).toContain("never run as a command");
    await talk.enter("\u001b[200~/exit\n/new\u001b[201~");
    expect(lastSent(world)).toMatchObject({ message: "/exit\n/new" });
  });

  it("list themselves, in 40 columns too", async () => {
    const world = await createWorld();
    const talk = await startTalk(world, [], { columns: 40 });
    const help = await talk.enter("/help");
    for (const name of "new agent session sessions file model tools filter regenerate sources open copy save retry exit".split(
      " ",
    )) {
      expect(help).toContain(`/${name}`);
    }
    expect(help).toMatch(/\n {4}show the session, or continue\r?\n {4}another\r?\n/);
  });

  it("list sources with their links on lines of their own in 40 columns", async () => {
    const world = await createWorld();
    await upload(world, "leave.md", "Leave", "Ask your manager for leave two weeks ahead.");
    const talk = await startTalk(world, [], { columns: 40 });
    await talk.enter("How do I ask for leave?");
    expect(await talk.enter("/sources")).toMatch(/\[1\] Leave\r?\n {6}https:/);
  });

  it("list themselves in two columns where there is room", async () => {
    const world = await createWorld();
    const talk = await startTalk(world);
    const help = await talk.enter("/help");
    expect(help).toMatch(/\n\/new {24}begin a new session\r?\n/);
    expect(help).toMatch(/\n\/model \[PROVIDER\/VERSION\|default\]\r?\n {28}use another/);
    // All of them and the prompt fit the 24 lines of a terminal: a new command needs the line of another.
    const list = help.slice(help.indexOf("/help  "), help.indexOf("clears the line, leaves"));
    expect(list.split("\n").length).toBeLessThanOrEqual(23);
    for (const line of help.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  });

  it("set what is asked along, and show it above the input", async () => {
    const world = await createWorld({ dialect: "onyx" });
    const talk = await startTalk(world);
    await talk.enter("/filter source file");
    await talk.enter("/filter tag team=a");
    await talk.enter("/filter tag team=b");
    await talk.enter("/tools internal search".replace("internal search", "1"));
    const shown = await talk.enter("/model openai/x/y");
    expect(shown).toContain("model openai/x/y · tools 1 · source file · tag team=a · tag team=b");
    await talk.enter("hi");
    expect(lastSent(world)).toMatchObject({
      allowed_tool_ids: [1],
      llm_override: { model_provider: "openai", model_version: "x/y" },
      internal_search_filters: {
        source_type: ["file"],
        tags: [
          { tag_key: "team", tag_value: "a" },
          { tag_key: "team", tag_value: "b" },
        ],
      },
    });
    await talk.enter("/filter clear");
    await talk.enter("/tools all");
    await talk.enter("/tools force 2");
    await talk.enter("/model default");
    await talk.enter("hi");
    expect(Object.keys(lastSent(world)).toSorted()).toEqual([
      "chat_session_id",
      "forced_tool_id",
      "message",
      "stream",
    ]);
  });

  it("begin and change sessions, and show what was said", async () => {
    const world = await createWorld({ dialect: "onyx" });
    const talk = await startTalk(world);
    await talk.enter("the first question");
    const id = /[0-9a-f-]{36}/.exec(await talk.enter("/session"))?.[0] ?? "";
    await talk.enter("/new");
    await talk.enter("another");
    expect(lastSent(world)).not.toHaveProperty("chat_session_id");
    expect(await talk.enter("/sessions")).toMatch(/ {2}[0-9a-f]{8} {2}.*the first question/);
    expect(await talk.enter(`/session ${id.slice(0, 8)}`)).toMatch(
      /> the first question[^]*Extractive/,
    );
    await talk.enter("go on");
    expect(lastSent(world)).toMatchObject({ chat_session_id: id });
  });

  it("name the session that was only entered, which --continue would not take", async () => {
    const world = await createWorld({ dialect: "onyx" });
    const talk = await startTalk(world);
    await talk.enter("the first question");
    const id = /[0-9a-f-]{36}/.exec(await talk.enter("/session"))?.[0] ?? "";
    await talk.enter("/new");
    await talk.enter("another");
    await talk.enter(`/session ${id}`);
    talk.press("/exit\r");
    expect(await talk.done).toBe(0);
    expect(talk.news().replaceAll(/\s+/g, " ")).toContain(
      `continue with: \`knowctl chat --session ${id}\``,
    );
  });

  it("show the last exchange of a session that the flags name", async () => {
    const world = await createWorld({ dialect: "onyx" });
    await world.run(["asked before"]);
    const talk = await startTalk(world, ["--continue"]);
    expect(talk.screen()).toMatch(/> asked before[^]*Extractive/);
    await talk.enter("/regenerate");
    expect(lastSent(world)).toMatchObject({ message: "asked before", parent_message_id: null });
  });

  it("send files along once, and say what cannot be read", async () => {
    const world = await createWorld({ dialect: "onyx" });
    writeFileSync(join(world.home, "my notes.md"), "# Notes\nLeave is easy.\n");
    const talk = await startTalk(world);
    expect(await talk.enter("/file missing.md")).toMatch(
      /error: [^]*missing\.md:\s+no\s+such\s+file/,
    );
    expect(await talk.enter("/file my notes.md")).toContain(
      "attached to the next question: my notes.md",
    );
    await talk.enter("What is in it?");
    expect(lastSent(world)["file_descriptors"]).toHaveLength(1);
    await talk.enter("And now?");
    expect(lastSent(world)).not.toHaveProperty("file_descriptors");
  });

  it("save the answer and the conversation, never over a file", async () => {
    const world = await createWorld();
    await upload(world, "leave.md", "Leave", "Ask your manager for leave two weeks ahead.");
    const talk = await startTalk(world);
    expect(await talk.enter("/save x.md")).toContain("there is no answer yet");
    await talk.enter("How do I\u001b\rask for leave?");
    await talk.enter("/save a.md");
    expect(readFileSync(join(world.home, "a.md"), "utf8")).toMatch(
      /^Extractive[^]*\[\[1\]\]\(https:/,
    );
    await talk.enter("/save all talk.md");
    expect(readFileSync(join(world.home, "talk.md"), "utf8")).toMatch(
      /^# Conversation\n\nSession [0-9a-f-]{36}\n[^]*> How do I\n> ask for leave\?\n\nExtractive[^]*\[1\] Leave/,
    );
    expect(await talk.enter("/save a.md")).toContain("a.md exists already");
  });

  it("leave --save what it is for one question", async () => {
    const world = await createWorld();
    const talk = await startTalk(world, ["--save", "out.md"]);
    await talk.enter("hi");
    expect(readFileSync(join(world.home, "out.md"), "utf8")).toContain("Extractive answer");
  });

  it("keep what was entered for the next conversation", async () => {
    const world = await createWorld();
    const talk = await startTalk(world);
    await talk.enter("/model default");
    await talk.enter(" secret");
    await talk.enter("/exit");
    const next = await startTalk(world);
    next.press("\u001b[A");
    await next.until("> /model default");
  });
});
