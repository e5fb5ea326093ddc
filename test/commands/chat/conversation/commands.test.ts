import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseCommand } from "../../../../src/commands/chat/conversation/commands.ts";
import { type World, chatPath, createWorld, upload } from "../support.ts";
import { startTalk } from "./talking.ts";
import { completePath } from "../../../../src/commands/chat/conversation/completion.ts";
import { cleanEnvironment, temporaryFolder } from "../../../support.ts";
import { heldClock } from "../../../held-clock.ts";
import { spawn } from "node:child_process";
import { openHistory } from "../../../../src/commands/chat/conversation/history.ts";

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

const tab = "\t";

describe("Tab", () => {
  it.each([
    ["/reg", tab, /^> \/regenerate$/m],
    // Nothing to add: as in a shell, the second Tab lists.
    ["/session", tab + tab, /session +sessions/],
    ["/agent san", tab, /^> \/agent Sandbox/m],
    ["/tools inter", tab, /^> \/tools Internal Search$/m],
    ["/tools force lis", tab, /^> \/tools force List documents$/m],
    ["/filter so", tab, /^> \/filter source$/m],
    ["/filter source fi", tab, /^> \/filter source file$/m],
    ["/filter since 3", tab, /^> \/filter since 30d$/m],
    ["/file no", tab, /^> \/file notes\.md$/m],
    ["/save su", tab, /^> \/save sub\/$/m],
  ])("completes %j", async (typed, tabs, shown) => {
    const world = await createWorld({ dialect: "onyx" });
    writeFileSync(join(world.home, "notes.md"), "x");
    mkdirSync(join(world.home, "sub"));
    const talk = await startTalk(world, [], { isTimeless: true });
    talk.press(typed);
    await talk.untilShown(new RegExp(`^> ${typed}$`, "m"));
    talk.press(tabs);
    await talk.untilShown(shown);
  });

  it("knows the models that this key may use, and those asked for before", async () => {
    const world = await createWorld({
      dialect: "onyx",
      models: { Acme: ["large", "small"], "a/b": ["x"] },
    });
    const talk = await startTalk(world, [], { isTimeless: true });
    await talk.enter("/model Other/old");
    talk.press(`/model acme/${tab}`);
    await talk.untilShown(/^> \/model Acme\/$/m);
    talk.press(tab + tab);
    await talk.untilShown(/Acme\/large +Acme\/small/);
    talk.press(`\u0015/model ot${tab}`);
    await talk.untilShown(/^> \/model Other\/old$/m);
    talk.press(`\u0015/model ${tab}${tab}`);
    await talk.untilShown(/\bdefault\b/);
    expect(talk.screen()).not.toContain("a/b");
  });

  it("knows the sources of the last answer and the sessions of this machine", async () => {
    const world = await createWorld();
    await upload(world, "leave.md", "Leave", "Ask your manager for leave two weeks ahead.");
    const talk = await startTalk(world, [], { isTimeless: true });
    await talk.enter("How do I ask for leave?");
    talk.press(`/open ${tab}`);
    await talk.untilShown(/^> \/open 1$/m);
    talk.press(`\u0015/session ${tab}`);
    await talk.untilShown(/^> \/session [0-9a-f-]{36}$/m);
  });

  it("shows the titles of several sessions, and finds one by its title", async () => {
    // Ids of the sandbox's own are random: two that begin alike would be completed to what they share.
    const listed = (start: string, name: string) => ({
      id: `${start}1111111-2222-4333-8444-555555555555`,
      name,
      time_created: "2026-01-01T00:00:00Z",
      time_updated: "2026-01-01T00:00:00Z",
    });
    const sessions = [listed("a", "How do I ask for leave?"), listed("b", "Who is on call?")];
    const when = { path: "/api/chat/get-user-chat-sessions" };
    const rules = [{ when, do: { status: 200, body: { sessions, has_more: false } } }];
    const world = await createWorld({ dialect: "onyx", faults: { rules } });
    const talk = await startTalk(world, [], { isTimeless: true });
    talk.press(`/session ${tab}${tab}`);
    await talk.untilShown(/a1111111 {2}How do I ask for leave\?/);
    expect(talk.screen()).toMatch(/b1111111 {2}Who is on call\?/);
    talk.press(`\u0015/session who${tab}`);
    await talk.untilShown(/^> \/session b1111111-2222-4333-8444-555555555555$/m);
  });

  it("does nothing where the service cannot tell, or in a message", async () => {
    const world = await createWorld({
      faults: { rules: [{ when: { path: "/api/tool" }, do: { status: 403 } }] },
    });
    const talk = await startTalk(world, [], { isTimeless: true });
    talk.press(`/tools x${tab}y`);
    await talk.untilShown(/^> \/tools xy$/m);
    talk.press(`\u0015plain${tab}text`);
    await talk.untilShown(/^> plaintext$/m);
  });
});

