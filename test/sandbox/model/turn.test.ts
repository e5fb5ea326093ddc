import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import * as z from "zod/mini";
import { ChatReply, Packet, PacketLine, StreamFailure } from "../../../src/api/chat-schemas.ts";
import { completionsUrl } from "../../../src/sandbox/chat/model/client.ts";
import { documentOf, type Line, linesOf, start } from "../start.ts";
import {
  answerOf,
  begin,
  chunk,
  event,
  gate,
  type LlmServer,
  startLlmServer,
} from "./llm-server.ts";

const key = "CANARY-model-key";
const dialects = ["standard", "onyx"] as const;
type Answer = Parameters<typeof startLlmServer>[0];
type Options = NonNullable<Parameters<typeof start>[0]>;

/** A sandbox with two documents that answers through the given server. */
async function startWith(
  answer: Answer | string,
  options: Options & { instructions?: string } = {},
) {
  const say: Answer =
    typeof answer === "string" ? (response) => begin(response).end(answerOf(answer)) : answer;
  const llm = await startLlmServer(say);
  const { instructions, ...rest } = options;
  const model = { url: completionsUrl(llm.url), key, model: "tiny", idleMs: 60_000, instructions };
  const sandbox = await start({ model, ...rest });
  await sandbox.ingest(
    documentOf({
      id: "burrows.md",
      semantic_identifier: "Burrows",
      sections: [{ text: "Wombats sleep in burrows.", link: "https://docs.example.com/burrows" }],
    }),
  );
  await sandbox.ingest(
    documentOf({
      id: "food.md",
      semantic_identifier: "Food",
      sections: [{ text: "Wombats eat grass." }],
    }),
  );
  await sandbox.idle();
  return { sandbox, llm };
}

const typesOf = (lines: Line[]): string[] =>
  lines
    .map((line) => line.obj?.type ?? Object.keys(line)[0]!)
    .filter((type, at, all) => type !== all[at - 1]);
const answerIn = (lines: Line[]): string =>
  lines
    .flatMap(({ obj }) => (obj?.type === "message_delta" ? [obj["content"] as string] : []))
    .join("");
const rolesOf = ({ requests }: LlmServer): string[] =>
  requests
    .at(-1)!
    .body.messages.map(({ role, content }) => `${role}: ${content.split("Question: ").at(-1)!}`);

interface Stored {
  messages: {
    message: string;
    message_type: string;
    error: string | null;
    model_display_name: string | null;
  }[];
  current_run: unknown;
}
const storedOf = async (sandbox: Awaited<ReturnType<typeof start>>, id: string) =>
  (await sandbox.get(`/api/chat/get-chat-session/${id}`)).json() as Stored;

