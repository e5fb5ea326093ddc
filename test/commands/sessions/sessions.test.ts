import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createSessionsWorld, listPath, sessionPath } from "./support.ts";
import type { FaultRule } from "../../../src/sandbox/http/faults.ts";
import { answer, chatPath, rawTurn } from "../chat/support.ts";

const stored = JSON.parse(
  readFileSync(new URL("../../fixtures/wire/stored-session.json", import.meta.url), "utf8"),
) as Record<string, unknown>;
const storedId = String(stored["chat_session_id"]);

/** A world whose service keeps the session of the fixture. */
const withStored = () =>
  createSessionsWorld({
    faults: { rules: [{ when: { path: sessionPath }, do: { status: 200, body: stored } }] },
  });

describe("sessions list", () => {
  it("lists the service's sessions, the one used last first, named by what was asked", async () => {
    const world = await createSessionsWorld();
    const first = await world.ask("about leave");
    const second = await world.ask("about travel");
    await world.ask("--session", first, "more about leave");
    const { code, stdout, stderr } = await world.command(["sessions", "list"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const rows = stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.split("\t"));
    expect(rows.map(([id, name]) => [id, name])).toEqual([
      [first, "about leave"],
      [second, "about travel"],
    ]);
    const csv = await world.command(["sessions", "list", "-o", "csv", "--fields", "id,local"]);
    expect(csv.stdout).toBe(`id,local\n${first},true\n${second},true\n`);
    const ndjson = await world.command(["sessions", "list", "-o", "ndjson", "--limit", "1"]);
    expect(JSON.parse(ndjson.stdout)).toMatchObject({ id: first, name: "about leave" });
    const filtered = await world.command(["sessions", "list", "--filter", "name~*travel"]);
    expect(filtered.stdout).toContain(second);
    expect(filtered.stdout).not.toContain(first);
  });

  it("reads page by page, and no page more than is wanted", async () => {
    const page = (from: number, more: boolean) => ({
      sessions: Array.from({ length: 100 }, (_, index) => ({
        id: `s-${from + index}`,
        name: null,
        time_updated: new Date(Date.UTC(2026, 0, 1) - (from + index) * 1000).toISOString(),
      })),
      has_more: more,
    });
    const rule = (nth: number) => ({
      when: { path: listPath, nth },
      do: { status: 200, body: page((nth - 1) * 100, nth < 3) },
    });
    const world = await createSessionsWorld({ faults: { rules: [1, 2, 3].map(rule) } });
    const { stdout } = await world.command(["sessions", "list", "--limit", "150", "-o", "tsv"]);
    expect(stdout.trimEnd().split("\n")).toHaveLength(150);
    expect(world.sandbox.ledger.requestCount).toBe(2);
    const asked = world.sandbox.ledger.requests.map(({ path }) => path);
    expect(asked[1]).toContain(`before=${encodeURIComponent("2025-12-31T23:58:21.000Z")}`);
  });

  it("ends where a service's cursor does not move", async () => {
    const body = {
      sessions: [{ id: "s-1", name: "x", time_updated: "2026-01-01T00:00:00Z" }],
      has_more: true,
    };
    const world = await createSessionsWorld({
      faults: { rules: [{ when: { path: listPath }, do: { status: 200, body } }] },
    });
    const { code } = await world.command(["sessions", "list"]);
    expect(code).toBe(0);
    expect(world.sandbox.ledger.requestCount).toBe(2);
  });

  it("lists what this machine asked where the interface has no listing, and says so", async () => {
    const world = await createSessionsWorld({ dialect: "standard" });
    const id = await world.ask("about leave");
    const { code, stdout, stderr } = await world.command(["sessions", "list", "-o", "json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual([
      expect.objectContaining({ id, name: "about leave", questions: 1 }),
    ]);
    expect(stderr).toContain("used from this machine");
  });

  it("writes the same members for every dialect, and for --local", async () => {
    const rows: object[] = [];
    for (const dialect of ["standard", "onyx"] as const) {
      const world = await createSessionsWorld({ dialect });
      await world.ask("about leave");
      for (const more of [[], ["--local"]]) {
        const { stdout } = await world.command(["sessions", "list", "--json", ...more]);
        rows.push(...(JSON.parse(stdout) as object[]));
      }
    }
    expect(rows).toHaveLength(4);
    const members = "id name agent createdAt updatedAt questions local".split(" ");
    for (const row of rows) {
      expect(Object.keys(row)).toEqual(members);
      expect(row).toMatchObject({ name: "about leave", questions: 1, local: true });
    }
  });

  it("says that there are none", async () => {
    const world = await createSessionsWorld();
    expect(await world.command(["sessions", "list"])).toMatchObject({
      code: 0,
      stdout: "",
      stderr: "there are no sessions\n",
    });
    expect(await world.command(["sessions", "list", "--local"])).toMatchObject({ code: 0 });
  });
});

describe("the id of a session", () => {
  it("may be its beginning, as this machine or else the service knows it", async () => {
    const world = await createSessionsWorld();
    const id = await world.ask("about leave");
    for (const given of [id.slice(0, 6), id.slice(0, 6).toUpperCase(), "last"]) {
      const { code, stdout } = await world.command(["sessions", "show", given]);
      expect(code, given).toBe(0);
      expect(stdout).toContain(`session ${id}`);
    }
    const elsewhere = { env: { ...world.env, XDG_STATE_HOME: join(world.home, "elsewhere") } };
    const { stdout } = await world.command(["sessions", "show", id.slice(0, 6)], elsewhere);
    expect(stdout).toContain(`session ${id}`);
    // For a question as well.
    await world.run(["--session", id.slice(0, 6), "more"]);
    expect(world.asked()["chat_session_id"]).toBe(id);
  });

  it("is asked for again where several begin so", async () => {
    const sessions = ["abc-1", "abc-2", "abd-3"].map((id) => ({
      id,
      name: `named ${id} \u001b[31m`,
      time_updated: "2026-01-01T00:00:00Z",
    }));
    const body = { sessions, has_more: false };
    const world = await createSessionsWorld({
      faults: { rules: [{ when: { path: listPath }, do: { status: 200, body } }] },
    });
    for (const args of [
      ["sessions", "show", "ab"],
      ["chat", "--session", "ab", "hi"],
    ]) {
      const { code, stderr } = await world.command(args);
      expect(code).toBe(2);
      expect(stderr).toContain("several sessions begin with ab");
      expect(stderr).toContain("abc-1  2026-01-01T00:00  named abc-1 ^[[31m");
      expect(stderr).toContain("abd-3");
    }
    expect(world.sandbox.ledger.chats).toEqual([]);
  });

  it.each([
    ["unknown", "zzz", 9],
    ["empty", "", 2],
    ["a path", "../x", 2],
    ["none yet", "last", 9],
  ])("is refused: %s", async (_name, id, exit) => {
    const world = await createSessionsWorld();
    expect(await world.command(["sessions", "show", id])).toMatchObject({
      code: exit,
      stdout: "",
    });
  });

  it("is not told to ask without a flag that nobody gave", async () => {
    const world = await createSessionsWorld();
    for (const args of [
      ["sessions", "show", "last"],
      ["sessions", "recover"],
    ]) {
      const { stderr } = await world.command(args);
      expect(stderr).toContain("has asked nothing from this machine yet: there is no last session");
      expect(stderr).toContain("knowctl sessions list");
      expect(stderr).not.toContain("--continue");
    }
  });

  it("is left to the service where that lists none", async () => {
    const world = await createSessionsWorld({ dialect: "standard" });
    const { code } = await world.run(["--session", "abc", "hi"]);
    expect(world.asked()["chat_session_id"]).toBe("abc");
    expect(code).toBe(9);
  });
});

describe("sessions show and export", () => {
  it("show the conversation, inert on a terminal", async () => {
    const world = await withStored();
    const piped = await world.command(["sessions", "show", storedId]);
    expect(piped.stdout).toContain("You · 2026-01-01T08:00:00Z\nHow do I request leave?");
    expect(piped.stdout).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u202e]/);
    expect(piped.stderr).toContain("1 more message in 1 other branch");
    for (const columns of [20, 40, 200]) {
      const shown = await world.command(["sessions", "show", storedId, "--all"], {
        isTTY: true,
        columns,
      });
      const rest = shown.stdout.replace(/\u001b\[\d+m|\u001b\]8;;[^\u001b]*\u001b\\/g, "");
      expect(rest).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u202e]/);
    }
  });

  it("give one object for scripts", async () => {
    const world = await withStored();
    const { stdout } = await world.command(["sessions", "show", storedId, "--all", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      version: 1,
      sessionId: storedId,
      agent: { id: 3 },
      running: false,
      otherMessages: 1,
      messages: [
        { messageId: 2, role: "user", current: true, state: null, files: [{ id: "0f3c" }] },
        {
          messageId: 4,
          state: "complete",
          citations: [
            { number: 1, documentId: "leave", link: "https://docs.example.com/leave" },
            { number: 2, documentId: "sick", link: null },
          ],
        },
        { messageId: 5 },
        { messageId: 6, state: "missing", text: "" },
        { messageId: 3, current: false },
      ],
    });
    const picked = await world.command([
      "sessions",
      "show",
      storedId,
      "--jq",
      ".messages | length",
    ]);
    expect(picked.stdout).toBe("4\n");
  });

  it("write Markdown to stdout or a file of the user's own", async () => {
    const world = await withStored();
    const { stdout } = await world.command(["sessions", "export", storedId]);
    expect(stdout).toContain("## Assistant · 2026-01-01T08:00:02Z · large");
    const { stdout: none, stderr } = await world.command([
      "sessions",
      "export",
      storedId,
      "--file",
      "out.md",
    ]);
    expect({ none, stderr }).toEqual({ none: "", stderr: "wrote out.md\n" });
    const path = join(world.home, "out.md");
    expect(readFileSync(path, "utf8")).toBe(stdout);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await world.command(["sessions", "export", storedId, "--file", "out.json", "-o", "json"]);
    const json = readFileSync(join(world.home, "out.json"), "utf8");
    expect(JSON.parse(json)).toMatchObject({ sessionId: storedId, name: stored["description"] });
    expect(json).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u202e]/);
  });

  it.each([
    ["a folder", ["--file", "."]],
    ["a device", ["--file", "/dev/null"]],
    ["a folder that is missing", ["--file", "no/such.md"]],
    ["another format in a file", ["--file", "x.csv", "-o", "csv"]],
    ["an unknown format", ["-o", "docx"]],
  ])("refuse %s before anything is asked", async (_name, args) => {
    const world = await withStored();
    expect(await world.command(["sessions", "export", storedId, ...args])).toMatchObject({
      code: 2,
    });
    expect(world.sandbox.ledger.requestCount).toBe(0);
  });

  it.each(["show", "export", "rename", "recover"])(
    "%s is exit 9 where the interface has no such endpoint",
    async (verb) => {
      const world = await createSessionsWorld({ dialect: "standard" });
      const id = await world.ask("hi");
      const args = verb === "rename" ? [id, "x"] : [id];
      const { code, stdout, stderr } = await world.command(["sessions", verb, ...args]);
      expect({ code, stdout }).toEqual({ code: 9, stdout: "" });
      expect(stderr).toContain("the standard dialect has no endpoint for it");
    },
  );
});