describe("a path", () => {
  const folder = (): string => {
    const path = temporaryFolder();
    for (const name of ["a b.md", "ab.md", ".hidden", "\u001bx"])
      writeFileSync(join(path, name), "");
    mkdirSync(join(path, "abc"));
    return path;
  };

  it.each([
    ["", ["a b.md", "ab.md", "abc/"]],
    ["ab", ["ab.md", "abc/"]],
    [".", [".hidden"]],
    ["./a ", ["./a b.md"]],
    ["abc/", []],
  ])("of %j may become %j", async (typed, found) => {
    const root = folder();
    expect(await completePath(typed, (path) => join(root, path))).toEqual(found);
  });
});

interface Sent {
  message: string;
  parent_message_id?: number | null;
  chat_session_id?: string;
}

const sent = (world: World): Sent[] => world.sandbox.ledger.chats as unknown as Sent[];

describe("/regenerate", () => {
  it.each(["standard", "onyx"] as const)(
    "asks again behind the answer before, in its session (%s)",
    async (dialect) => {
      const world = await createWorld({ dialect });
      const talk = await startTalk(world);
      await talk.enter("first?");
      await talk.enter("second?");
      expect(await talk.enter("/regenerate")).toContain("Extractive answer");
      const [, second, again] = sent(world);
      expect(again).toMatchObject({
        message: "second?",
        chat_session_id: second?.chat_session_id,
        parent_message_id: expect.any(Number),
      });
      // What follows stands behind the new answer, which the service knows.
      await talk.enter("third?");
      expect(sent(world)[3]).not.toHaveProperty("parent_message_id");
    },
  );

  it("starts the first question of a session from its root where the service can", async () => {
    const world = await createWorld({ dialect: "onyx" });
    const talk = await startTalk(world);
    await talk.enter("first?");
    await talk.enter("/regenerate");
    expect(sent(world)[1]).toMatchObject({
      message: "first?",
      parent_message_id: null,
      chat_session_id: expect.any(String),
    });
  });

  it("begins a new session for it elsewhere, and says so", async () => {
    const world = await createWorld();
    const talk = await startTalk(world);
    await talk.enter("first?");
    expect(await talk.enter("/regenerate")).toContain("a new session begins");
    expect(sent(world)[1]).toEqual({ message: "first?", stream: true });
  });

  it.each(["/new", "/agent 0"])(
    "and /retry do not lead back to a session left by %s",
    async (leave) => {
      const world = await createWorld({ dialect: "onyx" });
      const talk = await startTalk(world);
      await talk.enter("first?");
      await talk.enter(leave);
      for (const command of ["/regenerate", "/retry"]) {
        expect(await talk.enter(command)).toContain("nothing has been asked in this session yet");
      }
      expect(sent(world)).toHaveLength(1);
      await talk.enter("second?");
      expect(sent(world)[1]).not.toHaveProperty("chat_session_id");
      expect(await talk.enter("/regenerate")).toContain("Extractive answer");
    },
  );

  it("asks with the settings as they are now", async () => {
    const world = await createWorld({ dialect: "onyx" });
    const talk = await startTalk(world);
    await talk.enter("first?");
    await talk.enter("/model openai/new");
    await talk.enter("/regenerate");
    expect(sent(world)[1]).toMatchObject({
      llm_override: { model_provider: "openai", model_version: "new" },
    });
  });
});