describe("a turn that a model answers", () => {
  it.each(dialects)("%s: has the packets of the service, search and citations", async (dialect) => {
    const { sandbox, llm } = await startWith(
      (response) => {
        begin(response).write(event(chunk({ reasoning_content: "Hm." })));
        response.end(
          answerOf("In ", "burrows [", "1", "]", ", they eat [2][1]", " and [7] sleep."),
        );
      },
      { dialect },
    );
    const lines = await sandbox.ask("Where do wombats sleep, in burrows?");
    expect(typesOf(lines)).toEqual([
      "chat_session_id",
      "user_message_id",
      "search_tool_start",
      "search_tool_queries_delta",
      "search_tool_filter_delta",
      "search_tool_documents_delta",
      "section_end",
      "reasoning_start",
      "reasoning_delta",
      "reasoning_done",
      "message_start",
      "message_delta",
      "citation_info",
      "message_delta",
      "citation_info",
      "message_delta",
      "stop",
    ]);
    for (const line of lines.slice(2)) z.parse(Packet, z.parse(PacketLine, line).obj);
    expect(answerIn(lines)).toBe(
      "In burrows [[1]](https://docs.example.com/burrows), they eat [[2]]()" +
        "[[1]](https://docs.example.com/burrows) and  sleep.",
    );
    const cited = lines.filter(({ obj }) => obj?.type === "citation_info").map(({ obj }) => obj);
    expect(cited).toMatchObject([
      { citation_number: 1, document_id: "burrows.md" },
      { citation_number: 2, document_id: "food.md" },
    ]);
    const asked = llm.requests[0]!;
    expect(asked.body).toMatchObject({ model: "tiny", stream: true });
    expect(asked.headers.authorization).toBe(`Bearer ${key}`);
    expect(asked.body.messages.at(-1)!.content).toContain(
      "[1] Burrows (https://docs.example.com/burrows)\nWombats sleep in burrows.\n\n[2] Food\n",
    );
  });

  it.each(dialects)("%s: says the same without a stream", async (dialect) => {
    const { sandbox } = await startWith("In burrows [1].", { dialect });
    const reply = z.parse(ChatReply, await sandbox.whole("burrows"));
    expect(reply.answer).toBe("In burrows [[1]](https://docs.example.com/burrows).");
    expect(reply.answer_citationless).toBe("In burrows .");
    expect(reply.citation_info).toMatchObject([{ citation_number: 1, document_id: "burrows.md" }]);
    expect(reply.tool_calls).toMatchObject([{ tool_name: "internal_search" }]);
    expect(reply.error_msg).toBeNull();
  });

  it("leaves citations out, search out, and files in, as asked", async () => {
    const { sandbox, llm } = await startWith("Burrows [1].");
    expect((await sandbox.whole("burrows", { include_citations: false })).answer).toBe("Burrows .");
    const form = new FormData();
    form.append("files", new File(["Quokkas smile."], "q.txt", { type: "text/plain" }));
    const upload = await sandbox.send("POST", "/api/user/projects/file/upload", form);
    const { user_files } = upload.json() as { user_files: { id: string; file_id: string }[] };
    const { id, file_id } = user_files[0]!;
    const reply = await sandbox.whole("burrows", {
      allowed_tool_ids: [],
      additional_context: "From the pipe.",
      file_descriptors: [{ id: file_id, type: "plain_text", user_file_id: id }],
    });
    // No document was given to the model: the number is its own.
    expect([reply.answer, reply.tool_calls, reply.top_documents]).toEqual(["Burrows [1].", [], []]);
    expect(llm.requests.at(-1)!.body.messages.at(-1)!.content).toBe(
      "Attached file q.txt:\nQuokkas smile.\n\nAdditional context:\nFrom the pipe.\n\nQuestion: burrows",
    );
  });

  it("tells the model what a forced Action brought, and that there is no Deep Research", async () => {
    const { sandbox, llm } = await startWith("ok");
    const lines = await sandbox.ask("x", { forced_tool_id: 2, deep_research: true });
    expect(typesOf(lines)).toEqual(
      expect.arrayContaining(["custom_tool_delta", "reasoning_delta"]),
    );
    expect(llm.requests[0]!.body.messages.at(-1)!.content).toContain('"burrows.md"');
    const turns = lines.flatMap(({ placement }) => placement?.turn_index ?? []);
    expect(turns).toEqual(turns.toSorted((a, b) => a - b));
    expect(new Set(turns).size).toBe(Math.max(...turns) + 1);
  });

  it("gives the instructions first", async () => {
    const { sandbox, llm } = await startWith("ok", { instructions: "Be a pirate." });
    await sandbox.ask("x");
    expect(llm.requests[0]!.body.messages[0]).toEqual({ role: "system", content: "Be a pirate." });
  });

  it("keeps a late thought out of the answer", async () => {
    const chunks = [chunk({ content: "a" }), chunk({ reasoning: "wait" }), chunk({ content: "b" })];
    const { sandbox } = await startWith((response) =>
      begin(response).end(chunks.map(event).join("") + event("[DONE]")),
    );
    const lines = await sandbox.ask("x");
    expect(answerIn(lines)).toBe("ab");
    expect(typesOf(lines).filter((type) => type === "message_start")).toHaveLength(1);
    expect(typesOf(lines)).not.toContain("reasoning_delta");
  });
});

describe("the conversation", () => {
  it("goes to the model as the current branch has it", async () => {
    let count = 0;
    const { sandbox, llm } = await startWith(
      (response) => begin(response).end(answerOf(`answer ${(count += 1)} [1]`)),
      { dialect: "onyx" },
    );
    const first = await sandbox.whole("first wombats");
    const { chat_session_id } = first;
    const ask = (message: string, parent?: number | null) =>
      sandbox.whole(message, {
        chat_session_id,
        ...(parent === undefined ? {} : { parent_message_id: parent }),
      });
    const [system] = rolesOf(llm);
    expect(rolesOf(llm)).toEqual([system, "user: first wombats"]);
    await ask("second wombats");
    const before = ["user: first wombats", "assistant: answer 1"];
    expect(rolesOf(llm)).toEqual([system, ...before, "user: second wombats"]);
    await ask("second again wombats", first.message_id);
    expect(rolesOf(llm)).toEqual([system, ...before, "user: second again wombats"]);
    await ask("third wombats");
    const branch = [...before, "user: second again wombats", "assistant: answer 3"];
    expect(rolesOf(llm)).toEqual([system, ...branch, "user: third wombats"]);
    // From the question of the branch: it is answered anew, without what came after.
    const { messages } = (
      await sandbox.get(`/api/chat/get-chat-session/${chat_session_id}`)
    ).json() as {
      messages: { message: string; message_id: number }[];
    };
    const question = messages.find(({ message }) => message === "third wombats")!.message_id;
    await ask("ignored", question);
    expect(rolesOf(llm)).toEqual([system, ...branch, "user: third wombats"]);
    await ask("anew wombats", null);
    expect(rolesOf(llm)).toEqual([system, "user: anew wombats"]);
  });

  it("searches for a short question with the words of the one before", async () => {
    const { sandbox } = await startWith("ok [1]");
    const { chat_session_id } = await sandbox.whole("Where do wombats sleep?");
    const reply = await sandbox.whole("And why?", { chat_session_id });
    expect(reply.top_documents?.map(({ document_id }) => document_id)).toContain("burrows.md");
  });

  it("is kept over a restart", async () => {
    const { sandbox, llm } = await startWith("kept", { dialect: "onyx" });
    const { chat_session_id } = await sandbox.whole("one");
    await sandbox.close();
    const model = { url: completionsUrl(llm.url), key: undefined, model: "tiny", idleMs: 60_000 };
    const again = await start({ dialect: "onyx", dataFolder: sandbox.dataFolder, model });
    await again.whole("two", { chat_session_id });
    expect(rolesOf(llm).slice(1, 3)).toEqual(["user: one", "assistant: kept"]);
    expect((await storedOf(again, chat_session_id!)).messages.at(-1)).toMatchObject({
      message: "kept",
      model_display_name: "tiny",
    });
  });
});