describe("sessions rename and delete", () => {
  it("rename here and there", async () => {
    const world = await createSessionsWorld();
    const id = await world.ask("about leave");
    const { code } = await world.command(["sessions", "rename", "last", "Leave", "in", "summer"]);
    expect(code).toBe(0);
    for (const more of [[], ["--local"]]) {
      const { stdout } = await world.command(["sessions", "list", ...more, "--fields", "id,name"]);
      expect(stdout).toBe(`${id}\tLeave in summer\n`);
    }
    expect(await world.command(["sessions", "rename", id, " "])).toMatchObject({ code: 2 });
  });

  it("delete only what was agreed to", async () => {
    const world = await createSessionsWorld();
    const ids = [await world.ask("a"), await world.ask("b"), await world.ask("c")];
    const [a = "", b = "", c = ""] = ids;
    const list = async (): Promise<string[]> => {
      const { stdout } = await world.command(["sessions", "list", "--fields", "id"]);
      return stdout.split("\n").filter(Boolean);
    };
    expect(await world.command(["sessions", "delete", a])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--yes"),
    });
    // One that is not there keeps the others, too.
    expect(await world.command(["sessions", "delete", a, "zzz", "--yes"])).toMatchObject({
      code: 9,
    });
    expect(await list()).toEqual([c, b, a]);
    expect(await world.command(["sessions", "delete", a, b.slice(0, 8), "--yes"])).toMatchObject({
      code: 0,
    });
    expect(await list()).toEqual([c]);
    const { stdout } = await world.command(["sessions", "list", "--local", "--fields", "id"]);
    expect(stdout).toBe(`${c}\n`);
  });

  it("says which of several could not be deleted", async () => {
    const world = await createSessionsWorld();
    const known = await world.ask("a");
    const gone = "00000000-0000-4000-8000-000000000000";
    const both = await world.command(["sessions", "delete", gone, known, "--yes"]);
    expect(both.code).toBe(10);
    expect(both.stderr).toContain(`warning: ${gone}`);
    expect(both.stderr).toContain(`deleted ${known}`);
    expect(await world.command(["sessions", "delete", gone, "--yes"])).toMatchObject({ code: 9 });
  });

  it("takes a session out of the index alone where the service cannot delete", async () => {
    const world = await createSessionsWorld({ dialect: "standard" });
    const id = await world.ask("a");
    expect(await world.command(["sessions", "delete", id, "--yes"])).toMatchObject({
      code: 9,
      stderr: expect.stringContaining("--local"),
    });
    expect(await world.command(["sessions", "delete", id, "--yes", "--local"])).toMatchObject({
      code: 0,
    });
    expect(await world.command(["sessions", "list"])).toMatchObject({ stdout: "" });
  });
});