describe("/retry", () => {
  const cut = { rules: [{ when: { path: chatPath, nth: 1 }, do: { cutAfterBytes: 900 } }] };

  it("shows what the service has finished meanwhile, and sends nothing", async () => {
    const world = await createWorld({ dialect: "onyx", faults: cut });
    const talk = await startTalk(world);
    expect(await talk.enter("first?")).toMatch(
      /error: [^]*? cut[^]*→ \/retry\s+looks\s+into\s+the\s+session/,
    );
    expect(await talk.enter("/retry")).toMatch(/it is not asked again[^]*no language model/);
    expect(sent(world)).toHaveLength(1);
    // It is an answer like any other now.
    expect(await talk.enter("/retry")).toContain("the last answer is complete");
    await talk.enter("second?");
    expect(sent(world)[1]).toHaveProperty("chat_session_id");
  });

  it("follows an answer that is still being made", async () => {
    const clock = heldClock(5);
    const world = await createWorld({ dialect: "onyx", tokenDelayMs: 1, clock, faults: cut });
    const talk = await startTalk(world);
    await talk.enter("first?");
    talk.press("/retry\r");
    await talk.until("still working on the answer; it follows from its beginning");
    clock.release();
    await talk.until(/no language model[^]*> \u001b\[3G$/);
    expect(sent(world)).toHaveLength(1);
  });

  it("is the next step after a gateway gave up in a session", async () => {
    const gone = { status: 502, headers: { "content-type": "text/html" }, body: "<html>" };
    const world = await createWorld({
      dialect: "onyx",
      faults: { rules: [{ when: { path: chatPath, nth: 2 }, do: gone }] },
    });
    const talk = await startTalk(world);
    await talk.enter("first?");
    expect(await talk.enter("second?")).toMatch(/error: [^]*502[^]*→ \/retry\s+looks/);
    expect(await talk.enter("/retry")).toContain("asking again");
  });

  it("asks only a second time where the service cannot tell", async () => {
    const world = await createWorld({ faults: cut });
    const talk = await startTalk(world);
    await talk.enter("first?");
    expect(await talk.enter("/retry")).toMatch(/it may have been\s+answered and\s+stored/);
    expect(sent(world)).toHaveLength(1);
    expect(await talk.enter("/retry")).toContain("Extractive answer");
    expect(sent(world)).toHaveLength(2);
  });

  it("asks again in the place of an answer that was stopped", async () => {
    const clock = heldClock(5);
    const world = await createWorld({ dialect: "onyx", tokenDelayMs: 1, clock });
    const talk = await startTalk(world);
    talk.press("first?\r");
    await talk.until("Extractive");
    talk.press("\u0003");
    await talk.until(/is kept[^]*> \u001b\[3G$/);
    talk.news();
    clock.release();
    expect(await talk.enter("/retry")).toMatch(/without a whole answer: asking again[^]*language/);
    expect(sent(world)[1]).toMatchObject({ message: "first?", parent_message_id: null });
  });
});

describe("a session that is gone on with", () => {
  it("is asked its last question again behind the answer before, files included", async () => {
    const world = await createWorld({ dialect: "onyx" });
    writeFileSync(join(world.home, "notes.md"), "# Notes\nLeave is easy.\n");
    await world.run(["first?"]);
    await world.run(["--continue", "--file", "notes.md", "What is in it?"]);
    const talk = await startTalk(world, ["--continue"]);
    expect(talk.screen()).toMatch(/> What is in it\?[^]*Extractive/);
    await talk.enter("/regenerate");
    const [, asked, again] = sent(world) as unknown as Record<string, unknown>[];
    expect(again).toMatchObject({
      message: "What is in it?",
      parent_message_id: expect.any(Number),
      file_descriptors: asked?.["file_descriptors"],
    });
  });
});

describe("history", () => {
  function open(home: string, { profile = "p", isKept = true, secret = "" } = {}) {
    const warnings: string[] = [];
    const history = openHistory(
      { env: cleanEnvironment(home), profile },
      { isKept, redact: (text) => (secret === "" ? text : text.replaceAll(secret, "***")) },
      (problem) => warnings.push(problem),
    );
    return { history, warnings };
  }

  const fileOf = (home: string): string => join(home, "state/knowctl/history/p.ndjson");

  describe("the history", () => {
    it("comes back in the next run, of each profile its own, for its owner alone", async () => {
      const home = temporaryFolder();
      const { history } = open(home);
      await history.add("one\ntwo");
      await history.add("three");
      expect(open(home).history.list()).toEqual(["one\ntwo", "three"]);
      expect(open(home, { profile: "q" }).history.list()).toEqual([]);
      expect(statSync(fileOf(home)).mode & 0o777).toBe(0o600);
      expect(statSync(join(home, "state/knowctl/history")).mode & 0o777).toBe(0o700);
    });

    it.each([
      ["begins with a space", " key on_abc"],
      ["is the last one again", "again"],
      ["is too long", "x".repeat(10_001)],
      ["holds a secret", "my key is SECRET-1"],
    ])("leaves out what %s", async (_name, text) => {
      const home = temporaryFolder();
      const { history } = open(home, { secret: "SECRET-1" });
      await history.add("again");
      await history.add(text);
      expect(open(home).history.list()).toEqual(["again"]);
    });

    it("writes nothing where that is not wanted", async () => {
      const home = temporaryFolder();
      const { history } = open(home, { isKept: false });
      await history.add("one");
      expect(history.list()).toEqual(["one"]);
      expect(statSync(fileOf(home), { throwIfNoEntry: false })).toBeUndefined();
    });

    it("takes the rights of others away, and leaves damaged lines out", async () => {
      const home = temporaryFolder();
      mkdirSync(join(home, "state/knowctl/history"), { recursive: true });
      writeFileSync(fileOf(home), '"one"\n{"two":2}\n"thr');
      chmodSync(fileOf(home), 0o644);
      const { history } = open(home);
      expect(history.list()).toEqual(["one"]);
      await history.add("four");
      expect(statSync(fileOf(home)).mode & 0o777).toBe(0o600);
      expect(open(home).history.list()).toEqual(["one", "four"]);
    });

    it("stays small and keeps the newest", async () => {
      const home = temporaryFolder();
      const { history } = open(home);
      for (let index = 0; index < 300; index++) await history.add(`${index} ${"x".repeat(5000)}`);
      const size = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
      expect(size(fileOf(home)) + size(`${fileOf(home)}.1`)).toBeLessThan(1_100_000);
      expect(open(home).history.list().at(-1)).toMatch(/^299 /);
      expect(open(home).history.list().length).toBeGreaterThan(100);
    });

    it("warns once where it cannot be written", async () => {
      const home = temporaryFolder();
      mkdirSync(join(home, "state/knowctl"), { recursive: true });
      writeFileSync(join(home, "state/knowctl/history"), "a file");
      const { history, warnings } = open(home);
      await history.add("one");
      await history.add("two");
      expect(warnings).toHaveLength(1);
      expect(history.list()).toEqual(["one", "two"]);
    });

    it("loses no line of several processes", async () => {
      const home = temporaryFolder();
      await open(home).history.add("begin");
      // Plain appends of other processes, in the form in which this one appends.
      const script = `
      const { appendFileSync } = require("node:fs");
      for (let index = 0; index < 150; index++)
        appendFileSync(process.argv[1], "\\n" + JSON.stringify(process.argv[2] + index + "y".repeat(2000)));`;
      const others = ["a", "b"].map(
        (name) =>
          new Promise((done) => {
            spawn(process.execPath, ["-e", script, fileOf(home), name]).on("close", done);
          }),
      );
      const { history } = open(home);
      let count = 0;
      const all = Promise.all(others);
      let isDone = false;
      void all.then(() => (isDone = true));
      while (!isDone && count < 300) {
        await history.add(`own ${count++} ${"z".repeat(500)}`);
        await new Promise(setImmediate);
      }
      await all;
      const text = [`${fileOf(home)}.1`, fileOf(home)]
        .map((path) =>
          statSync(path, { throwIfNoEntry: false }) ? readFileSync(path, "utf8") : "",
        )
        .join("");
      const lines = text.split("\n").filter((line) => line !== "");
      for (const line of lines) expect(typeof JSON.parse(line)).toBe("string");
      expect(lines.filter((line) => /^"[ab]\d/.test(line))).toHaveLength(300);
    });
  });
});