describe("overrides", () => {
  it.each([
    ["standard", { temperature: 0.3, model_version: "big" }, "big", 0.3],
    ["standard", { model_provider: "llm", model_version: "big" }, "big", undefined],
    ["standard", { model_provider: "llm" }, "tiny", undefined],
    ["onyx", { model_provider: "llm", model_version: "big", temperature: 0 }, "big", 0],
    // Replaced without a word.
    ["onyx", { model_provider: "other", model_version: "big" }, "tiny", undefined],
    ["onyx", { model_version: "big" }, "tiny", undefined],
    ["onyx", { model_provider: "__proto__", model_version: "big" }, "tiny", undefined],
  ] as const)("%s: %j", async (dialect, llm_override, model, temperature) => {
    const { sandbox, llm } = await startWith("ok", { dialect });
    await sandbox.ask("x", { llm_override });
    expect([llm.requests[0]!.body.model, llm.requests[0]!.body.temperature]).toEqual([
      model,
      temperature,
    ]);
  });

  it("refuses an unknown provider in standard, and lists its own", async () => {
    const { sandbox, llm } = await startWith("ok");
    const body = { message: "x", llm_override: { model_provider: "other" } };
    expect((await sandbox.send("POST", "/api/chat/send-chat-message", body)).status).toBe(400);
    expect(llm.requests).toEqual([]);
    const { sandbox: onyx } = await startWith("ok", { dialect: "onyx" });
    expect((await onyx.get("/api/llm/provider")).json()["providers"]).toMatchObject([
      { name: "llm", model_configurations: [{ name: "tiny" }] },
    ]);
  });
});

describe("failures of the model's server", () => {
  it.each(dialects)("%s: end the stream with an error line, and nothing else", async (dialect) => {
    let fails = true;
    const { sandbox } = await startWith(
      (response) => {
        if (!fails) return begin(response).end(answerOf("back"));
        return begin(response).end(
          event(chunk({ content: "half [1" })) + event({ error: { code: 429 } }),
        );
      },
      { dialect },
    );
    const lines = await sandbox.ask("wombats");
    const last = z.parse(StreamFailure, lines.at(-1));
    expect(last).toMatchObject({
      error_code: "RATE_LIMIT",
      is_retryable: true,
      stack_trace: null,
      details: { model: "tiny", provider: "llm", model_index: 0 },
    });
    expect(answerIn(lines)).toBe("half ");
    expect(typesOf(lines)).not.toContain("stop");
    const { chat_session_id } = lines[0]!;
    const whole = await sandbox.whole("again", { chat_session_id });
    expect([whole.answer, whole.error_msg]).toEqual(["half ", last.error]);
    fails = false;
    expect((await sandbox.whole("once more", { chat_session_id })).answer).toBe("back");
    if (dialect === "standard") return;
    const { messages } = await storedOf(sandbox, chat_session_id!);
    expect(messages[2]).toMatchObject({ message: last.error, error: last.error });
  });

  it("tell of a key that is refused, and never the key", async () => {
    const logged: string[] = [];
    const { sandbox } = await startWith(
      (response) => {
        response.writeHead(401, { "content-type": "application/json" });
        response.end(JSON.stringify({ error: { message: `Incorrect API key provided: ${key}` } }));
      },
      { onLog: (line) => logged.push(line) },
    );
    const lines = await sandbox.ask("x");
    expect(lines.at(-1)).toMatchObject({ error_code: "AUTH_ERROR", is_retryable: false });
    await sandbox.close();
    const stored = readFileSync(join(sandbox.dataFolder, "sandbox.sqlite"), "latin1");
    for (const place of [
      JSON.stringify(lines),
      logged.join(),
      stored,
      JSON.stringify(sandbox.ledger),
    ]) {
      expect(place).not.toContain(key);
    }
  });
});