describe("made", () => {
  interface Stored {
    chat_session_id: string;
    messages: {
      message_id: number;
      message_type: string;
      message: string;
      error: string | null;
      files: [];
    }[];
  }
  const stored = JSON.parse(
    readFileSync(new URL("../../fixtures/wire/stored-session.json", import.meta.url), "utf8"),
  ) as Stored;
  const id = stored.chat_session_id;
  const image = { file_id: "img-1", url: "/chat/file/img-1", revised_prompt: "a cat", shape: null };
  const placement = { turn_index: 0, tab_index: 0, sub_turn_index: null, model_index: 0 };
  const packets = [
    [
      { placement, obj: { type: "image_generation_final", images: [image] } },
      { placement, obj: { type: "python_tool_delta", stdout: "", stderr: "", file_ids: ["f-2"] } },
      { placement, obj: { type: "custom_tool_delta", tool_name: "x", file_ids: null } },
      { placement: null, obj: "strange" },
    ],
  ];

  async function worldWith(over: (answer: Stored["messages"][number]) => object) {
    const [root, question, answer] = stored.messages;
    const latest_child_message = answer!.message_id;
    const messages = [
      root,
      { ...question!, latest_child_message },
      { ...answer!, ...over(answer!) },
    ];
    const body = { ...stored, messages, packets, current_run: null };
    const rules = [{ when: { path: sessionPath }, do: { status: 200, body } }];
    return await createSessionsWorld({ faults: { rules } });
  }

  const onlyMade = () => ({ message: "", latest_child_message: null });

  it("sessions show lists what tools made, which stands only in the replay", async () => {
    const world = await worldWith(onlyMade);
    const { code, stdout } = await world.command(["sessions", "show", id]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/image \/chat\/file\/img-1\nfile f-2/);
    expect(stdout).not.toContain("(no text)");
    const json = await world.command(["sessions", "show", id, "--json"]);
    const { messages } = JSON.parse(json.stdout) as { messages: object[] };
    expect(messages.at(-1)).toMatchObject({
      images: [{ fileId: "img-1", url: "/chat/file/img-1", prompt: "a cat", shape: null }],
      files: [{ id: "f-2", name: null }],
    });
  });

  it("sessions export and recover have it as well", async () => {
    const world = await worldWith(onlyMade);
    const exported = await world.command(["sessions", "export", id]);
    expect(exported.stdout).toMatch(/- image .*img\\-1\n- file f\\-2/);
    const recovered = await world.command(["sessions", "recover", id]);
    expect(recovered.code).toBe(0);
    expect(recovered.stdout).toContain("file f-2");
  });

  it("a turn that failed stores its error as its text, which is no answer", async () => {
    const error = "The model is busy";
    const world = await worldWith(() => ({ message: error, error, latest_child_message: null }));
    const recovered = await world.command(["sessions", "recover", id]);
    expect(recovered.code).not.toBe(0);
    expect(recovered.stdout).not.toContain(error);
    expect(recovered.stderr).toContain(error);
    const shown = await world.command(["sessions", "show", id]);
    expect(shown.stdout.split(error)).toHaveLength(2);
  });

  it("recovering a stopped answer does not recommend itself", async () => {
    const message = "Ten days\n\n... *Generation was stopped by the user.*";
    const world = await worldWith(() => ({ message, latest_child_message: null }));
    const { code, stderr } = await world.command(["sessions", "recover", id]);
    expect([code, stderr]).toEqual([11, expect.stringContaining("stopped on the service's side")]);
    expect(stderr).not.toContain("sessions recover");
  });
});

describe("recover", () => {
  const stored = JSON.parse(
    readFileSync(new URL("../../fixtures/wire/stored-session.json", import.meta.url), "utf8"),
  ) as { chat_session_id: string; messages: { message_id: number }[] };
  const id = stored.chat_session_id;

  const resumePath = "/api/chat/chat-session/";

  function keeps(over: object, when: FaultRule["when"] = {}): FaultRule {
    return {
      when: { path: sessionPath, ...when },
      do: { status: 200, body: { ...stored, ...over } },
    };
  }

  const complete = { messages: stored.messages.slice(0, 4) };
  const running = { current_run: { run_id: "r" } };

  describe("sessions recover", () => {
    it("follows an answer that is still being made, from its beginning, and asks nothing", async () => {
      const streams = (lines: string[]) => ({
        status: 200,
        headers: { "content-type": "text/event-stream" },
        body: `${lines.join("\n")}\n`,
      });
      const rules: FaultRule[] = [
        { when: { path: chatPath }, do: streams(rawTurn.slice(0, 4)) },
        { when: { path: resumePath }, do: streams(rawTurn) },
        keeps(running),
      ];
      const world = await createSessionsWorld({ faults: { rules } });
      const cut = await world.run(["How do I request leave?"]);
      expect(cut).toMatchObject({ code: 11, stdout: "" });
      const [, command = ""] = /knowctl (sessions recover \S+)/.exec(cut.stderr) ?? [];
      const { code, stdout } = await world.command(command.split(" "));
      expect({ code, stdout }).toEqual({ code: 0, stdout: `${answer}\n` });
      expect(world.sandbox.ledger.chats).toEqual([]);
      const asked = world.sandbox.ledger.requests.filter(({ method }) => method === "POST");
      expect(asked).toHaveLength(1);
      expect(world.sandbox.ledger.requests.at(-1)?.path).toContain("/resume-stream?cursor=0");
    });

    it("warns of an end that nobody knows to be whole", async () => {
      const end = {
        placement: { turn_index: 2 },
        obj: { type: "stop", stop_reason: "max_tokens" },
      };
      const body = `${[...rawTurn.slice(0, -1), JSON.stringify(end)].join("\n")}\n`;
      const rules: FaultRule[] = [
        {
          when: { path: resumePath },
          do: { status: 200, headers: { "content-type": "text/event-stream" }, body },
        },
        keeps(running),
      ];
      const world = await createSessionsWorld({ faults: { rules } });
      const { code, stderr } = await world.command(["sessions", "recover", id]);
      expect(code).toBe(0);
      expect(stderr).toContain("warning: the answer may be incomplete: the service ended it with");
    });

    it("reads an answer that is complete from the session", async () => {
      const world = await createSessionsWorld({ faults: { rules: [keeps(complete)] } });
      const { code, stdout, stderr } = await world.command(["sessions", "recover", id]);
      expect({ code, stdout }).toEqual({
        code: 0,
        stdout: "Ask your manager [[1]](https://docs.example.com/leave). Two weeks ahead [2].\n",
      });
      expect(stderr).toContain("[1] Leave [policy]");
    });

    it("has the forms of a chat", async () => {
      const world = await createSessionsWorld({ faults: { rules: [keeps(complete)] } });
      const json = await world.command(["sessions", "recover", id, "--json"]);
      expect(JSON.parse(json.stdout)).toMatchObject({
        status: "ok",
        sessionId: id,
        messageId: 4,
        citations: [{ number: 1 }, { number: 2 }],
      });
      const ndjson = await world.command(["sessions", "recover", id, "-o", "ndjson"]);
      expect(JSON.parse(ndjson.stdout.trimEnd().split("\n").at(-1)!)).toMatchObject({
        type: "result",
        status: "ok",
      });
      expect(await world.command(["sessions", "recover", id, "-o", "packets"])).toMatchObject({
        code: 2,
      });
    });

    it("takes no placeholder for an answer", async () => {
      const world = await createSessionsWorld({ faults: { rules: [keeps({})] } });
      for (const more of [[], ["--poll"]]) {
        const { code, stdout, stderr } = await world.command(["sessions", "recover", id, ...more]);
        expect({ code, stdout }).toEqual({ code: 11, stdout: "" });
        expect(stderr).toContain("stored nothing");
      }
      expect(world.sandbox.ledger.chats).toEqual([]);
    });

    const noStream: FaultRule = {
      when: { path: resumePath },
      do: { status: 404, body: { error_code: "NOT_FOUND", detail: "No run to resume" } },
    };

    it("waits with --poll where the run cannot be followed, and is exit 11 without", async () => {
      const rules = [noStream, keeps(running, { first: 8 }), keeps(complete, { after: 8 })];
      const world = await createSessionsWorld({ faults: { rules } });
      const once = await world.command(["sessions", "recover", id]);
      expect(once).toMatchObject({ code: 11, stdout: "" });
      expect(once.stderr).toContain(`sessions recover --poll ${id}`);
      const waited = await world.command(["sessions", "recover", "--poll", id]);
      expect(waited.code).toBe(0);
      expect(waited.stdout).toContain("Ask your manager");
      // Longer from time to time; two looks before each.
      expect(waited.sleeps).toEqual([1000, 1500, 2250]);
    });

    it.each([
      [[], "Ask your manager [[1]](https://docs.example.com/leave). Two weeks ahead [2].\n"],
      [
        ["--live"],
        "Let me look that up.\nAsk your manager [[1]](https://docs.example.com/leave). Two weeks ahead [2].\n",
      ],
    ])("goes on waiting with --poll %j when the stream is cut again", async (flags, text) => {
      const stream = {
        status: 200,
        headers: { "content-type": "text/event-stream" },
        body: `${rawTurn.slice(0, 12).join("\n")}\n`,
      };
      const rules: FaultRule[] = [
        { when: { path: resumePath }, do: stream },
        keeps(running, { first: 4 }),
        keeps(complete, { after: 4 }),
      ];
      const world = await createSessionsWorld({ faults: { rules } });
      const once = await world.command(["sessions", "recover", id]);
      expect(once.code).toBe(11);
      const waited = await world.command(["sessions", "recover", "--poll", ...flags, id]);
      expect(waited).toMatchObject({ code: 0, stdout: text });
      expect(waited.stderr).toContain("cut again");
      const followed = world.sandbox.ledger.requests.filter(({ path }) => path.includes("resume"));
      expect(followed).toHaveLength(2);
    });

    it("does not wait for ever", async () => {
      const world = await createSessionsWorld({ faults: { rules: [noStream, keeps(running)] } });
      const args = ["sessions", "recover", "--poll", "--timeout", "0.5", id];
      const { code, stderr } = await world.command(args);
      expect(code).toBe(11);
      expect(stderr).toContain("the waiting time is over");
    });

    it("waits for a service that is too old to say whether a run is in flight", async () => {
      const { current_run: _, ...old } = stored as typeof stored & { current_run: null };
      const rules: FaultRule[] = [
        { when: { path: sessionPath, first: 2 }, do: { status: 200, body: old } },
        keeps(complete, { after: 2 }),
      ];
      const world = await createSessionsWorld({ faults: { rules } });
      expect(await world.command(["sessions", "recover", id])).toMatchObject({ code: 11 });
      expect(await world.command(["sessions", "recover", id, "--poll"])).toMatchObject({ code: 0 });
    });

    it("tells a failed answer from a complete one", async () => {
      const failed = { ...stored.messages[3], message: "", error: "The model refused" };
      const messages = [...stored.messages.slice(0, 3), failed];
      const world = await createSessionsWorld({ faults: { rules: [keeps({ messages })] } });
      const { code, stderr } = await world.command(["sessions", "recover", id]);
      expect(code).toBe(8);
      expect(stderr).toContain("The model refused");
    });

    it("gives the answer to the question of this machine, whatever came after it", async () => {
      const cutLines = [
        { chat_session_id: id },
        { user_message_id: 2, reserved_assistant_message_id: 4 },
      ].map((line) => JSON.stringify(line));
      const body = `${cutLines.join("\n")}\n`;
      const headers = { "content-type": "text/event-stream" };
      const world = await createSessionsWorld({
        faults: {
          rules: [{ when: { path: chatPath }, do: { status: 200, headers, body } }, keeps({})],
        },
      });
      expect(await world.run(["How do I request leave?"])).toMatchObject({ code: 11 });
      // The last message of the session is a placeholder; the one that was asked for is not.
      const { code, stdout } = await world.command(["sessions", "recover"]);
      expect(code).toBe(0);
      expect(stdout).toContain("Ask your manager");
    });

    it("says that a session holds no answer", async () => {
      const messages = stored.messages.slice(0, 2);
      const world = await createSessionsWorld({ faults: { rules: [keeps({ messages })] } });
      expect(await world.command(["sessions", "recover", id])).toMatchObject({ code: 9 });
    });

    it("is exit 11 with what came when this stream is cut, too", async () => {
      const headers = { "content-type": "text/event-stream" };
      const body = `${rawTurn.slice(0, -1).join("\n")}\n`;
      const rules: FaultRule[] = [
        { when: { path: resumePath }, do: { status: 200, headers, body } },
        keeps(running),
      ];
      const world = await createSessionsWorld({ faults: { rules } });
      const { code, stdout, stderr } = await world.command(["sessions", "recover", id]);
      expect(code).toBe(11);
      expect(stdout).toContain("Ask your manager");
      expect(stderr).toContain("sessions recover");
      expect(stderr).not.toContain("may have been delivered");
    });
  });

  describe("an answer in one piece", () => {
    it("has its session before it is asked for, so that a cut one can be recovered", async () => {
      const world = await createSessionsWorld({
        faults: { rules: [{ when: { path: chatPath }, do: "reset-after-store" }] },
      });
      const cut = await world.run(["--no-stream", "a question"]);
      expect(cut.code).toBe(11);
      expect(cut.stderr).toMatch(/knowctl sessions recover [0-9a-f-]{36}/);
      const { code, stdout } = await world.command(["sessions", "recover", "--poll"]);
      expect(code).toBe(0);
      expect(stdout).toContain("Extractive answer");
      expect(world.sandbox.ledger.chats).toHaveLength(1);
      expect(world.asked()).toHaveProperty("chat_session_id");
    });

    it("is asked for without one where a service cannot make it", async () => {
      const create = "/api/chat/create-chat-session";
      const world = await createSessionsWorld({
        faults: { rules: [{ when: { path: create }, do: { status: 404, body: {} } }] },
      });
      expect(await world.run(["--no-stream", "hi"])).toMatchObject({ code: 0 });
      expect(world.asked()).not.toHaveProperty("chat_session_id");
    });
  });
});