describe("a run of a model", () => {
  /** A server that says one word, then waits. */
  async function startHeld(options: Options = {}) {
    const said = gate();
    const more = gate();
    const left = gate();
    const { sandbox } = await startWith(
      async (response) => {
        response.once("close", left.open);
        begin(response).write(event(chunk({ content: "one " })), said.open);
        await more.opened;
        response.end(answerOf("two"));
      },
      { dialect: "onyx", ...options },
    );
    const created = await sandbox.send("POST", "/api/chat/create-chat-session", {});
    const { chat_session_id } = created.json() as { chat_session_id: string };
    return { sandbox, said, more, left, id: chat_session_id };
  }

  /** Reads the run beside its own reader until the word has come; `rest` reads on to the end. */
  async function wordArrived(url: string, id: string) {
    const headers = { authorization: "Bearer a-key-of-the-test" };
    const path = `${url}/api/chat/chat-session/${id}/resume-stream`;
    let response = await fetch(path, { headers });
    while (response.status === 404) response = await fetch(path, { headers });
    const reader = response.body!.getReader();
    let text = "";
    const readUntil = async (enough: () => boolean): Promise<string> => {
      while (!enough()) {
        const { done, value } = await reader.read();
        if (done) break;
        text += Buffer.from(value).toString();
      }
      return text;
    };
    await readUntil(() => text.includes("one "));
    return { rest: () => readUntil(() => false), leave: () => reader.cancel() };
  }

  it("goes on without its reader, can be read again, and is stored", async () => {
    const { sandbox, more, id } = await startHeld();
    const leave = new AbortController();
    const asked = fetch(`${sandbox.url}/api/chat/send-chat-message`, {
      method: "POST",
      signal: leave.signal,
      headers: { authorization: "Bearer a-key-of-the-test", "content-type": "application/json" },
      body: JSON.stringify({ message: "x", chat_session_id: id }),
    });
    await asked;
    leave.abort();
    const resumed = await wordArrived(sandbox.url, id);
    expect((await storedOf(sandbox, id)).current_run).toMatchObject({ run_id: expect.any(String) });
    more.open();
    const lines = linesOf(await resumed.rest());
    expect([answerIn(lines), lines.at(-1)?.obj?.type]).toEqual(["one two", "stop"]);
    await expect.poll(async () => (await storedOf(sandbox, id)).current_run).toBeNull();
    expect((await storedOf(sandbox, id)).messages.at(-1)!.message).toBe("one two");
  });

  it("is stopped at once, and the model's server let go", async () => {
    const { sandbox, left, id } = await startHeld();
    const lines = sandbox.ask("x", { chat_session_id: id });
    await (await wordArrived(sandbox.url, id)).leave();
    await sandbox.send("POST", `/api/chat/stop-chat-session/${id}`);
    expect((await lines).at(-1)).toMatchObject({
      placement: { model_index: null },
      obj: { type: "stop", stop_reason: "user_cancelled" },
    });
    await left.opened;
    expect((await storedOf(sandbox, id)).messages.at(-1)!.message).toMatch(
      /^one .*stopped by the user/s,
    );
  });

  it("is let go and stored when the sandbox ends", async () => {
    const { sandbox, left, id } = await startHeld();
    const lost = sandbox.ask("x", { chat_session_id: id }).catch(() => "cut");
    await (await wordArrived(sandbox.url, id)).leave();
    await sandbox.close();
    expect(await lost).toBe("cut");
    await left.opened;
    const again = await start({ dialect: "onyx", dataFolder: sandbox.dataFolder });
    expect((await storedOf(again, id)).messages.at(-1)).toMatchObject({
      message: "The sandbox shut down before the answer was complete",
      error: "The sandbox shut down before the answer was complete",
    });
  });

  it("shows that it lives while the model is silent", async () => {
    const { opened, open } = gate();
    const { sandbox } = await startWith(
      async (response) => {
        await opened;
        begin(response).end(answerOf("late"));
      },
      { heartbeatMs: 1 },
    );
    const response = await fetch(`${sandbox.url}/api/chat/send-chat-message`, {
      method: "POST",
      headers: { authorization: "Bearer a-key-of-the-test", "content-type": "application/json" },
      body: JSON.stringify({ message: "x" }),
    });
    let text = "";
    for await (const bytes of response.body!) {
      text += Buffer.from(bytes).toString();
      if (text.includes("chat_heartbeat")) open();
    }
    expect(answerIn(linesOf(text))).toBe("late");
  });
});
